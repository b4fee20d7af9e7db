//! The private store of a bureau: the ledger as typed Parquet, with the canonical bytes that were hashed.
//!
//! ```text
//! warehouse/
//!   state.json          what has been loaded: the head, and the parts that make each table
//!   ledger/000001.parquet, fact/000001.parquet, …   one folder a table, one part a load
//!   inputs/000001/      identities, charters, reporters and policy as that load found them
//!   derived/            intermediates of the last run; in before/ those that the next one compares
//!   last-audit/         what the next audit builds on
//!   documents/          what the last report stage left for publishing
//! ```
//!
//! `state.json` is the commit point of a load: a part that it does not name is no part of the warehouse, so a load that fails or is
//! killed leaves what was there. It is replaced by rename after every part has been synced.
//!
//! A file of an export whose bytes an earlier load read is not read again; every part of a ledger that stands in such files was checked then.
//!
//! This room knows schemas and files. It knows no rule and no figure.

mod builder;
mod known;
mod load;
mod lookup;
mod pages;
mod pipeline;
pub mod schema;
mod state;
mod tables;
mod verify;
mod writer;

pub use builder::{Row, TableBuilder, Value};
pub use known::KnownFile;
pub use load::{FAULT_LIMIT, Input, LoadOptions, Loaded, load};
pub use lookup::entry_hash_at;
pub use pages::{Page, Pages};
pub use state::{Head, State, Warehouse};
pub use verify::{ChainVerdict, verify_chain};
pub use writer::{ROW_GROUP_ROWS, Rows, TableWriter};

use std::path::{Path, PathBuf};

use crate::export::ExportError;
use crate::ledger::BrokenChain;

/// A fault of one line of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineFault {
    /// The file, as the export names it.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The byte within the uncompressed file, from 0.
    pub byte: u64,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for LineFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: byte {}: {}", self.file, self.line, self.byte, self.what)
    }
}

/// Why an export was not loaded, or a warehouse not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WarehouseError {
    /// Lines that are no entries. All of the first faults, up to [`FAULT_LIMIT`].
    #[error("{}", lines(faults, *more))]
    Lines {
        /// The faults, in the ledger's order.
        faults: Vec<LineFault>,
        /// True where reading stopped at the limit.
        more: bool,
    },
    /// The chain is broken.
    #[error("{0}")]
    Chain(Box<BrokenChain>),
    /// The export cannot be read.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The export's ledger is not the one that the warehouse holds.
    #[error(
        "seq {seq}: the export has entry_hash {export}, the warehouse has {warehouse}: the ledger was rewritten or is another one; nothing is loaded (--new-ledger loads it all the same)"
    )]
    Rewritten {
        /// The entry.
        seq: i64,
        /// What the export has there.
        export: String,
        /// What was loaded.
        warehouse: String,
    },
    /// The ledger holds no entry.
    #[error("{}: the ledger is empty; an export holds at least one entry", path.display())]
    Empty {
        /// The export.
        path: PathBuf,
    },
    /// There is no warehouse, or one that this program did not write.
    #[error("{}: {what}; load the export first", path.display())]
    NotAWarehouse {
        /// The folder.
        path: PathBuf,
        /// What is missing or strange.
        what: String,
    },
    /// Another run holds the warehouse.
    #[error("{}: another run is at work here; wait for it to end", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A Parquet file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the library says.
        source: parquet::errors::ParquetError,
    },
}

impl WarehouseError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> WarehouseError {
        WarehouseError::Io { path: path.to_path_buf(), source }
    }

    pub(crate) fn parquet(path: &Path, source: parquet::errors::ParquetError) -> WarehouseError {
        WarehouseError::Parquet { path: path.to_path_buf(), source }
    }
}

fn lines(faults: &[LineFault], more: bool) -> String {
    let mut text: Vec<String> = faults.iter().map(LineFault::to_string).collect();
    if more {
        text.push("reading stopped here: there may be more".to_owned());
    }
    text.join("\n")
}
