//! stop.forbidden: what spec 4.6 asks of every stop.

use crate::audit::finding::Message;

/// The five classes of the sender record (spec 4.6).
const CLASSES: [&str; 5] = ["screening", "scope", "volume", "qualification", "mandate"];

/// stop.forbidden: one of the five classes, a ground that says something, and a resolution for screening.
pub fn forbidden(class: Option<&str>, ground: Option<&str>, resolution: Option<&str>) -> Option<Message> {
    match class {
        None => return Some("the stop names no class".into()),
        Some(class) if !CLASSES.contains(&class) => {
            return Some("the stop is of no class of the five".into());
        }
        Some(_) => {}
    }
    if ground.is_none_or(|ground| ground.trim().is_empty()) {
        return Some("the stop names no ground".into());
    }
    if class == Some("screening") && resolution.is_none() {
        return Some("a screening stop carries a resolution".into());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_has_a_class_a_ground_and_for_screening_a_resolution() {
        assert_eq!(forbidden(Some("scope"), Some("not offered"), None), None);
        assert_eq!(forbidden(Some("screening"), Some("asks for secrets"), Some("open")), None);
        assert!(forbidden(Some("screening"), Some("asks for secrets"), None).is_some());
        assert!(forbidden(Some("door"), Some("closed"), None).is_some());
        assert!(forbidden(None, Some("closed"), None).is_some());
        for ground in [None, Some(""), Some(" \t\u{a0}\u{2003}\n")] {
            assert!(forbidden(Some("volume"), ground, None).is_some());
        }
    }
}
