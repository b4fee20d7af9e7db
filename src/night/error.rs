//! Why a stage did not end well, and the exit code that says so.

use std::path::{Path, PathBuf};

use crate::audit::AuditError;
use crate::engine::EngineError;
use crate::export::ExportError;
use crate::policy::PolicyFault;
use crate::rating::RatingError;
use crate::reports::ReportsError;
use crate::snapshot::SnapshotError;
use crate::warehouse::WarehouseError;

/// A failed stage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NightError {
    /// The export or the warehouse.
    #[error(transparent)]
    Warehouse(#[from] WarehouseError),
    /// A file of the export.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// `policy.toml`, every fault of it.
    #[error("{}", .0.iter().map(PolicyFault::to_string).collect::<Vec<_>>().join("\n"))]
    Policy(Vec<PolicyFault>),
    /// `identities.jsonl`, `charters.jsonl` or `reporters.jsonl`, every fault of them.
    #[error("{}", .0.iter().map(crate::identity::Fault::to_string).collect::<Vec<_>>().join("\n"))]
    Identity(Vec<crate::identity::Fault>),
    /// The salt.
    #[error(transparent)]
    Salt(#[from] crate::identity::SaltFault),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The audit.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The figures.
    #[error(transparent)]
    Reports(#[from] ReportsError),
    /// The ratings.
    #[error(transparent)]
    Rating(#[from] RatingError),
    /// The snapshot.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A table could not be built.
    #[error("a table: {0}")]
    Table(#[from] arrow::error::ArrowError),
    /// Findings stop publication.
    #[error("{}{errors} error findings: nothing is published; see {} for each, or publish in spite of them with --publish-with-findings", first.iter().map(|line| format!("{line}\n")).collect::<String>(), findings.display())]
    Findings {
        /// How many.
        errors: u64,
        /// The first of them, in words.
        first: Vec<String>,
        /// Where they stand.
        findings: PathBuf,
    },
    /// A stage finds what another left for it missing or of another night.
    #[error("{}: {what}", path.display())]
    Stage {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The command line leaves out what the run needs.
    #[error("{0}")]
    Usage(String),
    /// An input that the run needs is missing or unreadable.
    #[error("{0}")]
    Input(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl NightError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> NightError {
        NightError::Io { path: path.to_path_buf(), source }
    }

    /// 1: the input is bad or a check failed. 2: the command line. 3: the machine (disk, permissions, memory, another run).
    pub fn exit_code(&self) -> u8 {
        if matches!(self, NightError::Usage(_)) {
            return 2;
        }
        let environment = match self {
            NightError::Warehouse(fault) => match fault {
                WarehouseError::Io { .. } | WarehouseError::Parquet { .. } | WarehouseError::Busy { .. } => true,
                WarehouseError::Export(fault) => cannot_be_read(fault),
                _ => false,
            },
            NightError::Export(fault) => cannot_be_read(fault),
            NightError::Engine(fault) => fault.is_environment(),
            NightError::Audit(fault) => fault.is_environment(),
            NightError::Reports(fault) => fault.is_environment(),
            NightError::Rating(fault) => match fault {
                RatingError::Io { .. } => true,
                RatingError::Export(fault) => cannot_be_read(fault),
                RatingError::Engine(fault) => fault.is_environment(),
                _ => false,
            },
            NightError::Snapshot(fault) => fault.exit_code() == 3,
            NightError::Io { .. } => true,
            _ => false,
        };
        if environment { 3 } else { 1 }
    }
}

/// True where the system refused to read a file of the export that is there.
fn cannot_be_read(fault: &ExportError) -> bool {
    match fault {
        ExportError::Directory { source, .. } | ExportError::Read { source, .. } => {
            source.kind() != std::io::ErrorKind::NotFound
        }
        _ => false,
    }
}
