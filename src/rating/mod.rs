//! The second method: agents rated from tables of their decisions (`skalor-agent-rating/v1.3`, profile part 4).
//!
//! This room knows the rating tables and the method, and nothing of the ledger's reports: no figure of one method enters the
//! other. It walks in one direction:
//!
//! ```text
//! tables  (every row checked)  ─▶  queries/skalor/*.sql  (counts, exact sums)  ─▶  exact, factors, penalties, standing
//!    ─▶  verdict, words  (one an agent)  ─▶  document  (to be signed)  and  flat  (for SQL)
//! ```
//!
//! SQL counts rows and adds up integers; everything after it is exact rational arithmetic with one rounding a
//! published number (`exact.rs`, with its bounds). [`method()`] is the page that is published beside the ratings, so that a reader
//! needs no other.

mod document;
mod exact;
mod explain;
mod factors;
mod figures;
mod flat;
mod method;
mod penalties;
mod standing;
mod tables;
mod verdict;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;

use crate::engine::{EngineError, Session};
use crate::export::ExportError;

pub use document::{METHOD, VCT};
pub use exact::Millionths;
pub use explain::explain;
pub use method::method;
pub use standing::{Ceiling, Proof, State};
pub use tables::{DENIAL_REASONS, Refused, Table, UnknownReason};
pub use verdict::{Evidence, Factor, PriorHeld, Rating, UNSCORABLE_CODE, Unscorable};

/// Why nothing could be rated. A row that is refused is no such error: see [`Ratings::refused`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RatingError {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A JSON lines file cannot be read, or its compression is broken.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A Parquet file is broken, or cannot be written.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the library says.
        source: parquet::errors::ParquetError,
    },
    /// Columns do not make a table: a fault of this program.
    #[error("rating tables: {0}")]
    Columns(arrow::error::ArrowError),
    /// A query failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The policy's `rating_window_decisions` is out of its bound (2.1), on which the arithmetic rests.
    #[error("rating_window_decisions is {0}, and must be from 1 to 1000")]
    Window(i64),
}

/// What a run decides about its ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// T, in milliseconds since 1970 UTC.
    pub as_of: i64,
    /// T + `report_ttl_hours`, in milliseconds since 1970 UTC.
    pub expires_at: i64,
    /// The policy's `rating_window_decisions`: 1 to 1000.
    pub window_decisions: i64,
}

/// The ratings of one run, and what was wrong with its tables.
#[derive(Debug)]
pub struct Ratings {
    /// One an agent that exists at T, in byte order of `agent_id`.
    pub ratings: Vec<Rating>,
    /// Files, then rows table by table. Where there is any, nothing is published unless the operator says so, and
    /// then these count for nothing.
    pub refused: Vec<Refused>,
    /// Denial reasons that the method does not know, on denied rows: a warning a row.
    pub unknown_reasons: BTreeMap<String, UnknownReason>,
    /// Valid rows a table.
    pub rows: BTreeMap<Table, u64>,
    /// What was decided.
    pub parameters: Parameters,
}

impl Ratings {
    /// The audit counts: `rating.row`, `rating.table`, `rating.reason`, each where it is not zero.
    pub fn audit(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for refused in &self.refused {
            *counts.entry(refused.rule()).or_insert(0) += 1;
        }
        let reasons: u64 = self.unknown_reasons.values().map(|reason| reason.rows).sum();
        if reasons > 0 {
            counts.insert("rating.reason", reasons);
        }
        counts
    }

    /// The inner objects to be signed, made one at a time, in the order in which they are published.
    pub fn documents(&self) -> impl Iterator<Item = serde_json::Value> {
        self.ratings.iter().map(Rating::document)
    }

    /// The flat tables by name: `ratings` and `rating_factors`.
    pub fn flat(&self) -> Result<[(&'static str, RecordBatch); 2], RatingError> {
        let ratings = flat::ratings(&self.ratings).map_err(RatingError::Columns)?;
        let factors = flat::factors(&self.ratings).map_err(RatingError::Columns)?;
        Ok([("ratings", ratings), ("rating_factors", factors)])
    }
}

/// Rates every agent of the tables in `dir`. Valid rows and intermediates are kept as Parquet in `store`, which is made; `session`
/// gets the tables under their names.
pub fn rate(dir: &Path, store: &Path, session: &Session, parameters: &Parameters) -> Result<Ratings, RatingError> {
    if !(1..=1000).contains(&parameters.window_decisions) {
        return Err(RatingError::Window(parameters.window_decisions));
    }
    fs::create_dir_all(store).map_err(|source| RatingError::Io { path: store.to_owned(), source })?;
    let loaded = tables::read(dir, store)?;
    let figures = figures::compute(session, store, &loaded.files, parameters)?;
    let nobody = figures::Controller::default();
    let ratings = figures
        .agents
        .iter()
        .map(|agent| {
            let controller = figures.controllers.get(&agent.organization_id).unwrap_or(&nobody);
            verdict::rate(agent, controller, parameters)
        })
        .collect();
    Ok(Ratings {
        ratings,
        refused: loaded.refused,
        unknown_reasons: loaded.unknown_reasons,
        rows: loaded.rows,
        parameters: *parameters,
    })
}
