//! The last stage: documents signed and published whole.

use std::path::Path;

use super::NightError;
use super::audit::{Audited, first_errors};
use super::rate::REFUSED;
use super::report::{FOLDER, RUN, Reported};
use crate::ledger::canonical;
use crate::snapshot::document::Kind;
use crate::snapshot::history::KeySet;
use crate::snapshot::keys::BureauKey;
use crate::snapshot::publish::{self, Draft, Options, Published};
use crate::warehouse::Warehouse;

/// What the operator says about publishing.
#[derive(Debug, Clone, Copy, Default)]
pub struct PublishOptions {
    /// Publish though there are error findings.
    pub with_findings: bool,
    /// Replace a snapshot of the same *T* that has other bytes.
    pub replace: bool,
    /// Allow fewer reports than the last snapshot has.
    pub allow_fewer: bool,
}

/// Signs what the report stage left, and publishes it under `out/snapshots`.
pub fn publish(
    warehouse: &Warehouse,
    out: &Path,
    key: &BureauKey,
    keys: &KeySet,
    options: PublishOptions,
) -> Result<Published, NightError> {
    let folder = warehouse.join(FOLDER);
    let path = folder.join(RUN);
    let missing =
        |what: &str| NightError::Stage { path: path.clone(), what: format!("{what}; run `bureau report` first") };
    let text = std::fs::read(&path).map_err(|_| missing("there are no documents"))?;
    let reported: Reported = serde_json::from_slice(&text).map_err(|_| missing("cannot be read"))?;
    let audited = Audited::open(warehouse, reported.facts.as_of)?;
    if reported.load != warehouse.number() || reported.audited != audited.counts {
        return Err(missing("the documents are of another load or audit"));
    }
    if reported.errors > 0 && !options.with_findings {
        let mut first = first_errors(warehouse);
        first.extend(first_refused(warehouse));
        first.truncate(10);
        return Err(NightError::Findings { errors: reported.errors, first, findings: Audited::findings(warehouse) });
    }
    let documents = Kind::ALL
        .into_iter()
        .filter(|kind| reported.documents.contains_key(kind.name()))
        .map(|kind| (kind, folder.join(kind.name()).with_extension("jsonl")))
        .collect();
    let tables = reported
        .tables
        .iter()
        .map(|name| (name.clone(), folder.join("tables").join(name).with_extension("parquet")))
        .collect();
    let draft = Draft {
        facts: reported.facts,
        policy_json: canonical::to_vec(&reported.policy),
        method_json: reported.method.as_ref().map(canonical::to_vec),
        documents,
        tables,
    };
    let options = Options { replace: options.replace, allow_fewer: options.allow_fewer };
    Ok(publish::publish(&out.join("snapshots"), &draft, key, keys, options)?)
}

/// The first refused rows of the rating tables, each with its place.
fn first_refused(warehouse: &Warehouse) -> Vec<String> {
    let text = std::fs::read_to_string(warehouse.join(REFUSED)).unwrap_or_default();
    let rows = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let words = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    rows.take(10)
        .map(|row| {
            let place = row["row"].as_u64().map_or(String::new(), |number| format!(" row {number}"));
            format!("rating/{}{place}: {}: {}", words(&row["table"]), words(&row["rule"]), words(&row["reason"]))
        })
        .collect()
}
