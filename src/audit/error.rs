use std::path::PathBuf;

use arrow::error::ArrowError;

use crate::engine::EngineError;

/// Why an audit came to no verdict. A broken rule is a finding, never an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A query failed.
    #[error("the audit: {0}")]
    Engine(#[from] EngineError),
    /// A table for the engine could not be built.
    #[error("the audit: {0}")]
    Table(#[from] ArrowError),
    /// The folder for intermediates cannot be made.
    #[error("the audit: {}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A row of the warehouse lacks a value that its table always has.
    #[error("the audit: query {query} gives a row without {column}; load the export into a new warehouse")]
    Row {
        /// The query.
        query: &'static str,
        /// The column.
        column: &'static str,
    },
}

impl AuditError {
    /// True where the machine, not the data, stands in the way.
    pub fn is_environment(&self) -> bool {
        match self {
            AuditError::Engine(error) => error.is_environment(),
            AuditError::Io { .. } => true,
            AuditError::Table(_) | AuditError::Row { .. } => false,
        }
    }
}
