//! The handed-out tables, whole: every rating but its words, and every refused row but its reason.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::{check_sums, run};

const PROSE: [&str; 4] = ["detail", "reason", "summary", "notice"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The value with every prose text as the same text where it is not empty, and whole numbers as integers.
fn figures(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) if PROSE.contains(&name.as_str()) && !text.trim().is_empty() => {
                    (name.clone(), Value::from("(some text)"))
                }
                _ => (name.clone(), figures(value)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(figures).collect(),
        other => other.clone(),
    }
}

fn agrees(name: &str) -> super::super::Ratings {
    let ratings = run(&fixture(name).join("export/rating"), 1000);
    let expected = lines(&fixture(name).join("expected/ratings.jsonl"));
    assert_eq!(expected.len(), ratings.ratings.len());
    for (expected, found) in expected.iter().zip(ratings.documents()) {
        assert_eq!(figures(expected), figures(&found), "{}", expected["agent_id"]);
        check_sums(&found);
        if let Some(notice) = found.get("notice") {
            assert!(found["summary"].as_str().unwrap().starts_with(notice.as_str().unwrap()));
        }
        assert!(super::super::explain(&found).contains(found["agent_id"].as_str().unwrap()));
    }
    ratings
}

#[test]
fn every_rating_of_the_valid_tables_is_the_expected_one() {
    let ratings = agrees("skalor");
    assert_eq!(ratings.refused, []);
    assert_eq!(ratings.audit().keys().collect::<Vec<_>>(), [&"rating.reason"]);
    let [(_, rows), (_, factors)] = ratings.flat().unwrap();
    assert_eq!(rows.num_rows(), ratings.ratings.len());
    let items: usize = ratings.ratings.iter().map(|rating| rating.factors.len() + rating.unscorable.len()).sum();
    assert_eq!(factors.num_rows(), items);
    for batch in [rows, factors] {
        assert!(batch.schema().fields().iter().all(|field| field.metadata().contains_key("unit")));
        assert!(batch.column_by_name("data_provenance").is_some());
    }
}

#[test]
fn every_refused_row_is_the_expected_one_and_counts_for_nothing() {
    let ratings = agrees("skalor-bad");
    let expected = lines(&fixture("skalor-bad").join("expected/errors.jsonl"));
    let name = |value: &Value| value.as_str().map(str::to_owned);
    let expected: Vec<_> = expected
        .iter()
        .map(|error| (name(&error["table"]), error["row"].as_u64(), name(&error["id"]), name(&error["member"])))
        .collect();
    let found: Vec<_> = ratings
        .refused
        .iter()
        .map(|refused| {
            (Some(refused.table.clone()), refused.row, refused.id.clone(), refused.member.map(str::to_owned))
        })
        .collect();
    assert_eq!(expected, found);
    assert_eq!(ratings.audit().get("rating.row"), Some(&61));
    assert_eq!(ratings.audit().get("rating.table"), Some(&1));
}
