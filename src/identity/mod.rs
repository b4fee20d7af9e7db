//! Who is who, and when: handles and their keys, charters and mandates, reporters, parties and organizations (profile 1.3, 1.6, 2.9, 2.10).
//!
//! | file | what it knows |
//! | --- | --- |
//! | `salt` | the bureau's secret, and an anchor's published hash |
//! | `lines` | one line of an input file, member by member, with all its faults |
//! | `identities`, `charters`, `reporters` | the three files, parsed whole or not at all |
//! | `parties` | which anchors count as one, at any instant |
//! | `organizations` | who is and was a member of what, at any instant |
//! | `relations` | whether two sides of an entry are too close to vouch for each other (self-dealing, 1.7) |
//! | `changes` | whose relations differ from one night to the next |
//! | `tables` | the same for SQL |
//!
//! What has `from` and `to` is half-open, `[from, to)`; a period with both ends equal never holds, one that ends before it begins is
//! refused. A handle, a charter id, a charter's domain and a reporter stand on one line each; a repeat is a fault. Members that the
//! profile does not list are allowed.

mod changes;
mod charters;
mod identities;
mod lines;
mod organizations;
mod parties;
mod relations;
mod reporters;
mod salt;
pub mod tables;

pub use changes::{Changes, View, changes};
pub use charters::{Charter, Charters, Mandate};
pub use identities::{AnchorKind, Identities, Identity, NameSystem};
pub use lines::{FAULT_LIMIT, Fault};
pub use organizations::{Basis, DomainProof, FormerMembership, Membership, Organization, Organizations};
pub use parties::Parties;
pub use relations::{Ground, Relations};
pub use reporters::{Reporter, Reporters};
pub use salt::{AnchorHashes, Salt, SaltFault, anchor_hash};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A half-open period `[from, to)` in milliseconds since 1970 UTC; without `to` it has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first instant inside.
    pub from: i64,
    /// The first instant behind it.
    pub to: Option<i64>,
}

impl Period {
    /// Whether an instant lies inside.
    pub fn contains(&self, instant: i64) -> bool {
        self.from <= instant && self.to.is_none_or(|to| instant < to)
    }
}

/// A public key and when it was bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPeriod {
    /// Standard base64 with padding, as the file has it.
    pub key: String,
    /// When it was bound.
    pub period: Period,
}

/// Whether one of these keys is `key`, and was bound at that instant. What is no base64 of 32 bytes is bound to nobody (1.7).
fn bound_at(keys: &[KeyPeriod], key: &str, at: i64) -> bool {
    // Strict base64 has one spelling for each 32 bytes, so equal keys are equal texts.
    keys.iter().any(|bound| bound.key == key && bound.period.contains(at))
        && STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 32)
}

#[cfg(test)]
mod tests;
