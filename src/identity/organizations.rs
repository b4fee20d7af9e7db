//! Organizations (specification §8.5; profile 2.9, 2.10): who is a member at an instant, on what basis, and who left in the window.
//!
//! What 2.9 leaves open is decided here. A mandate's member dates from the earliest `from` among the mandates in force. Someone leaves with
//! the earlier of the handle's unbinding and the mandate's end, and only someone who was a member the millisecond before leaves: a
//! handle at a domain whose proof had lapsed by then was none. Of several leavings of one subject the latest counts, and as
//! `anchor` where two fall together.

use std::collections::{BTreeMap, HashMap};

use super::identities::domain_of;
use super::{AnchorKind, Charter, Charters, Identities, Identity, Mandate};

/// Why a subject is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// By its anchor.
    Anchor,
    /// By a mandate from the domain's charter.
    Mandate,
}

impl Basis {
    /// `anchor` or `mandate`.
    pub fn as_str(self) -> &'static str {
        match self {
            Basis::Anchor => "anchor",
            Basis::Mandate => "mandate",
        }
    }
}

/// Whether a charter's domain proof covers the run's instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainProof {
    /// It does.
    Current,
    /// It does not.
    Lapsed,
}

impl DomainProof {
    /// `current` or `lapsed`.
    pub fn as_str(self) -> &'static str {
        match self {
            DomainProof::Current => "current",
            DomainProof::Lapsed => "lapsed",
        }
    }
}

/// An anchor of some identity, or a charter's domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    /// The anchor.
    pub anchor: String,
    /// What it is.
    pub kind: AnchorKind,
    /// Its charter, where it has one.
    pub charter: Option<(String, DomainProof)>,
}

/// A member at the run's instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The organization's anchor.
    pub organization: String,
    /// What that is.
    pub kind: AnchorKind,
    /// Why.
    pub basis: Basis,
    /// The member's handle.
    pub subject: String,
    /// `bound_at`, or the mandate's `from`.
    pub member_since: i64,
}

/// One that left in the window and is no member now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerMembership {
    /// The organization's anchor.
    pub organization: String,
    /// The handle.
    pub subject: String,
    /// Why it was a member.
    pub basis: Basis,
    /// When it left.
    pub left_at: i64,
}

/// Everything of 2.9 that no ledger entry changes, each list in key order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Organizations {
    /// By anchor.
    pub organizations: Vec<Organization>,
    /// By organization and subject.
    pub members: Vec<Membership>,
    /// By organization and subject.
    pub former: Vec<FormerMembership>,
}

impl Organizations {
    /// The organizations and their members at `as_of`, and those that left in `(window_from, as_of]`.
    pub fn at(identities: &Identities, charters: &Charters, as_of: i64, window_from: i64) -> Organizations {
        let rules = Rules::new(charters);
        let mut kinds: BTreeMap<&str, AnchorKind> =
            identities.iter().map(|i| (i.anchor.as_str(), i.anchor_kind)).collect();
        kinds.extend(charters.iter().map(|charter| (charter.domain.as_str(), AnchorKind::Domain)));
        let mut members = BTreeMap::new();
        let mut former = BTreeMap::new();
        for identity in identities.iter() {
            let subject = identity.handle.as_str();
            for (organization, (basis, since)) in rules.memberships(identity, as_of) {
                members.insert((organization, subject), (basis, since));
            }
            for (organization, basis, left_at) in rules.leavings(identity, as_of) {
                let better = (left_at, std::cmp::Reverse(basis));
                if left_at > window_from && former.get(&(organization, subject)).is_none_or(|best| *best < better) {
                    former.insert((organization, subject), better);
                }
            }
        }
        let charter = |anchor: &str| {
            let proof = |c: &Charter| {
                if c.proven_at(as_of) { DomainProof::Current } else { DomainProof::Lapsed }
            };
            charters.of_domain(anchor).map(|c| (c.id.clone(), proof(c)))
        };
        former.retain(|key, _| !members.contains_key(key));
        Organizations {
            organizations: kinds
                .iter()
                .map(|(anchor, kind)| Organization {
                    anchor: (*anchor).to_owned(),
                    kind: *kind,
                    charter: charter(anchor),
                })
                .collect(),
            former: former
                .into_iter()
                .map(|((organization, subject), (left_at, basis))| FormerMembership {
                    organization: organization.to_owned(),
                    subject: subject.to_owned(),
                    basis: basis.0,
                    left_at,
                })
                .collect(),
            members: members
                .into_iter()
                .map(|((organization, subject), (basis, member_since))| Membership {
                    kind: kinds.get(organization).copied().unwrap_or(AnchorKind::Domain),
                    organization: organization.to_owned(),
                    basis,
                    subject: subject.to_owned(),
                    member_since,
                })
                .collect(),
        }
    }
}

/// The membership rules, with the charters indexed by what a handle is looked up by.
#[derive(Debug, Clone)]
pub(super) struct Rules<'a> {
    charters: &'a Charters,
    mandates: HashMap<&'a str, Vec<(&'a Charter, &'a Mandate)>>,
}

impl<'a> Rules<'a> {
    pub(super) fn new(charters: &'a Charters) -> Rules<'a> {
        let mut mandates: HashMap<&str, Vec<_>> = HashMap::new();
        for charter in charters.iter() {
            for mandate in &charter.mandates {
                mandates.entry(mandate.account.as_str()).or_default().push((charter, mandate));
            }
        }
        Rules { charters, mandates }
    }

    /// The organizations that a handle is a member of at an instant, each once.
    pub(super) fn memberships(&self, identity: &'a Identity, at: i64) -> BTreeMap<&'a str, (Basis, i64)> {
        let mut found = BTreeMap::new();
        if !identity.bound.contains(at) {
            return found;
        }
        found.insert(identity.anchor.as_str(), (Basis::Anchor, identity.bound.from));
        if let Some(charter) = self.charter_of_email(identity).filter(|charter| charter.proven_at(at)) {
            found.insert(&charter.domain, (Basis::Anchor, identity.bound.from));
        }
        for (charter, mandate) in self.mandates_of(identity).filter(|(_, mandate)| mandate.period.contains(at)) {
            let entry = found.entry(charter.domain.as_str()).or_insert((Basis::Mandate, mandate.period.from));
            if entry.0 == Basis::Mandate {
                entry.1 = entry.1.min(mandate.period.from);
            }
        }
        found
    }

    /// When a handle left an organization by `as_of`, on whichever basis.
    fn leavings(&self, identity: &'a Identity, as_of: i64) -> Vec<(&'a str, Basis, i64)> {
        let mut found = Vec::new();
        let bound = identity.bound;
        if let Some(end) = bound.to.filter(|end| bound.from < *end) {
            found.push((identity.anchor.as_str(), Basis::Anchor, end));
            if let Some(charter) = self.charter_of_email(identity).filter(|charter| charter.proven_at(end - 1)) {
                found.push((charter.domain.as_str(), Basis::Anchor, end));
            }
        }
        for (charter, mandate) in self.mandates_of(identity) {
            let end = [mandate.period.to, bound.to].into_iter().flatten().min();
            if let Some(end) = end.filter(|end| bound.from.max(mandate.period.from) < *end) {
                found.push((charter.domain.as_str(), Basis::Mandate, end));
            }
        }
        found.retain(|(_, _, end)| *end <= as_of);
        found
    }

    /// The charter of the domain that an email anchor is at.
    fn charter_of_email(&self, identity: &Identity) -> Option<&'a Charter> {
        if identity.anchor_kind != AnchorKind::Email {
            return None;
        }
        self.charters.of_domain(domain_of(&identity.anchor)?)
    }

    fn mandates_of(&self, identity: &Identity) -> impl Iterator<Item = (&'a Charter, &'a Mandate)> + '_ {
        self.mandates.get(identity.owner_account.as_str()).into_iter().flatten().copied()
    }
}
