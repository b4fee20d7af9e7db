//! Whether two sides of an entry are too close for one to vouch for the other (§6.4, profile 1.7), or to claim against it (§4.8 check 5):
//! they share an anchor, a party, or an organization at the entry's `at`.
//!
//! *At the entry's `at`* holds for all three: parties are those of the lines bound at or before it, memberships those in force then. So a
//! verdict about an entry never changes because a handle was bound later.
//!
//! A fact names its caller by an anchor's hash alone. The hash stands for the anchor (or operator) that some identity has; the caller is then
//! of that anchor's party, and of every organization that a bound handle of that anchor is a member of. A hash that no identity explains
//! is related to nobody.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::organizations::Rules;
use super::{AnchorHashes, Charters, Identities, Identity, Parties};

/// What two sides share, the closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// One anchor.
    Anchor,
    /// One party.
    Party,
    /// Membership of one organization.
    Organization,
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ground::Anchor => "one anchor",
            Ground::Party => "one party",
            Ground::Organization => "one organization",
        })
    }
}

/// Answers for every pair and instant.
#[derive(Debug, Clone)]
pub struct Relations<'a> {
    identities: &'a Identities,
    as_of: i64,
    parties: Parties,
    rules: Rules<'a>,
    /// In the order of the identities.
    hashes: Vec<String>,
    /// The anchor or operator of a hash.
    named: HashMap<String, &'a str>,
    /// The places of an anchor's handles.
    handles: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Relations<'a> {
    /// Indexes the identities and charters of an export. Parties are those at `as_of`, the run's *T* (1.6); memberships those of the
    /// instant asked about (2.9).
    pub fn new(
        identities: &'a Identities,
        charters: &'a Charters,
        anchor_hashes: &AnchorHashes,
        as_of: i64,
    ) -> Relations<'a> {
        let mut hash_of: HashMap<&str, String> = HashMap::new();
        let mut handles: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut hashes = Vec::with_capacity(identities.len());
        for (place, identity) in identities.iter().enumerate() {
            for name in [identity.anchor.as_str(), identity.operator.as_str()] {
                hash_of.entry(name).or_insert_with(|| anchor_hashes.hash(name).to_owned());
            }
            hashes.push(hash_of.get(identity.anchor.as_str()).cloned().unwrap_or_default());
            handles.entry(identity.anchor.as_str()).or_default().push(place);
        }
        let named = hash_of.into_iter().map(|(name, hash)| (hash, name)).collect();
        Relations {
            identities,
            as_of,
            parties: Parties::new(identities),
            rules: Rules::new(charters),
            hashes,
            named,
            handles,
        }
    }

    /// The hash of a handle's anchor.
    pub fn anchor_hash_of(&self, handle: &str) -> Option<&str> {
        self.hashes.get(self.identities.position(handle)?).map(String::as_str)
    }

    /// The anchor or operator that an identity has with this hash.
    pub fn anchor_of_hash(&self, hash: &str) -> Option<&'a str> {
        self.named.get(hash).copied()
    }

    /// The organizations that a handle is a member of at an instant, by anchor.
    pub fn organizations_of(&self, handle: &str, at: i64) -> Vec<&'a str> {
        let identity = self.identities.get(handle);
        identity.map(|identity| self.rules.memberships(identity, at).into_keys().collect()).unwrap_or_default()
    }

    /// The parties behind the answers.
    pub fn parties(&self) -> &Parties {
        &self.parties
    }

    /// What two handles share at an instant: an evaluator and a subject, a claimant and a respondent. An unknown handle shares with itself alone.
    pub fn handles_related_at(&self, a: &str, b: &str, at: i64) -> Option<Ground> {
        if a == b {
            return Some(Ground::Anchor);
        }
        let (a, b) = (self.identities.get(a)?, self.identities.get(b)?);
        if let Some(ground) = self.close(&a.anchor, b) {
            return Some(ground);
        }
        self.share_an_organization(a, b, at).then_some(Ground::Organization)
    }

    /// What the caller of a fact, known by its anchor's hash, shares with the subject at an instant.
    pub fn hash_related_at(&self, caller_anchor_hash: &str, subject: &str, at: i64) -> Option<Ground> {
        let subject = self.identities.get(subject)?;
        let anchor = self.anchor_of_hash(caller_anchor_hash)?;
        if let Some(ground) = self.close(anchor, subject) {
            return Some(ground);
        }
        let handles = self.handles.get(anchor).map(Vec::as_slice).unwrap_or_default();
        let mut callers = handles.iter().filter_map(|place| self.identities.at(*place));
        callers.any(|caller| self.share_an_organization(caller, subject, at)).then_some(Ground::Organization)
    }

    fn close(&self, anchor: &str, subject: &Identity) -> Option<Ground> {
        if anchor == subject.anchor {
            return Some(Ground::Anchor);
        }
        self.parties.same_party_at(anchor, &subject.anchor, self.as_of).then_some(Ground::Party)
    }

    fn share_an_organization(&self, a: &'a Identity, b: &'a Identity, at: i64) -> bool {
        let of_a: BTreeSet<&str> = self.rules.memberships(a, at).into_keys().collect();
        self.rules.memberships(b, at).into_keys().any(|organization| of_a.contains(organization))
    }
}
