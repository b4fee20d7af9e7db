//! The files of an export that an earlier load has read already: what has the same bytes holds the same entries, every one of which was
//! checked then.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::WarehouseError;
use super::state::State;
use crate::export::{Export, ExportFile, FileDigest};

/// Parts that a table may have before a load reads all files again and joins them.
const MAX_PARTS: usize = 100;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFile {
    /// Its bytes.
    #[serde(flatten)]
    pub digest: FileDigest,
    /// How it was compressed, as its name says: the end of it, or nothing.
    pub compression: String,
    /// Its last entry, or where it has none that of the file before.
    pub last_seq: i64,
}

/// The end of a file's name that says how it is compressed; nothing where it is not.
pub(super) fn compression(name: &str) -> &str {
    [".zst", ".gz"].into_iter().find(|end| name.ends_with(end)).unwrap_or_default()
}

/// The first files of an export that the warehouse was loaded from, byte for byte and in this order.
pub(super) fn files(export: &Export, state: &State) -> Result<Vec<KnownFile>, WarehouseError> {
    if state.loads.len() >= MAX_PARTS {
        return Ok(Vec::new());
    }
    let same = |(file, known): (&ExportFile, &KnownFile)| -> Result<bool, WarehouseError> {
        let io = |source| WarehouseError::io(&file.path, source);
        let found = std::fs::metadata(&file.path).map_err(io)?;
        let named = compression(&file.name) == known.compression;
        Ok(named
            && found.is_file()
            && found.len() == known.digest.bytes
            && FileDigest::of(file).map_err(io)? == known.digest)
    };
    let pairs: Vec<_> = export.ledger.iter().zip(&state.files).collect();
    let same: Vec<bool> = pairs.into_par_iter().map(same).collect::<Result<_, _>>()?;
    let known: Vec<KnownFile> =
        state.files.iter().zip(same).take_while(|(_, same)| *same).map(|(known, _)| known.clone()).collect();
    // Files without an entry say nothing of where the ledger is.
    Ok(if known.last().is_some_and(|last| last.last_seq > 0) { known } else { Vec::new() })
}
