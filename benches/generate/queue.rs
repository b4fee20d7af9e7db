//! What is going to happen, by the instant at which it is due.

use std::cmp::Ordering;
use std::sync::Arc;

use super::act::Claim;
use super::random::Random;

/// The ledger's length and its span of time.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub entries: u64,
    pub start: i64,
    pub end: i64,
}

impl Extent {
    /// An instant in the slot of an entry. Slots do not overlap, so instants never fall.
    pub fn slot(self, seq: u64, random: &mut Random) -> i64 {
        let (span, entries) = ((self.end - self.start) as u128, u128::from(self.entries.max(1)));
        let from = span * u128::from(seq - 1) / entries;
        let to = span * u128::from(seq) / entries;
        self.start + from as i64 + random.below((to - from) as u64) as i64
    }

    /// The instant at so many thousandths of the span.
    pub fn part(self, per_mille: i64) -> i64 {
        self.start + (self.end - self.start) / 1000 * per_mille
    }
}

/// What is going to happen.
pub enum Follow {
    Enroll(usize),
    Amend(usize),
    Withdraw(usize),
    Attest { fact: Seen, again: bool },
    Probe(Seen),
    Correct(Seen, Scope),
    Answer(Arc<Claim>),
    Resolve(Arc<Claim>),
    SetAside(Arc<Claim>),
}

/// An entry that others follow.
#[derive(Clone, Copy)]
pub struct Seen {
    pub seq: u64,
    pub at: i64,
    pub subject: usize,
    pub capability: Option<&'static str>,
    pub caller: usize,
    pub interaction: u64,
    pub started_at: i64,
    pub ended_at: i64,
    pub outcome: Option<&'static str>,
    pub spending: bool,
    pub engagement: Option<u64>,
}

/// What a correction may do to its target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Void,
    Move,
    /// Another subject as well: the fact checked no promise.
    MoveAnywhere,
}

pub struct Due {
    pub at: i64,
    pub order: u64,
    pub follow: Follow,
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}
