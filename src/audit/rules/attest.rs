//! attest.*: an attestation beside the fact that witnesses it, as the ledger stood at the attestation.
//!
//! What can be said without a fact is said of an attestation that has none, too.

use super::code::{Observed, QUALITY, VALUE};
use crate::audit::finding::Message;
use crate::policy::Spans;

/// An attestation.
#[derive(Debug, Clone, Copy)]
pub struct Attestation<'a> {
    /// The entry's instant.
    pub at: i64,
    /// As the entry names it.
    pub evaluator_anchor_hash: &'a str,
    /// The hash of the evaluator's own anchor, or none where nobody knows the handle.
    pub own_anchor_hash: Option<&'a str>,
    /// The code.
    pub outcome: &'a str,
    /// Why, for VALUE_POOR.
    pub reason: Option<&'a str>,
    /// The fact.
    pub witness: Option<Witness<'a>>,
}

/// The earliest fact without error of the attestation's interaction, subject and capability.
#[derive(Debug, Clone, Copy)]
pub struct Witness<'a> {
    /// Who called.
    pub caller_anchor_hash: &'a str,
    /// When the interaction began.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: i64,
    /// What the reporter saw.
    pub observed: Observed<'a>,
}

/// attest.unwitnessed: there is a fact.
pub fn unwitnessed(attestation: &Attestation<'_>) -> Option<Message> {
    attestation.witness.is_none().then_some("no fact for the interaction, subject and capability came earlier".into())
}

/// attest.not_caller: the evaluator's hash is that of its own anchor, and the fact's caller's.
pub fn not_caller(attestation: &Attestation<'_>) -> Option<Message> {
    match attestation.own_anchor_hash {
        None => return Some("nobody knows the evaluator".into()),
        Some(own) if own != attestation.evaluator_anchor_hash => {
            return Some("evaluator_anchor_hash is not the evaluator's own".into());
        }
        Some(_) => {}
    }
    (attestation.witness?.caller_anchor_hash != attestation.evaluator_anchor_hash)
        .then_some("the evaluator's anchor is not the caller's".into())
}

/// attest.late: the entry is within the attestation window of the interaction's end.
pub fn late(attestation: &Attestation<'_>, spans: &Spans) -> Option<Message> {
    (!spans.attested_in_time(attestation.at, attestation.witness?.ended_at))
        .then_some("the entry is past the attestation window".into())
}

/// attest.no_work: there was work to judge.
pub fn no_work(attestation: &Attestation<'_>) -> Option<Message> {
    const WORKLESS: [&str; 6] = ["DECLINED", "REFUSED", "REFUSED_UNSTATED", "UNAVAILABLE", "UNREACHABLE", "STOPPED"];
    const UNFINISHED: [&str; 3] = ["input_required", "terminated_for_cause", "dispute_fallback"];
    let observed = attestation.witness?.observed;
    if let Some(code) = observed.code().filter(|code| WORKLESS.contains(code)) {
        return Some(format!("the fact resolved to {code}").into());
    }
    let from = observed.derived_from.filter(|from| UNFINISHED.contains(from))?;
    Some(format!("the fact is one of {from}").into())
}

/// attest.code: a quality code, or a value code exactly where the fact is one of spending alone; VALUE_POOR says why.
pub fn code(attestation: &Attestation<'_>) -> Option<Message> {
    let value = VALUE.contains(&attestation.outcome);
    if !value && !QUALITY.contains(&attestation.outcome) {
        return Some("the outcome is neither a quality code nor a value code".into());
    }
    if attestation.outcome == "VALUE_POOR" && attestation.reason.is_none_or(|reason| reason.trim().is_empty()) {
        return Some("VALUE_POOR has a reason".into());
    }
    let spending = matches!(attestation.witness?.observed.derived_from, Some("exhausted" | "metering"));
    (spending != value).then_some("a value code goes with an exhausted or metering fact, and only there".into())
}

/// attest.unenrolled: `admitted` says whether the interaction began inside an enrollment of the subject and the entry landed
/// before the withdrawal took effect (see [`super::enrollment::admits`]).
pub fn unenrolled(attestation: &Attestation<'_>, admitted: impl FnOnce(&Witness<'_>) -> bool) -> Option<Message> {
    let witness = attestation.witness.as_ref()?;
    (!admitted(witness)).then_some("begun outside an enrollment, or after the withdrawal took effect".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instant::DAY_MS;
    use crate::policy::Policy;

    const FACT: Witness<'static> = Witness {
        caller_anchor_hash: "sha256:aa",
        started_at: 0,
        ended_at: 10,
        observed: Observed { transport: "OK", derived_outcome: Some("OK"), derived_from: None, broken: false },
    };
    const GOOD: Attestation<'static> = Attestation {
        at: 20,
        evaluator_anchor_hash: "sha256:aa",
        own_anchor_hash: Some("sha256:aa"),
        outcome: "OK",
        reason: None,
        witness: Some(FACT),
    };

    fn of(derived_outcome: Option<&'static str>, derived_from: Option<&'static str>) -> Attestation<'static> {
        let observed = Observed { derived_outcome, derived_from, ..FACT.observed };
        Attestation { witness: Some(Witness { observed, ..FACT }), ..GOOD }
    }

    #[test]
    fn a_good_one_breaks_no_rule() {
        let spans = Policy::with_defaults("https://bureau.example").spans();
        assert_eq!(unwitnessed(&GOOD), None);
        assert_eq!(not_caller(&GOOD), None);
        assert_eq!(late(&GOOD, &spans), None);
        assert_eq!(no_work(&GOOD), None);
        assert_eq!(code(&GOOD), None);
        assert_eq!(unenrolled(&GOOD, |fact| fact.started_at == 0), None);
    }

    #[test]
    fn without_a_fact_only_what_needs_none_is_judged() {
        let spans = Policy::with_defaults("https://bureau.example").spans();
        let alone = Attestation { witness: None, ..GOOD };
        assert!(unwitnessed(&alone).is_some());
        assert_eq!(not_caller(&alone), None);
        assert_eq!(late(&Attestation { at: i64::MAX, ..alone }, &spans), None);
        assert_eq!(no_work(&alone), None);
        assert_eq!(code(&alone), None);
        assert_eq!(unenrolled(&alone, |_| false), None);
        assert!(not_caller(&Attestation { own_anchor_hash: Some("sha256:bb"), ..alone }).is_some());
        assert!(code(&Attestation { outcome: "NDA_BREACH", ..alone }).is_some());
    }

    #[test]
    fn the_evaluator_is_the_caller_and_itself() {
        assert!(not_caller(&Attestation { own_anchor_hash: None, ..GOOD }).is_some());
        assert!(not_caller(&Attestation { own_anchor_hash: Some("sha256:bb"), ..GOOD }).is_some());
        let other = Some(Witness { caller_anchor_hash: "sha256:bb", ..FACT });
        assert!(not_caller(&Attestation { witness: other, ..GOOD }).is_some());
    }

    #[test]
    fn the_window_closes_after_its_last_millisecond() {
        let spans = Policy::with_defaults("https://bureau.example").spans();
        assert_eq!(late(&Attestation { at: 10 + 30 * DAY_MS, ..GOOD }, &spans), None);
        assert!(late(&Attestation { at: 11 + 30 * DAY_MS, ..GOOD }, &spans).is_some());
    }

    #[test]
    fn a_refusal_or_an_unfinished_interaction_is_no_work() {
        for outcome in ["DECLINED", "REFUSED", "REFUSED_UNSTATED", "UNAVAILABLE", "UNREACHABLE"] {
            assert!(no_work(&of(Some(outcome), None)).is_some(), "{outcome}");
        }
        for from in ["input_required", "terminated_for_cause", "dispute_fallback"] {
            assert!(no_work(&of(None, Some(from))).is_some(), "{from}");
        }
        for from in ["exhausted", "metering", "retry-then-accept"] {
            assert_eq!(no_work(&of(None, Some(from))), None, "{from}");
        }
        let timeout = Observed { transport: "TIMEOUT", derived_outcome: None, ..FACT.observed };
        let unanswered = Attestation { witness: Some(Witness { observed: timeout, ..FACT }), ..GOOD };
        assert!(no_work(&unanswered).is_some());
    }

    #[test]
    fn value_codes_go_with_spending_and_quality_codes_never() {
        let spent = of(None, Some("exhausted"));
        assert!(code(&spent).is_some());
        assert_eq!(code(&Attestation { outcome: "VALUE_OK", ..spent }), None);
        assert_eq!(code(&Attestation { outcome: "VALUE_OK", ..of(None, Some("metering")) }), None);
        assert!(code(&Attestation { outcome: "VALUE_OK", ..GOOD }).is_some());
        for outcome in ["NDA_BREACH", "DECLINED", "PASS", "STOPPED", "ok", ""] {
            assert!(code(&Attestation { outcome, ..GOOD }).is_some(), "{outcome}");
        }
        let poor = Attestation { outcome: "VALUE_POOR", ..spent };
        assert!(code(&poor).is_some());
        assert!(code(&Attestation { reason: Some(" \n"), ..poor }).is_some());
        assert_eq!(code(&Attestation { reason: Some("half the spend was idle"), ..poor }), None);
    }
}
