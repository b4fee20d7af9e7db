//! Rows and files that must be refused, and places where a careless reader goes wrong.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::support::{Tables, factor, parameters, run};
use crate::engine::{Resources, Session};
use crate::export::ExportError;
use crate::rating::{RatingError, Table, rate};

const ORGANIZATION: &str = r#"{"id":"o","verification_level":"none"}"#;

/// The refused rows of an `organizations` file as (row, id, member).
fn refused(content: &[u8]) -> Vec<(Option<u64>, Option<String>, Option<&'static str>)> {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("organizations.jsonl"), content).unwrap();
    run(dir.path(), 1000).refused.into_iter().map(|refused| (refused.row, refused.id, refused.member)).collect()
}

#[test]
fn a_line_that_is_not_one_json_object_is_a_refused_row_without_an_id() {
    for line in [
        "",
        " ",
        "[]",
        "null",
        "7",
        "\"id\"",
        "{",
        r#"{"id":"o","verification_level":"none"}{}"#,
        r#"{"id":"o","verification_level":"none","id":"o"}"#,
        r#"{"id":"o","verification_level":"none","x":{"a":1,"a":2}}"#,
        r#"{"id":"o","verification_level":"none","x":9007199254740992}"#,
        r#"{"id":"o","verification_level":"none","x":1e400}"#,
        r#"{"id":"o","verification_level":"none","x":"\ud800"}"#,
    ] {
        let content = format!("{line}\n{ORGANIZATION}\n");
        assert_eq!(refused(content.as_bytes()), [(Some(1), None, None)], "{line:?}");
    }
    assert_eq!(refused(b"{\"id\":\"\xff\",\"verification_level\":\"none\"}\n"), [(Some(1), None, None)]);
}

/// A file that cannot be read as 1.1 says stops the run; it is no row.
#[test]
fn a_byte_order_mark_is_an_error_of_the_file() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("organizations.jsonl"), format!("\u{feff}{ORGANIZATION}\n")).unwrap();
    let resources = Resources::new(1, 64 << 20);
    let session = Session::open(&resources, &dir.path().join("spill")).unwrap();
    let outcome = rate(dir.path(), &dir.path().join("store"), &session, &parameters(1000));
    assert!(matches!(outcome, Err(RatingError::Export(ExportError::ByteOrderMark { .. }))));
}

#[test]
fn what_is_no_fault_is_no_fault() {
    assert_eq!(refused(b""), []);
    assert_eq!(refused(ORGANIZATION.as_bytes()), []);
    assert_eq!(refused(format!("{ORGANIZATION}\r\n").as_bytes()), []);
    assert_eq!(refused(br#"{ "verification_level" : "none", "id":"o", "else":[1,{"id":7}] }"#), []);
    assert_eq!(refused(br#"{"id":"o","verification_level":"none","domain":null,"verified_by":"x"}"#), []);
}

#[test]
fn an_id_is_taken_by_the_first_row_that_has_it_refused_or_not() {
    let content = br#"{"id":"o","verification_level":"some"}
{"id":"o","verification_level":"none"}
{"id":"p","verification_level":"none"}
{"id":"p","verification_level":"none"}
{"id":7,"verification_level":"none"}
{"id":"","verification_level":"none"}
{"verification_level":"none"}
"#;
    let (id, o, p) = (Some("id"), Some("o".to_owned()), Some("p".to_owned()));
    assert_eq!(
        refused(content),
        [
            (Some(1), o.clone(), Some("verification_level")),
            (Some(2), o, id),
            (Some(4), p, id),
            (Some(5), None, id),
            (Some(6), Some(String::new()), id),
            (Some(7), None, id),
        ]
    );
}

#[test]
fn a_refused_row_takes_all_that_name_it_along() {
    let mut tables = Tables::default();
    tables.agent("good", "o1");
    tables.agent("bad", "o2");
    tables.organizations[1]["verification_level"] = json!("kyb");
    for agent in ["good", "bad", "nobody"] {
        tables.decision(agent, 1, json!({}));
        tables.slash(agent, "executed");
    }
    let dir = TempDir::new().unwrap();
    tables.write(dir.path());
    let ratings = run(dir.path(), 1000);
    let named: Vec<_> = ratings.refused.iter().map(|r| (r.table.as_str(), r.row.unwrap(), r.member.unwrap())).collect();
    assert_eq!(
        named,
        [
            ("organizations", 2, "verified_at"),
            ("agents", 2, "organization_id"),
            ("transactions", 2, "agent_id"),
            ("transactions", 3, "agent_id"),
            ("slash_events", 2, "agent_id"),
            ("slash_events", 3, "agent_id"),
        ]
    );
    assert_eq!(ratings.rows[&Table::Transactions], 1);
    assert_eq!(ratings.ratings.len(), 1);
}

#[test]
fn a_wrong_file_and_a_second_file_of_a_table_are_refused_and_not_read() {
    let mut tables = Tables::default();
    tables.agent("a", "o");
    let dir = TempDir::new().unwrap();
    tables.write(dir.path());
    for name in ["agents.jsonl.gz", "agents.csv", "notes", "Agents.jsonl", "x.parquet"] {
        fs::write(dir.path().join(name), "not a table").unwrap();
    }
    fs::create_dir(dir.path().join("transactions.parquet")).unwrap();
    let ratings = run(dir.path(), 1000);
    let names: Vec<_> = ratings.refused.iter().map(|refused| refused.table.as_str()).collect();
    assert_eq!(names, ["Agents.jsonl", "agents.csv", "agents.jsonl.gz", "notes", "transactions.parquet", "x.parquet"]);
    assert_eq!(ratings.audit()["rating.table"], 6);
    assert_eq!(ratings.ratings.len(), 1);
}

#[test]
fn what_is_dated_after_as_of_does_not_exist_and_is_checked_all_the_same() {
    let mut tables = Tables::default();
    tables.agent("now", "o");
    tables.agent("later", "o");
    tables.agents[1]["created_at"] = json!("2026-11-30T00:00:00.001Z");
    tables.slash("later", "executed");
    tables.decision("later", 1, json!({}));
    tables.decision("now", 1, json!({}));
    tables.decision("now", 1, json!({"created_at": "2026-11-30T01:00:00+01:00"}));
    tables.decision(
        "now",
        1,
        json!({"created_at": "2026-11-30T00:00:00.001Z", "denial_reason": "ODD", "approval_status": "denied"}),
    );
    tables
        .revocations
        .push(json!({"id": "r", "agent_id": "now", "reason": "fraud", "revoked_at": "2026-12-01T00:00:00Z"}));
    let dir = TempDir::new().unwrap();
    tables.write(dir.path());
    let ratings = run(dir.path(), 1000);
    assert_eq!(ratings.refused, []);
    assert_eq!(ratings.ratings.len(), 1);
    assert_eq!(ratings.ratings[0].evidence.decisions, 2);
    assert_eq!(factor(&ratings.ratings[0].document(), "controller_standing")["contribution"], 51);
    assert_eq!((ratings.unknown_reasons["ODD"].rows, ratings.unknown_reasons["ODD"].first_row), (1, 4));
}

#[test]
fn a_revocation_stands_until_it_is_rescinded() {
    let mut tables = Tables::default();
    for (agent, reason, rescinded) in [
        ("stands", "other", None),
        ("rescinded", "fraud", Some("2026-11-30T00:00:00Z")),
        ("not-yet", "fraud", Some("2026-11-30T00:00:00.001Z")),
    ] {
        tables.agent(agent, agent);
        tables.decision(agent, 1, json!({}));
        tables.revocations.push(json!({
            "id": agent, "agent_id": agent, "reason": reason, "revoked_at": "2026-06-01T00:00:00Z", "rescinded_at": rescinded,
        }));
    }
    let ratings = tables.rate(1000);
    assert_eq!(ratings["stands"]["tier"], "REVOKED");
    assert_eq!(ratings["rescinded"]["tier_letter"], "C");
    assert_eq!(ratings["not-yet"]["tier"], "REVOKED");
}

#[test]
fn the_window_is_taken_by_instant_then_by_the_bytes_of_the_id() {
    let mut tables = Tables::default();
    tables.agent("a", "o");
    // One instant in three spellings; "é" is after "z" in bytes, and upper case before lower.
    for (id, at, status) in [
        ("z", "2026-06-01T00:00:00Z", "confirmed"),
        ("é", "2026-06-01T02:00:00+02:00", "failed"),
        ("Z", "2026-06-01T00:00:00.000999Z", "confirmed"),
        ("old", "2026-05-01T00:00:00Z", "confirmed"),
    ] {
        tables.decision("a", 1, json!({"id": id, "created_at": at, "settlement_status": status}));
    }
    let ratings = tables.rate(1);
    assert_eq!(factor(&ratings["a"], "settlement_reliability")["value"], 0.491667);
    assert_eq!(ratings["a"]["evidence"]["first_decision_at"], "2026-05-01T00:00:00.000Z");
    assert_eq!(ratings["a"]["evidence"]["material_all_time"], 4);
}

#[test]
fn a_label_counts_once_and_only_where_gate_6_flagged() {
    let mut tables = Tables::default();
    let parked = json!({"decision": "approved", "key_id": "k", "resolved_at": "2026-10-01T00:00:00Z"});
    for (agent, tier, label) in
        [("safe", "safe", "true_positive"), ("flagged", "warn", "true_positive"), ("benign", "watch", "benign")]
    {
        tables.agent(agent, agent);
        tables.decision(agent, 1, json!({
            "gate6_tier": tier, "gate6_label": label, "approval_status": "denied", "denial_reason": "REQUIRES_HUMAN_APPROVAL",
            "metadata": {"operator_resolution": parked},
        }));
    }
    let ratings = tables.rate(1000);
    let review = |agent: &str| factor(&ratings[agent], "operator_review").clone();
    assert_eq!((&review("safe")["n"], &review("safe")["value"]), (&json!(1), &json!(0.516667)));
    assert_eq!((&review("flagged")["n"], &review("flagged")["value"]), (&json!(1), &json!(0.483333)));
    assert_eq!((&review("benign")["n"], &review("benign")["value"]), (&json!(1), &json!(0.516667)));
    assert_eq!(factor(&ratings["safe"], "confirmed_true_positives")["n"], 0);
    assert_eq!(factor(&ratings["flagged"], "confirmed_true_positives")["n"], 1);
}

#[test]
fn the_largest_amounts_of_a_long_history_add_up() {
    let mut tables = Tables::default();
    tables.agent("a", "o");
    tables.agents[0]["per_transaction_limit"] = json!("999999999.999999");
    for day in 0..12_000 {
        tables.decision("a", day / 50, json!({"amount_usd": "999999999.999999", "gate6_tier": "critical"}));
    }
    let ratings = tables.rate(1000);
    // 12000 · 10^15 ten-millionths are past 64 bits.
    assert_eq!(ratings["a"]["evidence"]["material_all_time"], 12_000);
    assert_eq!(ratings["a"]["evidence"]["material"], 1000);
    assert_eq!(factor(&ratings["a"], "anomaly_history")["contribution"], 0);
}

#[test]
fn a_window_out_of_its_bound_is_an_error() {
    let dir = TempDir::new().unwrap();
    let resources = Resources::new(1, 64 << 20);
    let session = Session::open(&resources, &dir.path().join("spill")).unwrap();
    for window in [0, 1001, -1] {
        let outcome = rate(dir.path(), &dir.path().join("store"), &session, &parameters(window));
        assert!(matches!(outcome, Err(RatingError::Window(found)) if found == window));
    }
}
