//! The third stage: figures, documents and ratings, left unsigned in `documents/`.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow::array::RecordBatch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::audit::{Audited, FINDINGS, WITHHELD};
use super::rate::{REFUSED, put_ratings, refused_rows};
use super::{Inputs, NightError, PROFILE, before, fresh_folder, open_session, write};
use crate::engine::{Resources, Session};
use crate::rating::{self, Parameters};
use crate::reports::{self, Documents, Frame};
use crate::snapshot::document::Kind;
use crate::snapshot::manifest::{LedgerHead, RunFacts};
use crate::snapshot::tables::write_table;
use crate::warehouse::Warehouse;

pub(super) const FOLDER: &str = "documents";
pub(super) const RUN: &str = "run.json";

/// What the report stage says to the publish stage: `documents/run.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reported {
    /// What the manifest states.
    pub facts: RunFacts,
    /// `policy.json`.
    pub policy: Value,
    /// `method.json`, where agents were rated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Value>,
    /// The load that they were made from.
    pub load: u32,
    /// The audit's counts that they rest on.
    pub audited: BTreeMap<String, u64>,
    /// Error findings, those of rating rows included.
    pub errors: u64,
    /// Warnings, likewise.
    pub warnings: u64,
    /// Subjects with a report.
    pub subjects: u64,
    /// Documents a kind, by the kind's name.
    pub documents: BTreeMap<String, u64>,
    /// Flat tables, by name.
    pub tables: Vec<String>,
}

/// Computes every figure at `as_of` from a warehouse that has been audited for it, and leaves `documents/`.
///
/// It builds on the report before, where that is of this ledger and policy; `afresh` computes everything anew. The documents are the same.
pub fn report(warehouse: &Warehouse, as_of: i64, resources: &Resources, afresh: bool) -> Result<Reported, NightError> {
    let audited = Audited::open(warehouse, as_of)?;
    let inputs = Inputs::open(warehouse)?;
    let session = open_session(warehouse, &inputs, as_of, resources)?;
    session.register_parquet("finding", &[warehouse.join(FINDINGS)])?;
    session.register_parquet("withheld", &[warehouse.join(WITHHELD)])?;
    let derived = warehouse.join("derived");
    let frame = Frame::of(&inputs.policy, as_of);
    let before = if afresh {
        before::forget(warehouse);
        None
    } else {
        let why = |why: &String| tracing::info!("report: every interaction anew: {why}");
        before::take(warehouse, &inputs, as_of).inspect_err(why).ok()
    };
    let documents = match warehouse.state().head {
        Some(_) => reports::figures(&session, &inputs.policy, &frame, &derived, before.as_ref())?,
        None => Documents::default(),
    };
    before::leave(warehouse, &inputs, as_of)?;

    let beside = warehouse.join("documents.new");
    fresh_folder(&beside.join("tables"))?;
    let mut reported = Reported {
        facts: RunFacts {
            bureau: frame.bureau.clone(),
            as_of,
            profile: PROFILE.to_owned(),
            formula_versions: BTreeMap::from([("reports".to_owned(), frame.formula_version.clone())]),
            ledger: ledger_head(&session)?,
            audit: audited.counts.clone(),
        },
        load: audited.load,
        audited: audited.counts,
        policy: inputs.policy.to_json(),
        method: None,
        errors: audited.errors,
        warnings: audited.warnings,
        subjects: documents.subjects as u64,
        documents: BTreeMap::new(),
        tables: Vec::new(),
    };
    drop(session);
    let kinds = [
        (Kind::Report, &documents.reports),
        (Kind::Organization, &documents.organizations),
        (Kind::Evaluator, &documents.evaluators),
        (Kind::ScreeningProvider, &documents.screening_providers),
    ];
    let put_kinds = || -> Result<Vec<u64>, NightError> {
        kinds.into_par_iter().map(|(kind, inner)| put_documents(&beside, kind, inner.iter())).collect()
    };
    let put_tables = || -> Result<Vec<String>, NightError> {
        let put = |(name, batches): (&str, _)| put_table(&beside, name, batches).map(|()| name.to_owned());
        documents.tables.into_par_iter().map(put).collect()
    };
    let (counts, names) = rayon::join(put_kinds, put_tables);
    reported.documents.extend(kinds.iter().map(|(kind, _)| kind.name().to_owned()).zip(counts?));
    reported.tables.extend(names?);
    add_ratings(warehouse, resources, &inputs, &frame, &beside, &mut reported)?;
    write(&beside.join(RUN), &serde_json::to_vec_pretty(&reported).unwrap_or_default())?;
    let folder = warehouse.join(FOLDER);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|source| NightError::io(&folder, source))?;
    }
    std::fs::rename(&beside, &folder).map_err(|source| NightError::io(&folder, source))?;
    Ok(reported)
}

/// Rates the agents of the rating tables, where the export had them.
fn add_ratings(
    warehouse: &Warehouse,
    resources: &Resources,
    inputs: &Inputs,
    frame: &Frame,
    beside: &Path,
    reported: &mut Reported,
) -> Result<(), NightError> {
    let tables = warehouse.inputs().join("rating");
    write(&warehouse.join(REFUSED), b"")?;
    if !tables.is_dir() {
        return Ok(());
    }
    let parameters = Parameters {
        as_of: frame.as_of,
        expires_at: frame.expires_at,
        window_decisions: i64::try_from(inputs.policy.rating_window_decisions).unwrap_or(i64::MAX),
    };
    // No table of one method is in reach of the other.
    let session = Session::open(resources, &warehouse.join("spill"))?;
    let ratings = rating::rate(&tables, &warehouse.join("derived/rating"), &session, &parameters)?;
    write(&warehouse.join(REFUSED), &refused_rows(&ratings))?;
    let rated = put_ratings(&ratings, beside)?;
    reported.method = Some(rating::method(&parameters));
    reported.errors += rated.refused;
    reported.warnings += rated.counts.get("rating.reason").copied().unwrap_or_default();
    reported.documents.insert(Kind::Rating.name().to_owned(), rated.ratings);
    reported.tables.extend(rated.tables);
    reported.facts.audit.extend(rated.counts);
    reported.facts.formula_versions.insert("ratings".to_owned(), rating::METHOD.to_owned());
    Ok(())
}

/// Writes the inner objects of one kind, one a line. Returns how many there are.
pub(super) fn put_documents(
    folder: &Path,
    kind: Kind,
    inner: impl Iterator<Item = impl AsRef<[u8]>>,
) -> Result<u64, NightError> {
    let path = folder.join(kind.name()).with_extension("jsonl");
    let mut count = 0;
    let put = || {
        let mut file = BufWriter::new(std::fs::File::create(&path)?);
        for line in inner {
            file.write_all(line.as_ref())?;
            file.write_all(b"\n")?;
            count += 1;
        }
        file.flush()
    };
    put().map_err(|source| NightError::io(&path, source))?;
    Ok(count)
}

/// Writes one flat table, of at least one batch.
pub(super) fn put_table(folder: &Path, name: &str, batches: Vec<RecordBatch>) -> Result<(), NightError> {
    let path = folder.join("tables").join(name).with_extension("parquet");
    if let Some(first) = batches.first() {
        write_table(&path, first.schema(), batches.into_iter().map(Ok))?;
    }
    Ok(())
}

/// The last entry with `at` ≤ T, and how many entries exist at T; none where none does. An entry whose `at` cannot be read exists
/// (profile 1.7), and is no head.
fn ledger_head(session: &Session) -> Result<Option<LedgerHead>, NightError> {
    const QUERY: &str = "ledger_head";
    let rows = session.rows(QUERY, include_str!("../../queries/ledger_head.sql"))?;
    let (seq, hash, entries) = (rows.int("seq")?, rows.text("entry_hash")?, rows.int("entries")?);
    if rows.is_empty() {
        return Ok(None);
    }
    Ok(match (seq.get(0), hash.get(0), entries.get(0)) {
        (Some(seq), Some(hash), Some(entries)) => Some(LedgerHead { seq, entry_hash: hash.to_owned(), entries }),
        _ => None,
    })
}
