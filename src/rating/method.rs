//! `method.json`: the method document as it stands, and beside it the numbers and the reading of the profile by which this
//! program follows it, so that a reader can recompute a rating from the tables with this page alone.

use serde_json::{Value, json};

use super::document::{METHOD, VCT};
use super::factors::{RATED, STANDING_MATERIAL, STANDING_WEIGHT, TENURE_DAYS, TENURE_MATERIAL, TENURE_WEIGHT};
use super::figures::X402_GATE6_FROM;
use super::verdict::UNSCORABLE_CODE;
use super::{DENIAL_REASONS, Parameters, penalties, standing};
use crate::instant;

/// The method document, as its authors publish it.
const DOCUMENT: &str = include_str!("method/skalor-agent-rating-v1.3.json");

/// The content of `method.json` for a run.
pub fn method(parameters: &Parameters) -> Value {
    json!({
        "method": METHOD,
        "vct": VCT,
        "document": serde_json::from_str::<Value>(DOCUMENT).unwrap_or(Value::Null),
        "windows": windows(parameters),
        "evidence": evidence(),
        "factors": factors(),
        "penalties": charges(),
        "caps": caps(),
        "tiers": {
            "A": 800, "B": 600, "C": 400, "D": 0,
            "compared": "normalized_score; a star is appended where denominator is not 1000",
            "order": "REVOKED (any active revocation against the agent), then UNRATED (material_all_time below 1), then the letter",
        },
        "numbers": numbers(),
        "signature": "Ed25519 over 'skalor-agent-rating-v1', a newline, and the RFC 8785 form of the rating. The document carries the \
                      method's vct and is not an SD-JWT VC.",
    })
}

fn windows(parameters: &Parameters) -> Value {
    json!({
        "as_of": instant::format(parameters.as_of),
        "valid_ms": parameters.expires_at - parameters.as_of,
        "rating_window_decisions": parameters.window_decisions,
        "observed_decisions": "an agent's latest rating_window_decisions eligible decisions by created_at, then id in UTF-8 bytes",
        "over_observed_decisions": [
            "decisions", "material", "cleared_decisions", "parked_decisions_approved", "parked_decisions_denied", "the five rates",
            "the breach rate",
        ],
        "over_all_eligible_decisions": [
            "material_all_time", "cleared_decisions_all_time", "attestable_decisions_all_time", "first_decision_at", "tenure's days",
            "the counts of the decision penalties",
        ],
        "over_decisions_marked_unauthenticated": ["unauthenticated_decisions_excluded"],
        "over_all_rows": ["slashes", "revocations"],
        "after_as_of": "rows, resolutions and rescissions dated after as_of, and agents created after it with all that names them, do not \
                        exist; labels, settlement and slash states, limits and verification levels are as the tables have them",
    })
}

fn evidence() -> Value {
    let reasons = |class: &str| {
        DENIAL_REASONS.iter().filter(|(_, of)| *of == class).map(|(reason, _)| *reason).collect::<Vec<_>>()
    };
    json!({
        "eligible": "metadata.caller_authenticated is not false",
        "weight": "min(amount_usd, q) / q, with q a tenth of per_transaction_limit, or 1.00 dollar where that is null or 0; sums are exact \
                   integers of ten-millionths of a dollar over q",
        "cleared": "approval_status approved or cleared_by_firewall",
        "receipt_available": "attestation_receipt_available is true, or is absent with an attestation_status other than skipped",
        "denial_reasons": {
            "scope": reasons("scope"), "budget": reasons("budget"), "sanctions": reasons("sanctions"), "gate": reasons("gate"),
            "parked": reasons("parked"), "neutral": "any other",
            "counted": "on a row whose approval_status is denied, and nowhere else",
        },
        "parked_and_approved": "parked, with an operator_resolution by as_of that has key_id and decision approved; denied likewise",
        "labelled": "a gate6_label counts on a tier of watch, warn or critical",
    })
}

fn factors() -> Value {
    let sides = |key: &str| match key {
        "mandate_compliance" => {
            ("cleared; parked and approved", "denied for scope, budget, sanctions or the gate", "good + bad")
        }
        "attestation_coverage" => (
            "cleared, receipt available, matched and receipt_signed",
            "cleared, receipt available, otherwise",
            "good + bad",
        ),
        "anomaly_history" => ("safe", "watch ×0.5, warn ×1, critical ×2", "the weight of decisions with a tier"),
        "operator_review" => (
            "labelled false_positive or benign; parked and approved",
            "labelled true_positive, which goes first where a decision is both",
            "good + bad",
        ),
        _ => ("settlement_status confirmed", "settlement_status failed", "good + bad"),
    };
    let rated: Vec<Value> = RATED
        .iter()
        .map(|factor| {
            let (good, bad, n) = sides(factor.key);
            json!({"key": factor.key, "weight": factor.weight, "full_confidence": factor.full_confidence, "good": good, "bad": bad, "n": n})
        })
        .collect();
    json!({
        "rated": rated,
        "rate": "(good + 1) / (good + bad + 2)",
        "value": "0.5 + (rate − 0.5) × min(1, n / full_confidence)",
        "contribution": "round(weight × value)",
        "controller_standing": {
            "weight": STANDING_WEIGHT,
            "raw": "1 − min(1, 0.5 × executed) − min(0.5, 0.25 × (pending + disputed)) − 0.3 where any active revocation is for fraud, \
                    compromise or policy_violation; at least 0; over every agent of the organization, whatever its tier",
            "value": format!("0.5 + (raw − 0.5) × min(1, M / {STANDING_MATERIAL}) where raw ≥ 0.5, else raw"),
            "n": "M: the sum over those agents of material, each rounded to 15 places",
        },
        "tenure": {
            "weight": TENURE_WEIGHT,
            "value": format!("min(1, days / {TENURE_DAYS}) × min(1, material / {TENURE_MATERIAL})"),
            "n": "material",
            "days": "milliseconds from first_decision_at to as_of over 86400000, not whole",
        },
        "unscorable": {
            "key": "attestation_coverage", "code": UNSCORABLE_CODE,
            "when": "attestable_decisions_all_time is 0, also where there is no cleared decision at all; the weight leaves denominator",
        },
        "prior_held": {
            "when": "a scorable rated factor has n = 0",
            "/authorize-intent": "settlement_reliability, where there are cleared observed decisions and all are of that route",
            "/x402-pay": format!(
                "anomaly_history, where there are cleared observed decisions and all are of that route and before {}",
                instant::format(X402_GATE6_FROM)
            ),
        },
    })
}

fn charges() -> Value {
    json!({
        "order": ["mandate_breach_incidence", "confirmed_true_positives", "ofac_matches", "slash_events"],
        "mandate_breach_incidence": {
            "scope": penalties::SCOPE_TARIFF, "budget": penalties::BUDGET_TARIFF, "floor": penalties::BREACH_FLOOR,
            "cap": penalties::BREACH_CAP,
            "multiplier": "min(1, rate / 0.10), rate = mandate_compliance's bad / (good + bad), 1 where that is 0/0",
            "points": "min(cap, max(tariff × multiplier, floor × breaches)), over all eligible decisions",
        },
        "confirmed_true_positives": price(penalties::CONFIRMED),
        "ofac_matches": price(penalties::SANCTIONS),
        "slash_events": {
            "executed": price(penalties::SLASH_EXECUTED), "pending_or_disputed": price(penalties::SLASH_UNADJUDICATED),
            "over": "this agent's own stake; reversed slashes count nowhere",
        },
        "assessed": "each is rounded once to whole points",
        "contribution": "a penalty that would take the running sum below zero stops at zero, so score is the sum of the contributions",
    })
}

fn price((points, cap): (i64, i64)) -> Value {
    json!({"points": points, "cap": cap})
}

fn caps() -> Value {
    json!({
        "controller_none": standing::CEILING_NONE,
        "controller_domain": standing::CEILING_DOMAIN,
        "controller_kyb": standing::CEILING_KYB,
        "lapsed_controller_verification": standing::CEILING_NONE,
        "valid_days": {"domain": standing::DOMAIN_DAYS, "kyb": standing::KYB_DAYS},
        "grace_days": standing::GRACE_DAYS,
        "published": "the one that applies, binding or not; it acts on normalized_score and never on score",
    })
}

fn numbers() -> Value {
    json!({
        "arithmetic": "exact rationals; every published number is rounded once, half away from zero",
        "whole_points": ["contribution", "assessed", "uncapped_score"],
        "uncapped_score": "round(1000 × score / denominator)",
        "six_places": ["value", "n"],
        "six_places_cut": ["material", "material_all_time"],
        "instants": "cut to the millisecond before they are compared",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_and_prices_are_those_of_the_document() {
        let page = method(&Parameters { as_of: 0, expires_at: 1, window_decisions: 1000 });
        let document = &page["document"];
        assert_eq!(document["method"], METHOD);
        assert_eq!(document["vct"], VCT);
        let stated = |key: &str| {
            let factors = document["factors"].as_array().unwrap();
            factors.iter().find(|factor| factor["key"] == key).unwrap()["weight"].as_i64().unwrap()
        };
        for factor in RATED {
            assert_eq!(stated(factor.key), factor.weight);
            let rule =
                &document["factors"].as_array().unwrap().iter().find(|f| f["key"] == factor.key).unwrap()["rule"];
            let rule = rule.as_str().unwrap();
            let confidence = format!("confidence n/{}", factor.full_confidence);
            assert!(rule.contains(&confidence), "{rule}");
        }
        assert_eq!(stated("controller_standing"), STANDING_WEIGHT);
        assert_eq!(stated("tenure"), TENURE_WEIGHT);
        let total: i64 = RATED.iter().map(|factor| factor.weight).sum::<i64>() + STANDING_WEIGHT + TENURE_WEIGHT;
        assert_eq!(total, 1000);
        let rules = document["penalties"].to_string();
        for price in ["−40", "−15", "−5", "−240", "−60", "−150", "−300", "−75", "−225"] {
            assert!(rules.contains(price), "{price}");
        }
    }
}
