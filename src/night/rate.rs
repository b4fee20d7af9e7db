//! The second method by itself, and what it leaves for the publish stage.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

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
/// `out`, which must be empty or missing. On an error it stays so: everything is made in a hidden folder and renamed at the end.
pub fn rate(tables: &Path, out: &Path, parameters: &Parameters, resources: &Resources) -> Result<Rated, NightError> {
    if std::fs::read_dir(out).is_ok_and(|mut items| items.next().is_some()) {
        return Err(NightError::Input(format!("{}: is not empty; name a new folder", out.display())));
    }
    if out.exists() && !out.is_dir() {
        return Err(NightError::Input(format!("{}: is no folder", out.display())));
    }
    if !tables.is_dir() {
        return Err(NightError::Input(format!("{}: is no folder", tables.display())));
    }
    let made = hidden(out);
    let rated = rate_into(tables, &made, parameters, resources).and_then(|rated| {
        put_in_place(&made, out)?;
        Ok(rated)
    });
    if made.exists() {
        // After an error, of which the caller hears more than of this.
        let _ = std::fs::remove_dir_all(&made);
    }
    rated
}

/// The folder to work in: beside `out`, or inside one that is there already, which may be a mount and cannot be replaced then.
fn hidden(out: &Path) -> PathBuf {
    let mark = format!("rate-{}", std::process::id());
    match out.file_name() {
        Some(name) if !out.is_dir() => out.with_file_name(format!(".{}.{mark}", name.to_string_lossy())),
        _ => out.join(format!(".{mark}")),
    }
}

fn rate_into(tables: &Path, made: &Path, parameters: &Parameters, resources: &Resources) -> Result<Rated, NightError> {
    fresh_folder(&made.join("tables"))?;
    let work = made.join("work");
    let session = Session::open(resources, &work.join("spill"))?;
    let ratings = rating::rate(tables, &work, &session, parameters)?;
    let rated = put_ratings(&ratings, made)?;
    write(&made.join(REFUSED), &refused_rows(&ratings))?;
    write(&made.join("method.json"), &canonical::to_vec(&rating::method(parameters)))?;
    std::fs::remove_dir_all(&work).map_err(|source| NightError::io(&work, source))?;
    Ok(rated)
}

fn put_in_place(made: &Path, out: &Path) -> Result<(), NightError> {
    let fault = |source| NightError::io(out, source);
    if made.parent() != Some(out) {
        return std::fs::rename(made, out).map_err(fault);
    }
    let items = std::fs::read_dir(made).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(fault)?;
    let mut placed = Vec::new();
    for item in items {
        let to = out.join(item.file_name());
        if let Err(source) = std::fs::rename(item.path(), &to) {
            // What was placed goes back, to be removed with the rest.
            for name in placed {
                let _ = std::fs::rename(out.join(&name), made.join(&name));
            }
            return Err(fault(source));
        }
        placed.push(item.file_name());
    }
    std::fs::remove_dir(made).map_err(fault)
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
        put_table(folder, name, vec![batch])?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn made_and_placed(out: &Path) -> Vec<String> {
        let made = hidden(out);
        std::fs::create_dir_all(made.join("tables")).unwrap();
        std::fs::write(made.join("ratings.jsonl"), "x").unwrap();
        put_in_place(&made, out).unwrap();
        assert!(!made.exists());
        let mut names: Vec<_> =
            std::fs::read_dir(out).unwrap().map(|item| item.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_output_is_whole_in_a_new_folder_and_in_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["ratings.jsonl", "tables"];
        let (new, empty) = (folder.path().join("new"), folder.path().join("empty"));
        std::fs::create_dir(&empty).unwrap();
        assert_eq!(made_and_placed(&new), names);
        assert_eq!(made_and_placed(&empty), names);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
