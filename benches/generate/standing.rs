//! What the bureau remembers of the entries so far: enrollments, and how often an evaluator attested about a subject.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::act::Declaration;
use super::random::mix;
use super::time::DAY;

/// The default policy's values that a clean ledger keeps to.
pub const COOLING_OFF: i64 = 30 * DAY;
pub const RATE_CEILING: u32 = 30;
pub const RATE_WINDOW: i64 = 30 * DAY;
pub const ATTESTATION_WINDOW: i64 = 30 * DAY;

/// Where a subject stands.
#[derive(Debug, Default, Clone)]
pub struct Standing {
    /// Since when it is enrolled.
    pub enrolled: Option<i64>,
    /// Its last enrollment that ended.
    pub ended: Option<(i64, i64)>,
    /// The instant of its last statement.
    pub last: i64,
    /// Its last declaration.
    pub declaration: Option<Arc<Declaration>>,
}

impl Standing {
    /// Whether work begun at `started_at` may be judged in an entry of `at`. It turns down a little more than the profile does: what lies
    /// before an enrollment that was followed by another.
    pub fn admits(&self, started_at: i64, at: i64) -> bool {
        match (self.enrolled, self.ended) {
            (Some(from), _) => from <= started_at,
            (None, Some((from, to))) => from <= started_at && started_at < to && at < to + COOLING_OFF,
            (None, None) => false,
        }
    }

    /// Whether it has withdrawn and not come back.
    pub fn has_left(&self) -> bool {
        self.enrolled.is_none() && self.ended.is_some()
    }

    /// Takes a statement made before `at`, and after the last one.
    pub fn state(&mut self, earliest: i64, at: i64) -> i64 {
        self.last = earliest.max(self.last + 1).min(at);
        self.last
    }
}

/// An evaluator and a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pair(u64);

impl Pair {
    pub fn new(evaluator: usize, subject: usize) -> Pair {
        Pair((evaluator as u64) << 32 | subject as u64)
    }

    /// One pair in eight may pass the ceiling. Nothing of such a pair is ever corrected, so that its count stays what it was.
    pub fn may_pass(self) -> bool {
        mix(self.0).is_multiple_of(8)
    }
}

/// The attestations of the rate window, in order.
#[derive(Debug, Default)]
pub struct Ceiling {
    recent: VecDeque<(i64, Pair)>,
    counts: HashMap<Pair, u32>,
}

impl Ceiling {
    /// Whether one more at this instant passes the ceiling. Instants never fall.
    pub fn is_reached(&mut self, pair: Pair, at: i64) -> bool {
        while let Some(&(earlier, gone)) = self.recent.front()
            && earlier <= at - RATE_WINDOW
        {
            self.recent.pop_front();
            if let Some(count) = self.counts.get_mut(&gone) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(&gone);
                }
            }
        }
        self.counts.get(&pair).is_some_and(|count| *count >= RATE_CEILING)
    }

    /// Counts one.
    pub fn count(&mut self, pair: Pair, at: i64) {
        self.recent.push_back((at, pair));
        *self.counts.entry(pair).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_slides() {
        let (mut ceiling, pair) = (Ceiling::default(), Pair::new(1, 2));
        for place in 0..i64::from(RATE_CEILING) {
            assert!(!ceiling.is_reached(pair, place));
            ceiling.count(pair, place);
        }
        assert!(ceiling.is_reached(pair, RATE_WINDOW - 1));
        assert!(!ceiling.is_reached(Pair::new(2, 1), RATE_WINDOW - 1));
        assert!(!ceiling.is_reached(pair, RATE_WINDOW), "the first has left");
        assert_eq!(ceiling.counts[&pair], RATE_CEILING - 1);
    }

    #[test]
    fn work_is_judged_inside_an_enrollment_until_a_withdrawal_takes_effect() {
        let mut standing = Standing { enrolled: Some(10), ..Standing::default() };
        assert!(!standing.admits(9, 100) && standing.admits(10, 100) && !standing.has_left());
        standing = Standing { enrolled: None, ended: Some((10, 20)), ..standing };
        assert!(standing.admits(19, 20 + COOLING_OFF - 1) && standing.has_left());
        assert!(!standing.admits(20, 25) && !standing.admits(19, 20 + COOLING_OFF));
        assert_eq!((standing.state(5, 50), standing.state(5, 50), standing.state(80, 50)), (5, 6, 50));
    }
}
