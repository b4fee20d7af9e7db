//! fact.*: facts and probes by themselves.

use crate::audit::finding::Message;

/// fact.times, a fact: `started_at` ≤ `ended_at` ≤ the entry's `at`.
pub fn times(started_at: i64, ended_at: i64, at: i64) -> Option<Message> {
    if started_at > ended_at {
        return Some("started_at is after ended_at".into());
    }
    ended(ended_at, at)
}

/// fact.times, a probe: `ended_at` ≤ the entry's `at`.
pub fn ended(ended_at: i64, at: i64) -> Option<Message> {
    (ended_at > at).then_some("ended_at is after the entry".into())
}

/// fact.sender: a named sender's anchor has the caller's hash. `sender_hash` is that of its anchor, none where nobody knows the
/// handle.
pub fn sender(sender: Option<&str>, sender_hash: Option<&str>, caller_anchor_hash: &str) -> Option<Message> {
    sender?;
    match sender_hash {
        None => Some("nobody knows the sender".into()),
        Some(hash) if hash != caller_anchor_hash => Some("the sender's anchor is not the caller's".into()),
        Some(_) => None,
    }
}

/// fact.promise: each check names a mesh-verifiable promise of the subject's last declaration before the fact; `stray` do not.
pub fn promise(stray: i64) -> Option<Message> {
    (stray > 0)
        .then(|| format!("{stray} promise checks name no mesh-verifiable promise of the declaration in force").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_may_be_equal_but_not_out_of_order() {
        assert_eq!(times(1, 1, 1), None);
        assert!(times(2, 1, 3).is_some());
        assert!(times(1, 3, 2).is_some());
        assert_eq!(ended(2, 2), None);
        assert!(ended(3, 2).is_some());
    }

    #[test]
    fn a_sender_is_the_caller_or_nobody() {
        assert_eq!(sender(None, None, "sha256:aa"), None);
        assert_eq!(sender(Some("A.b@c.example"), Some("sha256:aa"), "sha256:aa"), None);
        assert!(sender(Some("A.b@c.example"), Some("sha256:bb"), "sha256:aa").is_some());
        assert!(sender(Some("A.b@c.example"), None, "sha256:aa").is_some());
    }

    #[test]
    fn one_stray_check_is_enough() {
        assert_eq!(promise(0), None);
        assert!(promise(1).is_some());
    }
}
