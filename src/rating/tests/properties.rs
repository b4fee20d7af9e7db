//! What must hold whatever the tables say. Each case rates one set of tables in which the worlds that are compared are
//! different agents, each under a controller of its own.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{Tables, check_sums, factor, without};

/// Any decision that the rail can write, with its date in days.
fn decision() -> impl Strategy<Value = (u32, Value)> {
    let amount = prop_oneof![
        Just("0".to_owned()),
        Just("0.000001".to_owned()),
        Just("1".to_owned()),
        Just("999999999.999999".to_owned()),
        (0..3_u32, 0..1_000_000_u32).prop_map(|(whole, micro)| format!("{whole}.{micro:06}")),
    ];
    let status = prop::sample::select(vec![
        json!({"approval_status": "approved"}),
        json!({"approval_status": "cleared_by_firewall"}),
        json!({"approval_status": "pending"}),
        json!({"approval_status": "denied", "denial_reason": "VENDOR_NOT_ALLOWLISTED"}),
        json!({"approval_status": "denied", "denial_reason": "DAILY_BUDGET_EXCEEDED"}),
        json!({"approval_status": "denied", "denial_reason": "SANCTIONS_MATCH"}),
        json!({"approval_status": "denied", "denial_reason": "GATE6_BLOCK"}),
        json!({"approval_status": "denied", "denial_reason": "REQUIRES_HUMAN_APPROVAL"}),
        json!({"approval_status": "denied", "denial_reason": "TREASURY_INSUFFICIENT"}),
    ]);
    let resolution = prop::sample::select(vec![
        Value::Null,
        json!({"decision": "approved", "key_id": "k", "resolved_at": "2026-10-01T00:00:00Z"}),
        json!({"decision": "denied", "key_id": "k", "resolved_at": "2026-10-01T00:00:00Z"}),
        json!({"decision": "approved", "resolved_at": "2026-10-01T00:00:00Z"}),
        json!({"decision": "approved", "key_id": "k", "resolved_at": "2027-10-01T00:00:00Z"}),
    ]);
    let word = |words: &'static [&'static str]| prop::option::of(prop::sample::select(words));
    (
        (0..300_u32, amount, status, resolution),
        word(&["pending", "confirmed", "failed"]),
        word(&["safe", "watch", "warn", "critical"]),
        word(&["false_positive", "benign", "true_positive"]),
        word(&["matched", "mismatched", "missing", "skipped"]),
        (any::<bool>(), prop::option::of(any::<bool>()), any::<bool>()),
    )
        .prop_map(
            |((day, amount, mut row, resolution), settlement, tier, label, attestation, (signed, available, x402))| {
                let more = json!({
                    "amount_usd": amount, "settlement_status": settlement, "gate6_tier": tier, "gate6_label": label,
                    "attestation_status": attestation, "receipt_signed": signed,
                    "route": if x402 { "/x402-pay" } else { "/authorize-intent" },
                    "metadata": {"attestation_receipt_available": available, "operator_resolution": resolution},
                });
                if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
                    row.extend(more);
                }
                (day, row)
            },
        )
}

fn history(most: usize) -> impl Strategy<Value = Vec<(u32, Value)>> {
    prop::collection::vec(decision(), 0..most)
}

fn put(tables: &mut Tables, agent: &str, organization: &str, history: &[(u32, Value)]) {
    tables.agent(agent, organization);
    for (day, row) in history {
        tables.decision(agent, *day, row.clone());
    }
}

/// What two ratings of different agents may differ in for that reason alone.
const NAMES: [&str; 2] = ["agent_id", "organization_id"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_score_is_the_sum_of_the_contributions(
        histories in prop::collection::vec(history(30), 12),
        slashes in prop::collection::vec((0..12_usize, prop::sample::select(vec!["executed", "pending", "disputed", "reversed"])), 0..20),
        window in 1..40_i64,
    ) {
        let mut tables = Tables::default();
        for (place, history) in histories.iter().enumerate() {
            put(&mut tables, &format!("a{place}"), &format!("o{}", place % 5), history);
        }
        for (place, status) in slashes {
            tables.slash(&format!("a{place}"), status);
        }
        let ratings = tables.rate(window);
        prop_assert_eq!(ratings.len(), 12);
        ratings.values().for_each(check_sums);
    }

    /// Every prefix of a history is an agent. A small window evicts the early decisions, and must not matter.
    #[test]
    fn more_evidence_never_makes_a_factor_unscorable(history in history(25), window in 1..6_i64) {
        let mut tables = Tables::default();
        for length in 0..=history.len() {
            put(&mut tables, &format!("a{length:03}"), &format!("o{length}"), &history[..length]);
        }
        let mut scorable = false;
        for (agent, rating) in tables.rate(window) {
            if rating["denominator"] == 0 {
                continue;
            }
            let now = rating["unscorable_factors"].as_array().unwrap().is_empty();
            prop_assert!(now || !scorable, "{} lost a factor", agent);
            scorable = now;
            prop_assert_eq!(now, rating["evidence"]["attestable_decisions_all_time"].as_i64().unwrap() > 0);
        }
    }

    #[test]
    fn cleared_dust_moves_a_rate_by_no_more_than_it_weighs(history in history(25), dust in 1..970_usize) {
        let mut tables = Tables::default();
        put(&mut tables, "plain", "o1", &history);
        put(&mut tables, "dusty", "o2", &history);
        for _ in 0..dust {
            let row = json!({"amount_usd": "0.000001", "settlement_status": "confirmed", "gate6_tier": "safe", "attestation_status": "matched"});
            tables.decision("dusty", 290, row);
        }
        // The window holds all of it, so that the dust evicts nothing.
        let ratings = tables.rate(1000.min(history.len() as i64 + dust as i64));
        let (plain, dusty) = (&ratings["plain"], &ratings["dusty"]);
        if plain["tier"] == "UNRATED" {
            let short = plain["evidence"]["material_all_time"].as_f64().unwrap() < 1.0 - dust as f64 / 1e6;
            prop_assert!(dusty["tier"] == "UNRATED" || !short);
        } else {
            for item in plain["factors"].as_array().unwrap() {
                let (Some(before), Some(after)) = (
                    item["value"].as_f64(), factor(dusty, item["key"].as_str().unwrap())["value"].as_f64(),
                ) else { continue };
                // Two roundings to six places, and for tenure the days that an older first decision adds: none here.
                prop_assert!((after - before).abs() <= dust as f64 / 1e6 + 2e-6, "{}: {} {}", item["key"], before, after);
            }
        }
    }

    #[test]
    fn an_unauthenticated_decision_changes_nothing_but_its_count(history in history(20), foreign in history(20), window in 1..30_i64) {
        let mut tables = Tables::default();
        put(&mut tables, "plain", "o1", &history);
        put(&mut tables, "written", "o2", &history);
        for (day, row) in &foreign {
            let mut row = row.clone();
            row["route"] = json!("/authorize-intent");
            row["metadata"]["caller_authenticated"] = json!(false);
            tables.decision("written", *day, row);
        }
        let mut ratings = tables.rate(window);
        let mut written = ratings.remove("written").unwrap();
        prop_assert_eq!(&written["evidence"]["unauthenticated_decisions_excluded"], &json!(foreign.len()));
        written["evidence"]["unauthenticated_decisions_excluded"] = json!(0);
        prop_assert_eq!(without(&written, &NAMES), without(&ratings["plain"], &NAMES));
    }

    #[test]
    fn a_siblings_slash_moves_only_controller_standing(
        history in history(25),
        slashes in prop::collection::vec(prop::sample::select(vec!["executed", "pending", "disputed"]), 1..4),
    ) {
        let mut tables = Tables::default();
        for (agent, sibling, organization) in [("plain", "plain-sibling", "o1"), ("beside", "slashed", "o2")] {
            put(&mut tables, agent, organization, &history);
            tables.agent(sibling, organization);
        }
        for status in slashes {
            tables.slash("slashed", status);
        }
        let ratings = tables.rate(1000);
        let (plain, beside) = (&ratings["plain"], &ratings["beside"]);
        let moved = [
            &NAMES[..],
            &["factors", "score", "uncapped_score", "normalized_score", "tier", "tier_letter", "summary", "caps"],
        ].concat();
        prop_assert_eq!(without(plain, &moved), without(beside, &moved));
        for (before, after) in plain["factors"].as_array().unwrap().iter().zip(beside["factors"].as_array().unwrap()) {
            match before["key"].as_str().unwrap() {
                "controller_standing" => prop_assert!(before["contribution"].as_i64() >= after["contribution"].as_i64()),
                // A penalty is assessed alike; the stop at zero may cut it earlier.
                _ if before.get("assessed").is_some() => prop_assert_eq!(&before["assessed"], &after["assessed"]),
                _ => prop_assert_eq!(before, after),
            }
        }
    }

    #[test]
    fn clean_volume_lowers_a_breach_penalty_to_its_floor_and_evicts_nothing(
        scope in 0..6_i64, budget in 0..6_i64, breach_cents in 1..100_u32, window in 20..80_i64,
    ) {
        let mut tables = Tables::default();
        let volumes = [0, 1, 10, 60, 100, 400];
        for clean in volumes {
            let agent = format!("a{clean:03}");
            tables.agent(&agent, &agent);
            for (count, reason) in [(scope, "AGENT_PAUSED"), (budget, "PER_TRANSACTION_LIMIT_EXCEEDED")] {
                for _ in 0..count {
                    let amount = format!("0.{breach_cents:02}");
                    tables.decision(&agent, 1, json!({"approval_status": "denied", "denial_reason": reason, "amount_usd": amount}));
                }
            }
            // Enough evidence for a rating that nothing stops at zero.
            for _ in 0..clean + 1 {
                tables.decision(&agent, 2, json!({"attestation_status": "matched", "gate6_tier": "safe", "settlement_status": "confirmed"}));
            }
        }
        let floor = 5 * (scope + budget);
        let mut last = i64::MAX;
        for (agent, rating) in tables.rate(window) {
            let penalty = factor(&rating, "mandate_breach_incidence");
            let assessed = -penalty["assessed"].as_i64().unwrap();
            prop_assert_eq!(penalty["n"].as_i64(), Some(scope + budget), "{}", agent);
            prop_assert!(assessed <= last && assessed >= floor.min(240), "{}: {}", agent, assessed);
            last = assessed;
        }
        // 400 clean ones fill the window: the rate is nothing, and the floor is left.
        prop_assert_eq!(last, floor);
    }
}
