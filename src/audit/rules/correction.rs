//! correct.target: what a correction may name.

use crate::audit::finding::Message;

/// The kinds that a correction may correct (1.5).
const CORRECTABLE: [&str; 6] = ["fact", "attested", "probed", "stopped", "nda_claimed", "excluded"];

/// correct.target: an earlier entry, of a kind that it may correct. `target_action` is none where there is no such entry at T.
pub fn target(seq: i64, target_seq: i64, target_action: Option<&str>) -> Option<Message> {
    match target_action {
        Some(_) if target_seq >= seq => Some("the target is not an earlier entry".into()),
        None => Some("the target is not an earlier entry".into()),
        Some(action) if !CORRECTABLE.contains(&action) => {
            Some("the target is of a kind that no correction may name".into())
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_names_an_earlier_entry_of_its_kinds() {
        for action in CORRECTABLE {
            assert_eq!(target(9, 8, Some(action)), None);
            assert!(target(9, 9, Some(action)).is_some());
            assert!(target(9, 10, Some(action)).is_some());
        }
        for action in ["enrolled", "amended", "withdrew", "nda_answered", "nda_resolved", "corrected", "noted", ""] {
            assert!(target(9, 8, Some(action)).is_some(), "{action}");
        }
        assert!(target(9, 8, None).is_some());
    }
}
