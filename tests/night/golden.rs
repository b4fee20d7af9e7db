//! The bundled exports with the figures that an independent implementation computed, digit for digit.

use std::collections::BTreeSet;
use std::fs;

use bureau::ledger::canonical;
use serde_json::Value;

use crate::command::{Place, assert_success, fixture};

fn expected(name: &str, table: &str) -> Vec<String> {
    let text = fs::read_to_string(fixture(name).join("expected").join(format!("{table}.jsonl"))).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| String::from_utf8(canonical::to_vec(&serde_json::from_str::<Value>(line).unwrap())).unwrap())
        .collect()
}

fn findings(text: &str) -> BTreeSet<(i64, String)> {
    let lines = text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["seq"].as_i64().unwrap(), line["rule"].as_str().unwrap().to_owned())).collect()
}

fn as_expected(name: &str, more: &[&str]) {
    let place = Place::new(name);
    assert_success(&place.night("out", more));
    for (table, member) in [
        ("reports", "report"),
        ("organizations", "organization_report"),
        ("evaluators", "evaluator_report"),
        ("screening-providers", "screening_provider"),
    ] {
        let (found, wanted) = (place.documents("out", table, member), expected(name, table));
        assert!(!wanted.is_empty());
        assert_eq!(found.len(), wanted.len(), "{table}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted, "{table}");
        }
    }
    let run: Value =
        serde_json::from_str(&fs::read_to_string(fixture(name).join("expected/run.json")).unwrap()).unwrap();
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(place.snapshot("out").join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["manifest"]["ledger"], run["head"]);
    assert_eq!(manifest["manifest"]["audit"], run["audit"]);
    assert_eq!(manifest["manifest"]["as_of"], run["as_of"]);
    let found = fs::read_to_string(place.path("out/warehouse/findings.jsonl")).unwrap();
    let wanted = fs::read_to_string(fixture(name).join("expected/findings.jsonl")).unwrap();
    assert_eq!(findings(&found), findings(&wanted));
}

#[test]
fn the_small_export_has_its_expected_figures() {
    as_expected("small", &[]);
}

#[test]
fn a_policy_away_from_the_defaults_has_its_expected_figures() {
    as_expected("policy", &[]);
}

#[test]
fn an_export_full_of_attacks_has_its_expected_findings_and_figures() {
    as_expected("attacks", &["--publish-with-findings"]);
}

#[test]
fn findings_stop_publication() {
    let place = Place::new("attacks");
    let output = place.night("out", &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("249 error findings: nothing is published"), "{said}");
    assert!(said.contains("bureau: seq 130: entry.schema: detail.screening"), "{said}");
    assert!(!place.path("out/snapshots").exists());
}

#[test]
fn ratings_are_as_expected_and_refused_rows_stop_publication() {
    for (name, more) in [("skalor", &[][..]), ("skalor-bad", &["--publish-with-findings"][..])] {
        let place = Place::new(name);
        fs::write(place.path("export/policy.toml"), "bureau = \"https://bureau.example\"\n").unwrap();
        let mut arguments = vec!["run", "--export", "export", "--out", "out", "--as-of", crate::command::AS_OF];
        arguments.extend(["--key", "key.pem"]);
        if !more.is_empty() {
            assert_eq!(place.bureau(&arguments).status.code(), Some(1));
            assert!(!place.path("out/snapshots").exists());
        }
        arguments.extend(more);
        assert_success(&place.bureau(&arguments));
        let mut wanted: Vec<Value> =
            expected(name, "ratings").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut found: Vec<Value> = place
            .documents("out", "ratings", "rating")
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        wanted.iter_mut().chain(&mut found).for_each(leave_out_words);
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted);
        }
    }
}

/// The words of these members are examples; that they are there and not empty is not.
fn leave_out_words(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if matches!(name.as_str(), "detail" | "reason" | "summary" | "notice") && member.is_string() {
                    assert_ne!(member, "");
                    *member = Value::Null;
                }
                leave_out_words(member);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_words),
        _ => {}
    }
}
