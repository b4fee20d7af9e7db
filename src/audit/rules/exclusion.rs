//! exclude.*: what must be excluded, and what is (profile 1.7, 2.10; spec 6.4).

use crate::audit::finding::Message;
use crate::instant::DAY_MS;

/// The grounds on which an attestation, or for self-dealing a fact, is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Grounds {
    /// Evaluator, or caller, and subject are of one anchor, party or organization.
    pub self_dealing: bool,
    /// The subject has declared the evaluator's anchor a competitor.
    pub declared_competitor: bool,
    /// The evaluator attests too often about the subject.
    pub rate_limit: bool,
}

impl Grounds {
    /// Every ground.
    pub const ALL: Grounds = Grounds { self_dealing: true, declared_competitor: true, rate_limit: true };

    /// Whether the ground that an `excluded` entry gives is among these.
    pub fn holds(self, reason: &str) -> bool {
        match reason {
            "self_dealing" => self.self_dealing,
            "declared_competitor" => self.declared_competitor,
            "rate_limit" => self.rate_limit,
            _ => false,
        }
    }

    /// Adds a ground by its name.
    pub fn add(&mut self, reason: &str) {
        match reason {
            "self_dealing" => self.self_dealing = true,
            "declared_competitor" => self.declared_competitor = true,
            "rate_limit" => self.rate_limit = true,
            _ => {}
        }
    }

    /// What of these is not in `others`.
    fn without(self, others: Grounds) -> Grounds {
        Grounds {
            self_dealing: self.self_dealing && !others.self_dealing,
            declared_competitor: self.declared_competitor && !others.declared_competitor,
            rate_limit: self.rate_limit && !others.rate_limit,
        }
    }

    fn names(self) -> Vec<&'static str> {
        let named = [
            (self.self_dealing, "self-dealing"),
            (self.declared_competitor, "a declared competitor"),
            (self.rate_limit, "over the rate ceiling"),
        ];
        named.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| name).collect()
    }
}

/// The standing of a target that needs exclusions.
#[derive(Debug, PartialEq, Eq)]
pub enum Due {
    /// Every ground that needs an exclusion has one.
    Nothing,
    /// One is missing, and the bureau still has time: the target counts for nothing, without a finding.
    Withheld,
    /// exclude.missing.
    Missing(Message),
}

/// exclude.missing, of a target recorded at `at`: each ground that is `needed` has been `given` by an `excluded` entry, 24 hours
/// after it at the latest.
pub fn due(needed: Grounds, given: Grounds, at: i64, as_of: i64) -> Due {
    let missing = needed.without(given);
    if missing == Grounds::default() {
        Due::Nothing
    } else if as_of <= at.saturating_add(DAY_MS) {
        Due::Withheld
    } else {
        Due::Missing(format!("not excluded: {}", missing.names().join(", ")).into())
    }
}

/// exclude.unfounded, of an exclusion whose target was judged: it gives a ground that is there.
pub fn unfounded(reason: &str, there: Grounds) -> Option<Message> {
    (!there.holds(reason)).then(|| "there is no such ground".into())
}

/// What an `excluded` entry names.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its place.
    pub seq: i64,
    /// Its action, or none where there is no such entry at T.
    pub action: Option<&'a str>,
    /// Whether its members could be read.
    pub read: bool,
    /// Whether a correction voided it.
    pub voided: bool,
}

/// exclude.unfounded, of the target itself: an earlier attestation, or a fact that is excluded as self-dealing. A voided one needs no
/// ground.
pub fn untargeted(seq: i64, reason: &str, target: &Target<'_>) -> Option<Message> {
    if target.seq >= seq {
        return Some("the target is not an earlier entry".into());
    }
    match target.action {
        Some("attested") => {}
        Some("fact") if reason == "self_dealing" => {}
        Some("fact") => return Some("a fact is excluded as self-dealing or not at all".into()),
        _ => return Some("the target is not an earlier attestation or fact".into()),
    }
    (!target.voided && !target.read).then_some("the target's members cannot be read".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELF: Grounds = Grounds { self_dealing: true, declared_competitor: false, rate_limit: false };

    #[test]
    fn each_ground_has_its_own_exclusion_after_a_day() {
        let both = Grounds { rate_limit: true, ..SELF };
        assert_eq!(due(both, both, 0, i64::MAX), Due::Nothing);
        assert_eq!(due(Grounds::default(), Grounds::default(), 0, i64::MAX), Due::Nothing);
        assert_eq!(due(both, SELF, 0, DAY_MS), Due::Withheld);
        let missing = due(both, SELF, 0, DAY_MS + 1);
        assert_eq!(missing, Due::Missing("not excluded: over the rate ceiling".into()));
    }

    #[test]
    fn an_exclusion_gives_a_ground_that_is_there() {
        assert_eq!(unfounded("self_dealing", SELF), None);
        assert!(unfounded("declared_competitor", SELF).is_some());
        assert!(unfounded("rate_limit", SELF).is_some());
        let mut given = Grounds::default();
        given.add("rate_limit");
        assert!(given.holds("rate_limit") && !given.holds("self_dealing") && !given.holds("mood"));
    }

    #[test]
    fn a_target_is_an_earlier_attestation_or_a_self_dealing_fact() {
        let target = Target { seq: 4, action: Some("attested"), read: true, voided: false };
        assert_eq!(untargeted(5, "rate_limit", &target), None);
        assert!(untargeted(4, "rate_limit", &target).is_some());
        let fact = Target { action: Some("fact"), ..target };
        assert_eq!(untargeted(5, "self_dealing", &fact), None);
        assert!(untargeted(5, "rate_limit", &fact).is_some());
        for action in [Some("probed"), Some("excluded"), None] {
            assert!(untargeted(5, "self_dealing", &Target { action, ..target }).is_some());
        }
        assert!(untargeted(5, "self_dealing", &Target { read: false, ..fact }).is_some());
        assert_eq!(untargeted(5, "self_dealing", &Target { read: false, voided: true, ..fact }), None);
    }
}
