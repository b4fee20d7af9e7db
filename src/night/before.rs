//! What a report leaves for the next night's, so that this one computes anew only what the night touched.
//!
//! `derived/before/` holds copies of the small results that say what changed, and `basis.json`, what all results in `derived/` rest on. A
//! report removes `basis.json` before it touches any of them, so that one that was broken off is built on by none.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Inputs, NightError, fresh_folder, write};
use crate::engine::STRETCH;
use crate::reports::{self, Before, plan};
use crate::warehouse::{Head, Warehouse, entry_hash_at};

const BASIS: &str = "basis.json";

#[derive(Serialize, Deserialize)]
struct Basis {
    /// The program and its queries.
    program: String,
    head: Head,
    as_of: i64,
    policy: Value,
    /// The files of the results in slices, and their lengths.
    files: Vec<(String, u64)>,
}

/// The report before, where this one may build on it; else why not. There is none any more until [`leave`] says so.
pub(super) fn take(warehouse: &Warehouse, inputs: &Inputs, as_of: i64) -> Result<Before, String> {
    let path = folder(warehouse).join(BASIS);
    let text = fs::read(&path).map_err(|_| "there is no earlier report".to_owned())?;
    fs::remove_file(&path).map_err(|fault| format!("{}: {fault}", path.display()))?;
    let basis: Basis = serde_json::from_slice(&text).map_err(|_| "the earlier report cannot be read".to_owned())?;
    if basis.program != program() {
        return Err("the earlier report is of another version".to_owned());
    }
    if basis.as_of > as_of {
        return Err("the earlier report is of a later instant".to_owned());
    }
    if basis.policy != inputs.policy.to_json() {
        return Err("the earlier report has another policy".to_owned());
    }
    let held = entry_hash_at(warehouse, basis.head.seq).ok().flatten();
    if held.as_deref() != Some(basis.head.entry_hash.as_str()) {
        return Err("the earlier report is of another ledger".to_owned());
    }
    let there = files(warehouse).map_err(|fault| fault.to_string())?;
    let compared =
        reports::COMPARED.iter().all(|name| folder(warehouse).join(name).with_extension("parquet").is_file());
    if there != basis.files || !compared {
        return Err("the earlier report's results are not all there".to_owned());
    }
    Ok(Before { head: basis.head.seq, as_of: basis.as_of })
}

/// Forgets the report before.
pub(super) fn forget(warehouse: &Warehouse) {
    // What cannot be removed is refused or overwritten by what comes next.
    let _ = fs::remove_file(folder(warehouse).join(BASIS));
}

/// Leaves the results in `derived/` for the next night.
pub(super) fn leave(warehouse: &Warehouse, inputs: &Inputs, as_of: i64) -> Result<(), NightError> {
    let Some(head) = warehouse.state().head.clone() else { return Ok(()) };
    let folder = folder(warehouse);
    fresh_folder(&folder)?;
    for name in reports::COMPARED {
        let from = warehouse.join("derived").join(name).with_extension("parquet");
        let to = folder.join(name).with_extension("parquet");
        fs::copy(&from, &to).map_err(|source| NightError::io(&from, source))?;
    }
    let files = files(warehouse).map_err(|source| NightError::io(&warehouse.join("derived"), source))?;
    let basis = Basis { program: program(), head, as_of, policy: inputs.policy.to_json(), files };
    write(&folder.join(BASIS), &serde_json::to_vec_pretty(&basis).unwrap_or_default())
}

fn folder(warehouse: &Warehouse) -> PathBuf {
    warehouse.join("derived").join(reports::BEFORE)
}

/// The program, its queries, and how it cuts their results into files.
fn program() -> String {
    format!("{} {} {STRETCH}", env!("CARGO_PKG_VERSION"), plan::digest())
}

/// The files of the results in slices and their lengths, by name.
fn files(warehouse: &Warehouse) -> std::io::Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for (query, _) in plan::SLICED {
        let folder: &Path = &warehouse.join("derived").join(query.name);
        for file in fs::read_dir(folder)? {
            let file = file?;
            found.push((format!("{}/{}", query.name, file.file_name().to_string_lossy()), file.metadata()?.len()));
        }
    }
    found.sort();
    Ok(found)
}
