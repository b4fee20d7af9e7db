//! Enrollment as it stood at an entry (profile 2.4), for attest.unenrolled.

/// An act that opens or closes an enrollment. The acts of a subject alternate, and the first one enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Act {
    /// The entry.
    pub seq: i64,
    /// The signed instant, at which it applies.
    pub statement_at: i64,
}

/// Whether work begun at `started_at` lies in an enrollment, of those that stood before the entry `seq`, whose withdrawal had not
/// taken effect at `at`. Enrolling again before a withdrawal takes effect cancels that. `takes_effect_at` adds the cooling-off: at
/// that instant the withdrawal is in effect.
pub fn admits(acts: &[Act], seq: i64, started_at: i64, at: i64, takes_effect_at: impl Fn(i64) -> i64) -> bool {
    let stood = acts.get(..acts.partition_point(|act| act.seq < seq)).unwrap_or_default();
    let mut spells = stood.chunks(2).peekable();
    while let Some(spell) = spells.next() {
        let admitted = match spell {
            [entered] => entered.statement_at <= started_at,
            [entered, left, ..] => {
                let effect = takes_effect_at(left.statement_at);
                let again = spells.peek().and_then(|next| next.first());
                let cancelled = again.is_some_and(|again| again.statement_at < effect);
                entered.statement_at <= started_at && started_at < left.statement_at && (cancelled || at < effect)
            }
            [] => false,
        };
        if admitted {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const COOLING: i64 = 30;

    fn admits_at(acts: &[(i64, i64)], seq: i64, started_at: i64, at: i64) -> bool {
        let acts: Vec<Act> = acts.iter().map(|&(seq, statement_at)| Act { seq, statement_at }).collect();
        admits(&acts, seq, started_at, at, |left| left + COOLING)
    }

    #[test]
    fn work_begins_inside_and_the_entry_lands_before_the_effect() {
        let acts = [(1, 100), (5, 200)];
        assert!(!admits_at(&acts, 9, 99, 110));
        assert!(admits_at(&acts, 9, 100, 110));
        assert!(admits_at(&acts, 9, 199, 229));
        assert!(!admits_at(&acts, 9, 199, 230), "the withdrawal is in effect");
        assert!(!admits_at(&acts, 9, 200, 201), "begun after the withdrawal");
        assert!(!admits_at(&[], 9, 200, 201));
    }

    #[test]
    fn acts_of_later_entries_are_not_there_yet() {
        assert!(!admits_at(&[(9, 100)], 9, 150, 151));
        assert!(admits_at(&[(1, 100), (9, 120)], 9, 150, 151));
        assert!(!admits_at(&[(1, 100), (8, 120)], 9, 150, 151));
    }

    #[test]
    fn enrolling_again_in_time_cancels_the_effect_and_leaves_the_gap() {
        let again = [(1, 100), (5, 200), (6, 229)];
        assert!(admits_at(&again, 9, 150, 400));
        assert!(!admits_at(&again, 9, 210, 400), "begun in the gap");
        assert!(admits_at(&again, 9, 230, 400));
        assert!(!admits_at(&again, 6, 150, 400), "not enrolled again yet");
        let late = [(1, 100), (5, 200), (6, 230)];
        assert!(!admits_at(&late, 9, 150, 400), "the withdrawal had taken effect");
        let twice = [(1, 100), (5, 200), (6, 210), (7, 220)];
        assert!(admits_at(&twice, 9, 150, 400), "the later withdrawal ends the later enrollment alone");
        assert!(!admits_at(&twice, 9, 215, 250));
    }
}
