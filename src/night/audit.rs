//! The second stage: every rule judged, the findings left in the warehouse.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::previous::{self, Earlier};
use super::{Inputs, NightError, open_session, write};
use crate::audit;
use crate::engine::Resources;
use crate::snapshot::tables::write_table;
use crate::warehouse::Warehouse;

/// What an audit says to the stages after it: `audit.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audited {
    /// *T*, in milliseconds.
    pub as_of: i64,
    /// The load whose ledger and inputs were judged.
    pub load: u32,
    /// Findings a rule.
    pub counts: BTreeMap<String, u64>,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
}

impl Audited {
    /// The file with every finding, one JSON object a line.
    pub fn findings(warehouse: &Warehouse) -> PathBuf {
        warehouse.join("findings.jsonl")
    }

    /// What the last audit left, which must be of this *T* and load.
    pub(super) fn open(warehouse: &Warehouse, as_of: i64) -> Result<Audited, NightError> {
        let path = warehouse.join(AUDIT);
        let stale = |what: &str| NightError::Stage {
            path: path.clone(),
            what: format!("{what}; run `bureau audit` for this instant first"),
        };
        let text = std::fs::read(&path).map_err(|_| stale("there is no audit"))?;
        let audited: Audited = serde_json::from_slice(&text).map_err(|_| stale("cannot be read"))?;
        if audited.as_of != as_of || audited.load != warehouse.number() {
            return Err(stale("the audit is of another instant or load"));
        }
        Ok(audited)
    }
}

/// The first ten error findings of the last audit, each with its place.
pub fn first_errors(warehouse: &Warehouse) -> Vec<String> {
    let text = std::fs::read_to_string(Audited::findings(warehouse)).unwrap_or_default();
    let findings = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let errors = findings.filter(|finding| finding["severity"] == "error");
    let words = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    errors
        .take(10)
        .map(|finding| format!("seq {}: {}: {}", finding["seq"], words(&finding["rule"]), words(&finding["message"])))
        .collect()
}

/// Forgets the last audit's result: another ledger, other inputs or another audit take its place.
pub(super) fn forget(warehouse: &Warehouse) -> Result<(), NightError> {
    let path = warehouse.join(AUDIT);
    match std::fs::remove_file(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(NightError::io(&path, source)),
        _ => Ok(()),
    }
}

const AUDIT: &str = "audit.json";
pub(super) const WITHHELD: &str = "withheld.parquet";
pub(super) const FINDINGS: &str = "findings.parquet";

/// Audits the warehouse at `as_of` and leaves `findings.jsonl`, `findings.parquet` (`seq, rule, severity, message`) and `audit.json` there.
///
/// It builds on the audit before, where that is of this ledger; `afresh` judges every entry anew. The findings are the same.
pub fn audit(warehouse: &Warehouse, as_of: i64, resources: &Resources, afresh: bool) -> Result<Audited, NightError> {
    let inputs = Inputs::open(warehouse)?;
    // What is left beside it from here on is this audit's.
    forget(warehouse)?;
    let session = open_session(warehouse, &inputs, as_of, resources)?;
    let earlier = if afresh {
        None
    } else {
        Earlier::open(warehouse, &inputs).inspect_err(|why| tracing::info!("audit: every entry anew: {why}")).ok()
    };
    let scratch = warehouse.join("derived/audit");
    let given = audit::Inputs {
        identities: &inputs.identities,
        charters: &inputs.charters,
        reporters: &inputs.reporters,
        policy: &inputs.policy,
        hashes: &inputs.hashes,
        as_of,
        scratch: &scratch,
        previous: earlier.as_ref().map(Earlier::as_previous),
    };
    let found = audit::audit(&session, &given)?;
    let mut lines = String::new();
    for finding in found.findings() {
        let line = serde_json::json!({
            "seq": finding.seq,
            "rule": finding.rule.name(),
            "severity": finding.rule.severity().as_str(),
            "message": finding.message,
        });
        let _ = writeln!(lines, "{line}");
    }
    write(&Audited::findings(warehouse), lines.as_bytes())?;
    for (name, batch) in [(FINDINGS, found.finding_table()?), (WITHHELD, found.withheld_table()?)] {
        write_table(&warehouse.join(name), batch.schema(), [Ok(batch)])?;
    }
    previous::leave(warehouse, &inputs, as_of, &found, &scratch)?;
    let audited = Audited {
        as_of,
        load: warehouse.number(),
        counts: found.counts().into_iter().map(|(rule, (_, count))| (rule.to_owned(), count)).collect(),
        errors: found.errors(),
        warnings: found.warnings(),
    };
    write(&warehouse.join(AUDIT), &serde_json::to_vec_pretty(&audited).unwrap_or_default())?;
    Ok(audited)
}
