//! The results of one report carried into the next: what the interactions that changed rest on is computed again, by the same
//! queries over their entries alone, and put in the place of what they were.
//!
//! Rows of [`plan::SLICED`] rest on the entries of one interaction (those of others that corrections tie to it included), on what holds at
//! these entries of discounts, corrections and exclusions, on the enrollments and declarations of the subject, and on the sender's
//! anchor. `queries/carry` says of which interactions any of that changed since; the others' rows are what they were.

use std::path::Path;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use rayon::prelude::*;
use std::sync::Arc;

use super::added::Added;
use super::figures::{ReportsError, rows};
use super::plan;
use crate::engine::{Session, linked};
use crate::warehouse::schema::UNREAD;

/// The report before: what it rests on.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    /// The last entry that was there.
    pub head: i64,
    /// Its *T*, in milliseconds.
    pub as_of: i64,
}

/// The folder in `derived` where a report's small results stand while the next one compares them.
pub const BEFORE: &str = "before";

/// The small results that the next report compares with its own.
pub const COMPARED: [&str; 7] = [
    "discounted",
    "correction",
    "excluded_target",
    "moved_attestation",
    "declaration",
    "enrollment_interval",
    "identity",
];

/// Results in slices that tell which interactions a change reaches.
const ASKED: [&str; 3] = ["standing_fact", "standing_attestation", "interaction"];

/// Carries the sliced results of the report before into this one, whose first results are there. False where so much changed that
/// computing them anew is as fast, and nothing was done.
pub(super) fn carry(session: &Session, before: &Before, derived: &Path, added: &Added) -> Result<bool, ReportsError> {
    let name_of = |name: &str| format!("before_{name}");
    for name in COMPARED {
        let path = derived.join(BEFORE).join(name).with_extension("parquet");
        session.register_parquet(&name_of(name), &[path])?;
    }
    for name in ASKED {
        session.register_folder(&name_of(name), &derived.join(name))?;
    }
    session.register_batch("basis", basis(before)?)?;
    for query in plan::CHANGED {
        session.register_batch(query.name, rows(session, query)?.batch().clone())?;
    }
    let changed = rows(session, plan::CHANGED_INTERACTION)?;
    let ids = changed.text("interaction_id")?;
    let changed = (0..changed.len()).filter_map(|row| ids.get(row).map(str::to_owned));
    let touched = linked(changed, &rows(session, plan::INTERACTION_LINK)?)?;
    let beside = derived.join("touched");
    let done = session.within(&touched, &beside, &UNREAD, |entries| {
        tracing::debug!("report: {} interactions changed, of {} entries", touched.len(), entries.len());
        let fresh = |name: &str| beside.join(name).with_extension("parquet");
        for (query, _) in plan::SLICED {
            session.materialise(query.name, query.sql, &fresh(query.name), |rows| added.finish(query.name, rows))?;
        }
        // Each rewrites few files, one thread each.
        plan::SLICED.into_par_iter().try_for_each(|(query, key)| {
            let renew = |rows| added.finish(query.name, rows);
            let place = derived.join(query.name);
            let fresh = fresh(query.name);
            session.replace_rows(query.name, key, &place, (entries, &fresh), added.anew(query.name), renew)
        })?;
        Ok::<(), ReportsError>(())
    })?;
    Ok(done.is_some())
}

fn basis(before: &Before) -> Result<RecordBatch, ReportsError> {
    let schema = Schema::new(vec![
        Field::new("head", DataType::Int64, false),
        Field::new("as_of", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), false),
    ]);
    let as_of = TimestampMillisecondArray::from(vec![before.as_of]).with_timezone("UTC");
    let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![before.head])), Arc::new(as_of)];
    Ok(RecordBatch::try_new(Arc::new(schema), columns)?)
}
