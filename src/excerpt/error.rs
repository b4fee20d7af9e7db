//! Why there is no excerpt, or nothing to compare.

use std::path::{Path, PathBuf};

use crate::engine::EngineError;
use crate::night::NightError;
use crate::reports::ReportsError;
use crate::snapshot::SnapshotError;
use crate::warehouse::WarehouseError;

/// A failure of this room. A refuted report is none: it is a [`super::Verdict`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExcerptError {
    /// The warehouse.
    #[error(transparent)]
    Warehouse(#[from] WarehouseError),
    /// What an earlier stage left.
    #[error(transparent)]
    Night(#[from] NightError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The figures.
    #[error(transparent)]
    Reports(#[from] ReportsError),
    /// A key.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A table could not be built.
    #[error("a table: {0}")]
    Table(#[from] arrow::error::ArrowError),
    /// The bureau holds nothing about the subject.
    #[error(
        "{subject}: the ledger holds no entry about this subject at {as_of}; handles are compared as they are spelt"
    )]
    Unknown {
        /// The handle or ANS name asked for.
        subject: String,
        /// *T*.
        as_of: String,
    },
    /// A file that is no excerpt or no signed report, or a line of it that is not what it should be.
    #[error("{}: {what}", place(path, *line))]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1; 0 where the file as a whole is meant.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl ExcerptError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> ExcerptError {
        ExcerptError::Io { path: path.to_path_buf(), source }
    }

    pub(super) fn line(path: &Path, line: usize, what: impl Into<String>) -> ExcerptError {
        ExcerptError::Line { path: path.to_path_buf(), line, what: what.into() }
    }
}

fn place(path: &Path, line: usize) -> String {
    match line {
        0 => path.display().to_string(),
        line => format!("{}:{line}", path.display()),
    }
}

impl From<ExcerptError> for NightError {
    /// So that a command may end in the command line's one error, with its exit codes.
    fn from(fault: ExcerptError) -> NightError {
        match fault {
            ExcerptError::Warehouse(fault) => fault.into(),
            ExcerptError::Night(fault) => fault,
            ExcerptError::Engine(fault) => fault.into(),
            ExcerptError::Reports(fault) => fault.into(),
            ExcerptError::Snapshot(fault) => fault.into(),
            ExcerptError::Table(fault) => fault.into(),
            ExcerptError::Io { path, source } => NightError::Io { path, source },
            other => NightError::Input(other.to_string()),
        }
    }
}
