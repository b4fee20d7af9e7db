//! A small snapshot of made-up documents, for the tests of this room.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Schema};
use serde_json::{Value, json};

use super::canonical;
use super::document::Kind;
use super::keys::BureauKey;
use super::manifest::{LedgerHead, RunFacts};
use super::publish::Draft;
use super::tables::{column, write_table};
use crate::instant;

/// 2026-11-30T00:00:00Z.
pub(super) const T: i64 = 1_796_000_000_000 - 3_200_000;
/// A day later.
pub(super) const NEXT: i64 = T + instant::DAY_MS;

/// The key of RFC 8037 appendix A, as `openssl pkey` writes it.
pub(super) const RFC8037_PEM: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n";

pub(super) fn key() -> BureauKey {
    BureauKey::from_pem(RFC8037_PEM, "the key of RFC 8037").unwrap()
}

pub(super) fn facts(as_of: i64) -> RunFacts {
    RunFacts {
        bureau: "https://bureau.example".to_owned(),
        as_of,
        profile: "test".to_owned(),
        formula_versions: BTreeMap::from([("score".to_owned(), "fdbk-score-1".to_owned())]),
        ledger: Some(LedgerHead {
            seq: 7,
            entry_hash: "Vs7V27WkTaPVfvW3Xxj3bCZqfskDC6Qk/18L+uggAFM=".to_owned(),
            entries: 7,
        }),
        audit: BTreeMap::from([("fact.duplicate".to_owned(), 2), ("sig.key".to_owned(), 0)]),
    }
}

/// A report's inner object: events stood behind it where `newest` is given.
pub(super) fn report(as_of: i64, subject: &str, capability: Option<&str>, newest: Option<&str>) -> Value {
    json!({
        "subject": subject, "capability": capability, "bureau": "https://bureau.example", "formula_version": "fdbk-score-1",
        "evidence": {"newest": newest}, "quality": {"lcb": 0.123456, "mean": 0.5, "n_eff": 21},
        "issued_at": instant::format(as_of), "expires_at": instant::format(as_of + 26 * 3_600_000),
    })
}

/// The reports that most tests publish: one of each sort.
pub(super) fn reports(as_of: i64) -> Vec<Value> {
    let newest = Some("2026-11-29T16:18:59.363Z");
    vec![
        report(as_of, "Audit.ana@mail.example", None, None),
        report(as_of, "Coder.kim@mail.example", Some("code-review"), newest),
        report(as_of, "Coder.kim@mail.example", Some("摘要"), None),
        report(as_of, "Δelta.é@mail.example", Some("🧪lab"), newest),
    ]
}

/// Inputs of a draft, written to `folder`.
pub(super) fn draft(folder: &Path, as_of: i64, reports: &[Value]) -> Draft {
    std::fs::create_dir_all(folder).unwrap();
    let dates = json!({"issued_at": instant::format(as_of), "expires_at": instant::format(as_of + 26 * 3_600_000)});
    let dated = |mut value: Value| {
        value.as_object_mut().unwrap().extend(dates.as_object().unwrap().clone());
        value
    };
    let organizations = [
        dated(json!({"anchor": "acme.example", "members": []})),
        dated(json!({"anchor": "mail.example", "members": []})),
    ];
    let evaluators = [dated(json!({"evaluator": "Audit.ana@mail.example", "volume": 3, "offset": -0.25}))];
    let providers = [json!({"id": "guard", "blocked": 1, "released": 0, "open": 2})];
    let ratings = [dated(json!({"agent_id": "a1", "score": 612})), dated(json!({"agent_id": "a2", "score": 0}))];
    let files: [(Kind, &[Value]); 5] = [
        (Kind::Report, reports),
        (Kind::Organization, &organizations),
        (Kind::Evaluator, &evaluators),
        (Kind::ScreeningProvider, &providers),
        (Kind::Rating, &ratings),
    ];
    let documents = files.map(|(kind, values)| (kind, lines(folder, kind, values))).into_iter().collect();
    Draft {
        facts: facts(as_of),
        method_json: None,
        policy_json: b"{\"bureau\":\"https://bureau.example\"}\n".to_vec(),
        documents,
        tables: vec![("reports".to_owned(), table(folder))],
    }
}

pub(super) fn lines(folder: &Path, kind: Kind, values: &[Value]) -> PathBuf {
    let path = folder.join(format!("{}.jsonl", kind.name()));
    let text: Vec<u8> = values.iter().flat_map(|value| [canonical::to_vec(value), b"\n".to_vec()].concat()).collect();
    std::fs::write(&path, text).unwrap();
    path
}

fn table(folder: &Path) -> PathBuf {
    let path = folder.join("reports.parquet");
    let schema = Arc::new(Schema::new(vec![
        column("subject", DataType::Utf8, false, "the agent", ""),
        column("count_90d", DataType::Int64, true, "interactions", "interactions in 90 days"),
    ]));
    let columns: Vec<arrow::array::ArrayRef> =
        vec![Arc::new(StringArray::from(vec!["a", "b"])), Arc::new(Int64Array::from(vec![Some(1), None]))];
    write_table(&path, Arc::clone(&schema), [RecordBatch::try_new(schema, columns)]).unwrap();
    path
}
