//! The same tables as Parquet: decimals, timestamps with and without a zone, `metadata` as a struct and as JSON text.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field};
use parquet::arrow::ArrowWriter;
use serde_json::json;
use tempfile::TempDir;

use super::support::{Tables, run};
use crate::instant;

const DAY: i64 = 86_400_000_000;

fn write(dir: &Path, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(dir.join(name)).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn text<const N: usize>(values: [Option<&str>; N]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// Days from 2026-02-01, and half a millisecond more, which is cut.
fn days(values: &[i64]) -> TimestampMicrosecondArray {
    let start = instant::parse("2026-02-01T00:00:00Z").unwrap() * 1000;
    values.iter().map(|day| Some(start + day * DAY + 500)).collect()
}

/// Two decisions: one cleared and resolved by nobody, one parked and approved.
fn transactions(dir: &Path, created: TimestampMicrosecondArray, amount: ArrayRef, metadata: ArrayRef) {
    let columns = vec![
        ("id", text([Some("t0"), Some("t1")])),
        ("agent_id", text([Some("a"), Some("a")])),
        ("created_at", Arc::new(created) as ArrayRef),
        ("route", text([Some("/x402-pay"), Some("/authorize-intent")])),
        ("amount_usd", amount),
        ("approval_status", text([Some("approved"), Some("denied")])),
        ("denial_reason", text([None, Some("REQUIRES_HUMAN_APPROVAL")])),
        ("receipt_signed", Arc::new(BooleanArray::from(vec![true, false])) as ArrayRef),
        ("metadata", metadata),
    ];
    write(dir, "transactions.parquet", columns);
}

fn with_zone(values: &[i64]) -> TimestampMicrosecondArray {
    days(values).with_timezone("UTC")
}

fn decimals(scale: i8, values: Vec<i128>) -> ArrayRef {
    Arc::new(Decimal128Array::from(values).with_precision_and_scale(18, scale).unwrap())
}

fn structs() -> ArrayRef {
    let column = |name: &str, array: ArrayRef| (Arc::new(Field::new(name, array.data_type().clone(), true)), array);
    let resolution = StructArray::from(vec![
        column("decision", text([None, Some("approved")])),
        column("key_id", text([None, Some("k")])),
        column("resolved_at", Arc::new(with_zone(&[0, 5]))),
    ]);
    let fields = resolution.fields().clone();
    let (_, arrays, _) = resolution.into_parts();
    let resolution = StructArray::new(fields, arrays, Some(vec![false, true].into()));
    Arc::new(StructArray::from(vec![
        column("caller_authenticated", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        column("operator_resolution", Arc::new(resolution)),
    ]))
}

fn json_text() -> ArrayRef {
    let resolved =
        r#"{"operator_resolution":{"decision":"approved","key_id":"k","resolved_at":"2026-02-06T00:00:00Z"}}"#;
    text([Some(r#"{"caller_authenticated":true}"#), Some(resolved)])
}

fn base() -> (TempDir, Tables) {
    let mut tables = Tables::default();
    tables.agent("a", "o");
    tables.decision(
        "a",
        3,
        json!({"id": "t0", "route": "/x402-pay", "amount_usd": "0.75", "metadata": {"caller_authenticated": true}}),
    );
    tables.decision("a", 4, json!({
        "id": "t1", "amount_usd": "2", "receipt_signed": false, "approval_status": "denied", "denial_reason": "REQUIRES_HUMAN_APPROVAL",
        "metadata": {"operator_resolution": {"decision": "approved", "key_id": "k", "resolved_at": "2026-02-06T00:00:00Z"}},
    }));
    let dir = TempDir::new().unwrap();
    tables.write(dir.path());
    (dir, tables)
}

#[test]
fn parquet_and_json_lines_of_the_same_rows_rate_alike() {
    let (dir, tables) = base();
    let expected = tables.rate(1000);
    assert_eq!(expected["a"]["evidence"]["parked_decisions_approved"], 1);
    std::fs::remove_file(dir.path().join("transactions.jsonl")).unwrap();
    for amount in [text([Some("0.75"), Some("2.0")]), decimals(2, vec![75, 200]), decimals(6, vec![750_000, 2_000_000])]
    {
        for metadata in [structs(), json_text()] {
            transactions(dir.path(), with_zone(&[3, 4]), Arc::clone(&amount), metadata);
            let ratings = run(dir.path(), 1000);
            assert_eq!(ratings.refused, []);
            assert_eq!(ratings.documents().next(), expected.get("a").cloned());
        }
    }
}

#[test]
fn a_parquet_row_is_refused_for_what_text_could_not_say() {
    let (dir, _) = base();
    std::fs::remove_file(dir.path().join("transactions.jsonl")).unwrap();
    let refused =
        || run(dir.path(), 1000).refused.into_iter().map(|r| (r.row.unwrap(), r.member.unwrap())).collect::<Vec<_>>();
    let good = || decimals(2, vec![75, 200]);

    transactions(dir.path(), days(&[3, 4]), good(), structs());
    assert_eq!(refused(), [(1, "created_at"), (2, "created_at")], "a local time");
    transactions(dir.path(), with_zone(&[3, 4]), decimals(7, vec![75, 200]), structs());
    assert_eq!(refused(), [(1, "amount_usd"), (2, "amount_usd")], "seven places");
    transactions(dir.path(), with_zone(&[3, 4]), decimals(0, vec![-1, 1_000_000_000]), structs());
    assert_eq!(refused(), [(1, "amount_usd"), (2, "amount_usd")], "negative, and ten digits");
    transactions(dir.path(), with_zone(&[3, 4]), Arc::new(Float64Array::from(vec![0.75, 2.0])), structs());
    assert_eq!(refused(), [(1, "amount_usd"), (2, "amount_usd")], "a double is no money");
    transactions(dir.path(), with_zone(&[3, 4]), good(), text([Some("[]"), Some(r#"{"a":1,"a":2}"#)]));
    assert_eq!(refused(), [(1, "metadata"), (2, "metadata")], "no object, and one member twice");
    transactions(
        dir.path(),
        with_zone(&[3, 4]),
        good(),
        text([None, Some(r#"{"operator_resolution":{"decision":"approved"}}"#)]),
    );
    assert_eq!(refused(), [(1, "metadata"), (2, "metadata.operator_resolution.resolved_at")]);
    transactions(dir.path(), with_zone(&[3, 4]), good(), Arc::new(BooleanArray::from(vec![Some(true), None])));
    assert_eq!(refused(), [(1, "metadata"), (2, "metadata")]);
}

#[test]
fn a_column_that_is_not_there_is_absent_from_every_row() {
    let (dir, _) = base();
    std::fs::remove_file(dir.path().join("agents.jsonl")).unwrap();
    write(dir.path(), "agents.parquet", vec![("id", text([Some("a")])), ("mpp_did", text([Some("d")]))]);
    let ratings = run(dir.path(), 1000);
    let members: Vec<_> =
        ratings.refused.iter().map(|refused| (refused.table.as_str(), refused.member.unwrap())).collect();
    assert_eq!(members, [("agents", "organization_id"), ("transactions", "agent_id"), ("transactions", "agent_id")]);
    assert_eq!(DataType::Utf8, *text([None]).data_type());
}
