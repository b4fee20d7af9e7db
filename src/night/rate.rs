//! The second method by itself, and what it leaves for the publish stage.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use super::report::{FOLDER, put_documents, put_table};
use super::{NightError, fresh_folder, write};
use crate::engine::{Resources, Session};
use crate::ledger::canonical;
use crate::rating::{self, Parameters, Ratings};
use crate::snapshot::document::Kind;
use crate::warehouse::Warehouse;

/// Refused rows of the rating tables, one JSON object a line.
pub(super) const REFUSED: &str = "refused-rows.jsonl";

/// What rating gave, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rated {
    /// Ratings, one an agent.
    pub ratings: u64,
    /// Rows and files that count for nothing.
    pub refused: u64,
    /// The audit counts of profile 4.1.
    pub counts: BTreeMap<String, u64>,
    /// Flat tables, by name.
    pub tables: Vec<String>,
}

/// Rates the tables of a folder and leaves `ratings.jsonl` (inner objects, unsigned), `method.json`, `refused-rows.jsonl` and `tables/` in
/// `out`, which must be empty or missing.
pub fn rate(tables: &Path, out: &Path, parameters: &Parameters, resources: &Resources) -> Result<Rated, NightError> {
    if std::fs::read_dir(out).is_ok_and(|mut items| items.next().is_some()) {
        return Err(NightError::Input(format!("{}: is not empty; name a new folder", out.display())));
    }
    if !tables.is_dir() {
        return Err(NightError::Input(format!("{}: is no folder", tables.display())));
    }
    fresh_folder(&out.join("tables"))?;
    let work = out.join("work");
    let session = Session::open(resources, &work.join("spill"))?;
    let ratings = rating::rate(tables, &work, &session, parameters)?;
    let rated = put_ratings(&ratings, out)?;
    write(&out.join(REFUSED), &refused_rows(&ratings))?;
    write(&out.join("method.json"), &canonical::to_vec(&rating::method(parameters)))?;
    std::fs::remove_dir_all(&work).map_err(|source| NightError::io(&work, source))?;
    Ok(rated)
}

/// The rating of an agent that the last report stage left.
pub fn rating_of(warehouse: &Warehouse, agent: &str) -> Result<Value, NightError> {
    let path = warehouse.join(FOLDER).join(Kind::Rating.name()).with_extension("jsonl");
    let missing = |what: &str| NightError::Stage { path: path.clone(), what: what.to_owned() };
    let file =
        File::open(&path).map_err(|_| missing("there are no ratings; load an export with rating/ and report"))?;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|source| NightError::io(&path, source))?;
        let rating: Value = serde_json::from_str(&line).map_err(|_| missing("cannot be read; report again"))?;
        if rating["agent_id"] == agent {
            return Ok(rating);
        }
    }
    Err(missing(&format!("there is no rating of agent {agent}")))
}

/// Writes documents and flat tables into a folder that has `tables/`.
pub(super) fn put_ratings(ratings: &Ratings, folder: &Path) -> Result<Rated, NightError> {
    let count = put_documents(folder, Kind::Rating, ratings.documents().map(|inner| canonical::to_vec(&inner)))?;
    let mut tables = Vec::new();
    for (name, batch) in ratings.flat()? {
        put_table(folder, name, batch)?;
        tables.push(name.to_owned());
    }
    Ok(Rated {
        ratings: count,
        refused: ratings.refused.len() as u64,
        counts: ratings.audit().into_iter().map(|(rule, count)| (rule.to_owned(), count)).collect(),
        tables,
    })
}

/// A refused row or file, as one JSON object a line.
pub(super) fn refused_rows(ratings: &Ratings) -> Vec<u8> {
    let line = |refused: &rating::Refused| {
        let line = serde_json::json!({
            "rule": refused.rule(),
            "table": refused.table,
            "row": refused.row,
            "id": refused.id,
            "member": refused.member,
            "reason": refused.reason,
        });
        format!("{line}\n").into_bytes()
    };
    ratings.refused.iter().flat_map(line).collect()
}
