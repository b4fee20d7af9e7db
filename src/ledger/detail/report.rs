//! `fact` and `probed`: what a configured reporter saw.

use crate::ledger::members::{Object, SchemaFault};

const TRANSPORTS: [&str; 4] = ["OK", "UNREACHABLE", "TIMEOUT", "MALFORMED"];

/// The codes of §5 that a reporter may derive: not those of stops, value judgments and agreements.
const DERIVED: [&str; 10] = [
    "OK",
    "OK_CORRECTED",
    "DECLINED",
    "REFUSED",
    "REFUSED_UNSTATED",
    "FAILED",
    "FAILED_SILENT",
    "CONTRACT",
    "UNREACHABLE",
    "UNAVAILABLE",
];

/// A fact (§4.2).
#[derive(Debug, Clone, PartialEq)]
pub struct Fact<'a> {
    /// The interaction.
    pub interaction_id: &'a str,
    /// The interaction that it was part of.
    pub parent_id: Option<&'a str>,
    /// Who reports.
    pub reporter: &'a str,
    /// The hash of the caller's anchor.
    pub caller_anchor_hash: &'a str,
    /// When it began, ms.
    pub started_at: i64,
    /// When it ended, ms.
    pub ended_at: i64,
    /// `OK`, `UNREACHABLE`, `TIMEOUT` or `MALFORMED`.
    pub transport: &'a str,
    /// How long the answer took, in milliseconds, not negative.
    pub latency_ms: Option<i64>,
    /// Which promises held.
    pub promise_checks: Vec<PromiseCheck<'a>>,
    /// The code that the reporter derived.
    pub derived_outcome: Option<&'a str>,
    /// The observation behind it.
    pub derived_from: Option<&'a str>,
    /// The engagement that it belongs to.
    pub engagement_id: Option<&'a str>,
    /// The caller's handle, where the reporter knows it.
    pub sender: Option<&'a str>,
    /// A screener's verdict on the request.
    pub screening: Option<Screening<'a>>,
    /// The reporter's signature, base64 as it stands.
    pub signature: &'a str,
}

/// A promise, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromiseCheck<'a> {
    /// Which promise of the subject's declaration.
    pub promise_id: &'a str,
    /// Whether it was kept.
    pub held: bool,
}

/// A screener's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screening<'a> {
    /// `flagged` or `held`.
    pub verdict: &'a str,
    /// Who screened.
    pub provider: &'a str,
}

/// A probe's result (§4.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe<'a> {
    /// The interaction that the probe was.
    pub interaction_id: &'a str,
    /// Who reports.
    pub reporter: &'a str,
    /// The ground-truth programme.
    pub program: &'a str,
    /// The version of its library.
    pub library_version: &'a str,
    /// `PASS` or `FAIL`.
    pub result: &'a str,
    /// When it ended, ms.
    pub ended_at: i64,
    /// The reporter's signature, base64 as it stands.
    pub signature: &'a str,
}

impl<'a> Fact<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        // In the order of the names, which costs one step a member.
        let fact = Fact {
            caller_anchor_hash: detail.hash("caller_anchor_hash")?,
            derived_from: detail.text_opt("derived_from")?,
            derived_outcome: detail.one_of_opt("derived_outcome", &DERIVED)?,
            ended_at: detail.instant("ended_at")?,
            engagement_id: detail.text_opt("engagement_id")?,
            interaction_id: detail.field("interaction_id")?,
            latency_ms: detail.integer_opt("latency_ms")?,
            parent_id: detail.text_opt("parent_id")?,
            promise_checks: detail.objects("promise_checks", |check| {
                Ok(PromiseCheck { held: check.boolean("held")?, promise_id: check.text("promise_id")? })
            })?,
            reporter: detail.text("reporter")?,
            screening: detail.object_opt("screening", |screening| {
                Ok(Screening {
                    provider: screening.text("provider")?,
                    verdict: screening.one_of("verdict", &["flagged", "held"])?,
                })
            })?,
            sender: detail.text_opt("sender")?,
            signature: detail.text("signature")?,
            started_at: detail.instant("started_at")?,
            transport: detail.one_of("transport", &TRANSPORTS)?,
        };
        if fact.latency_ms.is_some_and(|ms| ms < 0) {
            return Err(detail.is_not("latency_ms", "zero or more"));
        }
        match (fact.derived_from.and_then(observation_without_outcome), fact.derived_outcome) {
            (Some(fault), Some(_)) => Err(SchemaFault::Rule(fault)),
            _ => Ok(fact),
        }
    }
}

/// The observations that come with a null outcome (1.5), and what is said of one that does not.
fn observation_without_outcome(derived_from: &str) -> Option<&'static str> {
    match derived_from {
        "input_required" => Some("derived_from input_required comes with a null derived_outcome"),
        "exhausted" => Some("derived_from exhausted comes with a null derived_outcome"),
        "metering" => Some("derived_from metering comes with a null derived_outcome"),
        "terminated_for_cause" => Some("derived_from terminated_for_cause comes with a null derived_outcome"),
        "dispute_fallback" => Some("derived_from dispute_fallback comes with a null derived_outcome"),
        _ => None,
    }
}

impl<'a> Probe<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        // In the order of the names, which costs one step a member.
        Ok(Probe {
            ended_at: detail.instant("ended_at")?,
            interaction_id: detail.field("interaction_id")?,
            library_version: detail.text("library_version")?,
            program: detail.text("program")?,
            reporter: detail.text("reporter")?,
            result: detail.one_of("result", &["PASS", "FAIL"])?,
            signature: detail.text("signature")?,
        })
    }
}
