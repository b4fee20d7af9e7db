//! `identities.jsonl`: what the resolver knew, one line a handle (profile 1.6).

use std::collections::{HashMap, HashSet};

use super::lines::{self, Fault, Record};
use super::{KeyPeriod, Period, bound_at};

/// The system that gave a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSystem {
    /// Personal Agent Naming.
    Pan,
    /// The Agent Name Service.
    Ans,
}

impl NameSystem {
    /// `pan` or `ans`.
    pub fn as_str(self) -> &'static str {
        match self {
            NameSystem::Pan => "pan",
            NameSystem::Ans => "ans",
        }
    }
}

/// What an anchor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnchorKind {
    /// An email address.
    Email,
    /// A domain.
    Domain,
}

impl AnchorKind {
    /// `email` or `domain`.
    pub fn as_str(self) -> &'static str {
        match self {
            AnchorKind::Email => "email",
            AnchorKind::Domain => "domain",
        }
    }
}

/// One handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The handle or ANS name.
    pub handle: String,
    /// The system that gave it.
    pub name_system: NameSystem,
    /// The email or domain that owns it.
    pub anchor: String,
    /// Which of the two.
    pub anchor_kind: AnchorKind,
    /// Who runs it: the operator named, or else the anchor.
    pub operator: String,
    /// The account that a mandate may be held by: the one named, or else the anchor (2.10).
    pub owner_account: String,
    /// `[bound_at, unbound_at)`.
    pub bound: Period,
    /// Agent keys.
    pub keys: Vec<KeyPeriod>,
    /// Owner keys, for answers and acknowledgments alone.
    pub owner_keys: Vec<KeyPeriod>,
}

/// All handles, in code point order.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    sorted: Vec<Identity>,
    index: HashMap<String, usize>,
}

impl Identities {
    /// Reads the lines of a file, each with its number. All faults come together.
    pub fn read<'a>(file: &str, lines: impl Iterator<Item = (u64, &'a [u8])>) -> Result<Identities, Vec<Fault>> {
        let mut seen = HashSet::new();
        let mut sorted = lines::read(file, lines, |record| {
            let identity = identity(record)?;
            if !seen.insert(identity.handle.clone()) {
                record.repeated("handle", &identity.handle);
            }
            Some(identity)
        })?;
        sorted.sort_by(|a, b| a.handle.cmp(&b.handle));
        let index = sorted.iter().enumerate().map(|(i, identity)| (identity.handle.clone(), i)).collect();
        Ok(Identities { sorted, index })
    }

    /// The identity of a handle.
    pub fn get(&self, handle: &str) -> Option<&Identity> {
        self.sorted.get(self.position(handle)?)
    }

    /// The place of a handle in [`Identities::iter`].
    pub(super) fn position(&self, handle: &str) -> Option<usize> {
        self.index.get(handle).copied()
    }

    /// All of them, by handle.
    pub fn iter(&self) -> std::slice::Iter<'_, Identity> {
        self.sorted.iter()
    }

    /// The identity at a place.
    pub(super) fn at(&self, position: usize) -> Option<&Identity> {
        self.sorted.get(position)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Whether this agent key was bound to this handle at an instant: the handle bound, and the key within its own period.
    pub fn key_bound_at(&self, handle: &str, key: &str, at: i64) -> bool {
        self.get(handle).is_some_and(|identity| identity.bound.contains(at) && bound_at(&identity.keys, key, at))
    }

    /// The same for an owner key.
    pub fn owner_key_bound_at(&self, handle: &str, key: &str, at: i64) -> bool {
        self.get(handle).is_some_and(|identity| identity.bound.contains(at) && bound_at(&identity.owner_keys, key, at))
    }
}

fn identity(record: &mut Record<'_, '_>) -> Option<Identity> {
    let handle = record.text("handle");
    let name_system = record.text("name_system").and_then(|text| match text {
        "pan" => Some(NameSystem::Pan),
        "ans" => Some(NameSystem::Ans),
        _ => {
            record.fault("name_system", "is neither pan nor ans");
            None
        }
    });
    let anchor = record.lower("anchor");
    let anchor_kind = record.text("anchor_kind").and_then(|text| match text {
        "email" => Some(AnchorKind::Email),
        "domain" => Some(AnchorKind::Domain),
        _ => {
            record.fault("anchor_kind", "is neither email nor domain");
            None
        }
    });
    if let (Some(anchor), Some(kind)) = (anchor, anchor_kind) {
        let is_email = domain_of(anchor).is_some_and(|domain| !domain.is_empty() && anchor.len() > domain.len() + 1);
        if (kind == AnchorKind::Email) != is_email || (kind == AnchorKind::Domain && anchor.contains('@')) {
            record.fault("anchor", &format!("is no {}", kind.as_str()));
        }
    }
    let operator = record.maybe_lower("operator");
    let owner_account = record.maybe_lower("owner_account");
    let bound = record.period("bound_at", "unbound_at");
    let keys = record.keys("keys", false);
    let owner_keys = record.keys("owner_keys", true);
    let anchor = anchor?;
    Some(Identity {
        handle: handle?.to_owned(),
        name_system: name_system?,
        anchor: anchor.to_owned(),
        anchor_kind: anchor_kind?,
        operator: operator?.unwrap_or(anchor).to_owned(),
        owner_account: owner_account?.unwrap_or(anchor).to_owned(),
        bound: bound?,
        keys: keys?,
        owner_keys: owner_keys?,
    })
}

/// The domain of an email address.
pub(super) fn domain_of(email: &str) -> Option<&str> {
    email.rsplit_once('@').map(|(_, domain)| domain)
}
