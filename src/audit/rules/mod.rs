//! The rules of profile 1.7, each a function of one row: what is wrong with it, in words, or nothing. None of them reads the
//! ledger, keeps state beyond its arguments, or knows another rule.

pub mod attest;
pub mod ceiling;
pub mod claim;
pub mod code;
pub mod correction;
pub mod enrollment;
pub mod exclusion;
pub mod fact;
pub mod stop;

use crate::instant::DAY_MS;

use super::finding::Message;

/// chain.clock: `at` is not before that of the entry before. An instant that cannot be read is not compared.
pub fn clock(at: Option<i64>, before_at: Option<i64>) -> Option<Message> {
    (at? < before_at?).then_some("at is before that of the entry before".into())
}

/// entry.action: the action is one of spec 4.1.
pub fn action(action: &str) -> Option<Message> {
    /// What is shown of an action that nobody knows, in characters.
    const SHOWN: usize = 40;
    const KNOWN: [&str; 12] = [
        "enrolled",
        "amended",
        "withdrew",
        "fact",
        "attested",
        "probed",
        "stopped",
        "nda_claimed",
        "nda_answered",
        "nda_resolved",
        "excluded",
        "corrected",
    ];
    if KNOWN.contains(&action) {
        return None;
    }
    let shown: String = action.chars().take(SHOWN).collect();
    Some(format!("unknown action {shown:?}").into())
}

/// sig.date: a statement is not after its entry, and at most 24 hours before it, so that nobody signs into the past.
pub fn date(statement_at: i64, at: i64) -> Option<Message> {
    if statement_at > at {
        Some("statement_at is after the entry".into())
    } else if statement_at < at.saturating_sub(DAY_MS) {
        Some("statement_at is more than 24 hours before the entry".into())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_may_stand_but_not_fall() {
        assert_eq!(clock(Some(5), Some(5)), None);
        assert!(clock(Some(4), Some(5)).is_some());
        assert_eq!(clock(Some(4), None), None);
        assert_eq!(clock(None, Some(5)), None);
    }

    #[test]
    fn an_action_is_known_by_its_exact_name() {
        assert_eq!(action("fact"), None);
        assert_eq!(action("Fact").as_deref(), Some("unknown action \"Fact\""));
        assert!(action(&"x".repeat(10_000)).is_some_and(|message| message.len() < 100));
    }

    #[test]
    fn a_statement_is_of_the_day_before_its_entry() {
        let at = 10 * DAY_MS;
        assert_eq!(date(at, at), None);
        assert_eq!(date(at - DAY_MS, at), None);
        assert!(date(at - DAY_MS - 1, at).is_some());
        assert!(date(at + 1, at).is_some());
    }
}
