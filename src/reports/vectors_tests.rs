//! The test vectors of fdbk-score-1 (§14), through the very queries that a night runs.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use serde_json::Value;

use super::number::{self, Weigher};
use super::plan::{FIRST, GATHERED, Query, SLICED};
use super::subject;
use super::{added, subject_rows};
use crate::engine::{Resources, Session};
use crate::instant;
use crate::policy::Decimal;

fn query(name: &str) -> Query {
    FIRST.into_iter().chain(SLICED.map(|(query, _)| query)).chain(GATHERED).find(|query| query.name == name).unwrap()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is no text"))
}

fn decimal(value: &Value, name: &str) -> Decimal {
    Decimal::parse(text(value, name)).unwrap()
}

/// The interactions that make the pool of a case: each attested by its own anchor, but for probes.
fn interactions(events: &[Value]) -> RecordBatch {
    let count = events.len();
    let texts = |of: &dyn Fn(&Value) -> Option<String>| -> ArrayRef {
        Arc::new(events.iter().map(of).collect::<StringArray>())
    };
    let probe = |event: &Value| matches!(text(event, "code"), "PASS" | "FAIL");
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count as i64));
    let no: ArrayRef = Arc::new(BooleanArray::from(vec![false; count]));
    let ended: TimestampMillisecondArray =
        events.iter().map(|event| instant::parse(text(event, "ended_at")).ok()).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("subject", texts(&|_| Some("S".to_owned()))),
        ("capability", texts(&|_| Some("c".to_owned()))),
        ("code", texts(&|event| Some(text(event, "code").to_owned()))),
        ("source", texts(&|event| Some(if probe(event) { "probe" } else { "attestation" }.to_owned()))),
        ("attestation_seq", Arc::clone(&numbers)),
        ("probe_seq", Arc::clone(&numbers)),
        ("fact_seq", Arc::clone(&numbers)),
        ("ended_at", Arc::new(ended.with_timezone("UTC"))),
        ("evaluator_anchor_hash", texts(&|event| (!probe(event)).then(|| format!("sha256:{event}")))),
        ("amounted", Arc::clone(&no)),
        ("enrollment", Arc::clone(&numbers)),
        ("late", Arc::clone(&no)),
        ("excluded", no),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

#[test]
fn the_queries_give_the_figures_of_every_vector() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fdbk-score-1.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() > 20);
    let folder = tempfile::tempdir().unwrap();
    for case in cases {
        let name = text(case, "name");
        let as_of = instant::parse(text(case, "as_of")).unwrap();
        let weigher = Weigher::new(&decimal(case, "half_life_days"), &decimal(case, "value_weight")).unwrap();
        let session = Session::open(&Resources::new(2, 64 << 20), folder.path()).unwrap();
        session.register_batch("interaction", interactions(case["events"].as_array().unwrap())).unwrap();
        let event = query("event");
        let weigh = |rows: RecordBatch| added::weight(&rows, &weigher, as_of);
        session.materialise(event.name, event.sql, &folder.path().join("event.parquet"), weigh).unwrap();
        let pool = query("pool");
        let pools = subject_rows::pools(&session.rows(pool.name, pool.sql).unwrap()).unwrap();
        let pool = pools.into_values().next().unwrap_or_default();
        let expected = &case["expected"];
        let same = |stated: &str, units: i128| {
            // The same digits at the same scale, without the point and leading zeros.
            let digits: String = stated.split('.').collect();
            assert_eq!(digits.trim_start_matches('0'), units.to_string().trim_start_matches('0'), "{name}");
        };
        same(text(expected, "n_eff"), pool.sum_w);
        same(text(expected, "sum_wv"), pool.sum_wv);
        let posterior = subject::posterior(&pool, None);
        for (member, found) in [
            ("a", posterior.a),
            ("b", posterior.b),
            ("mean", posterior.mean),
            ("sd", posterior.sd),
            ("lcb", posterior.lcb),
        ] {
            assert_eq!(expected[member].as_f64().map(f64::to_bits), Some(found.to_bits()), "{name}: {member}");
        }
        for (member, found) in [
            ("mean", number::six_places_of_f64(posterior.mean)),
            ("lcb", number::six_places_of_f64(posterior.lcb)),
            ("n_eff", number::six_places_of_decimal(pool.sum_w, 15)),
        ] {
            let found = found.map(number::millionths_to_json).map(Value::Number);
            assert_eq!(found.as_ref(), Some(&expected["published"][member]), "{name}: {member}");
        }
        let enough = pool.sum_w >= decimal(case, "unproven_threshold").units_ceil(15).unwrap();
        assert_eq!(text(expected, "state"), if enough { "RATED" } else { "UNPROVEN" }, "{name}");
    }
}
