//! The rate ceiling: attestations of one evaluator about one subject, counted in a window that slides (profile 1.7; spec 6.4).

use crate::policy::Spans;

/// The instants of one evaluator's attestations about one subject so far, for rows that come by evaluator, subject and seq.
#[derive(Debug)]
pub struct Ceiling {
    limit: u64,
    spans: Spans,
    evaluator: String,
    subject: String,
    /// Rising. A clock that falls makes an insertion in the middle.
    earlier: Vec<i64>,
}

impl Ceiling {
    /// A ceiling of the policy's `rate_ceiling` in its `rate_window_days`.
    pub fn new(limit: u64, spans: Spans) -> Ceiling {
        Ceiling { limit, spans, evaluator: String::new(), subject: String::new(), earlier: Vec::new() }
    }

    /// Whether this attestation passes the ceiling: more than the limit, itself included, lie in `(at − window, at]` and come no
    /// later in the ledger. One that does not `count`, being in error, is judged by the others: nothing counts it.
    pub fn passed(&mut self, evaluator: &str, subject: &str, at: i64, counts: bool) -> bool {
        if self.evaluator != evaluator || self.subject != subject {
            evaluator.clone_into(&mut self.evaluator);
            subject.clone_into(&mut self.subject);
            self.earlier.clear();
        }
        let until = self.earlier.partition_point(|x| *x <= at);
        let from = self.earlier.partition_point(|x| *x <= at && !self.spans.in_rate_window(*x, at));
        let count = until.saturating_sub(from) as u64 + u64::from(counts);
        if counts {
            self.earlier.insert(until, at);
        }
        count > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instant::DAY_MS;
    use crate::policy::{Decimal, Policy};

    fn ceiling(limit: u64, days: u64) -> Ceiling {
        let mut policy = Policy::with_defaults("https://bureau.example");
        policy.rate_window_days = Decimal::whole(days);
        Ceiling::new(limit, policy.spans())
    }

    #[test]
    fn the_window_is_open_at_its_start_and_closed_at_its_end() {
        let mut ceiling = ceiling(2, 10);
        let day = |d: i64| d * DAY_MS;
        assert!(!ceiling.passed("e", "s", day(0), true));
        assert!(!ceiling.passed("e", "s", day(5), true));
        assert!(ceiling.passed("e", "s", day(10) - 1, true), "days 0 and 5 and itself");
        assert!(!ceiling.passed("e", "s", day(15), true), "day 5 has just left");
        assert!(ceiling.passed("e", "s", day(15), true), "of one instant too");
    }

    #[test]
    fn pairs_are_apart_and_what_does_not_count_is_judged_all_the_same() {
        let mut ceiling = ceiling(1, 10);
        assert!(!ceiling.passed("e", "s", 1, true));
        assert!(!ceiling.passed("e", "t", 2, true));
        assert!(!ceiling.passed("f", "t", 3, false));
        assert!(!ceiling.passed("f", "t", 4, true));
        assert!(!ceiling.passed("f", "t", 5, false), "itself does not count");
        assert!(ceiling.passed("f", "t", 6, true));
    }

    #[test]
    fn a_falling_clock_counts_what_lies_in_the_window_and_came_before() {
        let mut ceiling = ceiling(1, 10);
        assert!(!ceiling.passed("e", "s", 100 * DAY_MS, true));
        assert!(!ceiling.passed("e", "s", 50 * DAY_MS, true), "the earlier entry lies after it");
        assert!(ceiling.passed("e", "s", 51 * DAY_MS, true));
        assert!(ceiling.passed("e", "s", 101 * DAY_MS, true));
    }

    #[test]
    fn it_counts_what_a_plain_count_counts() {
        let mut seed = 7_u64;
        let mut next = move |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..50 {
            let mut ceiling = ceiling(3, 2);
            let mut plain: Vec<(i64, bool)> = Vec::new();
            for _ in 0..60 {
                let (at, counts) = (next(20) as i64 * (DAY_MS / 2), next(4) > 0);
                let inside = |x: i64| x > at - 2 * DAY_MS && x <= at;
                let count = usize::from(counts) + plain.iter().filter(|(x, counts)| *counts && inside(*x)).count();
                plain.push((at, counts));
                assert_eq!(ceiling.passed("e", "s", at, counts), count > 3);
            }
        }
    }
}
