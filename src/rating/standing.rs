//! Who stands behind an agent: the verification's life and the one ceiling that it sets (4.5).

use super::figures::Agent;
use crate::instant::{self, DAY_MS};

/// Days of grace after a verification expires.
pub const GRACE_DAYS: i64 = 14;
/// Days a domain verification is valid.
pub const DOMAIN_DAYS: i64 = 90;
/// Days a kyb verification is valid.
pub const KYB_DAYS: i64 = 365;
/// The ceiling without a verification that holds.
pub const CEILING_NONE: i64 = 700;
/// The ceiling of a domain verification.
pub const CEILING_DOMAIN: i64 = 850;
/// The ceiling of a kyb verification, which withholds nothing.
pub const CEILING_KYB: i64 = 1000;

/// Where a verification stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Before `expires_at`.
    Current,
    /// Before `grace_ends_at`.
    Grace,
    /// After both.
    Lapsed,
}

impl State {
    /// As it is published.
    pub fn name(self) -> &'static str {
        match self {
            State::Current => "current",
            State::Grace => "grace",
            State::Lapsed => "lapsed",
        }
    }
}

/// A verification by `as_of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    /// `domain` or `kyb`.
    pub level: &'static str,
    /// Milliseconds since 1970 UTC, as the next two.
    pub verified_at: i64,
    /// The end of its validity.
    pub expires_at: i64,
    /// The end of its grace.
    pub grace_ends_at: i64,
    /// Where `as_of` finds it.
    pub state: State,
}

/// The ceiling that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    /// Its code in `caps[]`.
    pub code: &'static str,
    /// On the scale of 0 to 1000.
    pub ceiling: i64,
    /// Why it applies, and when it falls.
    pub reason: String,
}

/// The controller's verification at `as_of`, none where there is none by then.
pub fn proof(agent: &Agent, as_of: i64) -> Option<Proof> {
    let (level, days) = match agent.verification_level.as_str() {
        "domain" => ("domain", DOMAIN_DAYS),
        "kyb" => ("kyb", KYB_DAYS),
        _ => return None,
    };
    let verified_at = agent.verified_at.filter(|at| *at <= as_of)?;
    let expires_at = verified_at + days * DAY_MS;
    let grace_ends_at = expires_at + GRACE_DAYS * DAY_MS;
    let state = if as_of < expires_at {
        State::Current
    } else if as_of < grace_ends_at {
        State::Grace
    } else {
        State::Lapsed
    };
    Some(Proof { level, verified_at, expires_at, grace_ends_at, state })
}

/// The ceiling that a verification sets.
pub fn ceiling(proof: Option<&Proof>) -> Ceiling {
    let Some(proof) = proof else {
        let reason = format!(
            "No verification of the controller is on record: it is known as a row id only, and the ceiling is {CEILING_NONE}."
        );
        return Ceiling { code: "controller_none", ceiling: CEILING_NONE, reason };
    };
    let (code, ceiling) = match (proof.state, proof.level) {
        (State::Lapsed, _) => ("lapsed_controller_verification", CEILING_NONE),
        (_, "domain") => ("controller_domain", CEILING_DOMAIN),
        _ => ("controller_kyb", CEILING_KYB),
    };
    let reason = match (life(proof), proof.level) {
        (Some(life), _) => life,
        (None, "domain") => format!(
            "The controller proved on {} that it operates its domain, valid until {}: the ceiling is {CEILING_DOMAIN}, since \
             that says what it runs and not who it is.",
            instant::format(proof.verified_at),
            instant::format(proof.expires_at)
        ),
        (None, _) => format!(
            "The controller's legal identity was checked on {}, valid until {}: the ceiling is {CEILING_KYB}, which withholds \
             nothing.",
            instant::format(proof.verified_at),
            instant::format(proof.expires_at)
        ),
    };
    Ceiling { code, ceiling, reason }
}

/// What must be said of a verification that is not current: when it lapses, or when and why it lapsed.
pub fn life(proof: &Proof) -> Option<String> {
    let (verified, expired, ends) =
        (instant::format(proof.verified_at), instant::format(proof.expires_at), instant::format(proof.grace_ends_at));
    let days = if proof.level == "domain" { DOMAIN_DAYS } else { KYB_DAYS };
    match proof.state {
        State::Current => None,
        State::Grace => Some(format!(
            "The {} verification of {verified} expired on {expired} and is in grace: it lapses on {ends}, when the ceiling falls to \
             {CEILING_NONE}.",
            proof.level
        )),
        State::Lapsed => Some(format!(
            "The {} verification of {verified} was valid for {days} days, expired on {expired}, was not renewed in {GRACE_DAYS} days \
             of grace and lapsed on {ends}: the ceiling fell to {CEILING_NONE}.",
            proof.level
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(level: &str, age_ms: i64) -> Option<Proof> {
        let as_of = 1_800_000_000_000;
        let agent =
            Agent { verification_level: level.to_owned(), verified_at: Some(as_of - age_ms), ..Agent::default() };
        proof(&agent, as_of)
    }

    #[test]
    fn a_rung_expires_and_lapses_at_its_very_instants() {
        let state = |level, age| at(level, age).map(|proof| proof.state);
        assert_eq!(state("domain", 90 * DAY_MS - 1), Some(State::Current));
        assert_eq!(state("domain", 90 * DAY_MS), Some(State::Grace));
        assert_eq!(state("domain", 104 * DAY_MS - 1), Some(State::Grace));
        assert_eq!(state("domain", 104 * DAY_MS), Some(State::Lapsed));
        assert_eq!(state("kyb", 365 * DAY_MS - 1), Some(State::Current));
        assert_eq!(state("kyb", 379 * DAY_MS), Some(State::Lapsed));
        assert_eq!(state("kyb", -1), None);
        assert_eq!(state("none", 5), None);
    }

    #[test]
    fn a_lapsed_rung_is_worth_none_and_says_why() {
        let lapsed = at("kyb", 400 * DAY_MS);
        let ceiling = ceiling(lapsed.as_ref());
        assert_eq!((ceiling.code, ceiling.ceiling), ("lapsed_controller_verification", 700));
        assert!(ceiling.reason.contains("365 days") && ceiling.reason.contains("lapsed on"));
    }
}
