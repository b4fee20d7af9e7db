//! Why a query gave no rows.

use std::path::{Path, PathBuf};

use datafusion::error::DataFusionError;

/// Why a query gave no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine refused or failed a query: a fault of this program or of a warehouse that it did not write.
    #[error("query {query}: {source}")]
    Query {
        /// The stem of the query file, or the table being registered.
        query: String,
        /// What the engine says.
        source: Box<DataFusionError>,
    },
    /// A query needs more memory than it was given, even when spilling.
    #[error("query {query} needs more memory: give it more with --memory ({detail})")]
    Memory {
        /// The stem of the query file.
        query: String,
        /// What the engine says.
        detail: String,
    },
    /// A column that the program reads is not in a result, or of another type.
    #[error("query {query}: column {column} is not {wanted}")]
    Column {
        /// The stem of the query file.
        query: String,
        /// The column asked for.
        column: String,
        /// The type asked for.
        wanted: &'static str,
    },
    /// A file of the warehouse cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A Parquet file cannot be written.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the library says.
        source: parquet::errors::ParquetError,
    },
}

impl EngineError {
    /// True where the machine, not the data, stands in the way (disk, permissions, memory).
    pub fn is_environment(&self) -> bool {
        match self {
            EngineError::Io { .. } | EngineError::Memory { .. } | EngineError::Parquet { .. } => true,
            EngineError::Query { source, .. } => {
                matches!(source.find_root(), DataFusionError::IoError(_) | DataFusionError::ObjectStore(_))
            }
            EngineError::Column { .. } => false,
        }
    }
}

pub(super) fn io(path: &Path, source: std::io::Error) -> EngineError {
    EngineError::Io { path: path.to_path_buf(), source }
}

pub(super) fn failed(query: &str, source: DataFusionError) -> EngineError {
    if let DataFusionError::ResourcesExhausted(detail) = source.find_root() {
        return EngineError::Memory { query: query.to_owned(), detail: detail.clone() };
    }
    EngineError::Query { query: query.to_owned(), source: Box::new(source) }
}
