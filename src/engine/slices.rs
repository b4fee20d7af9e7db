//! Slices: the interactions of a ledger in parts of a size that memory holds, over which the same queries run one part after another.
//!
//! The tables of facts, attestations and probes carry `slice`, a byte of a hash of the interaction's id, and their row groups hold
//! neighbouring slices, so that a part reads its own row groups alone. Entries meet only within an interaction, but for those
//! that a correction moved: the interactions in `moved_interaction` all belong to the first part.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use tokio::task::JoinSet;

use super::stretches::{Key, Stretches};
use super::{EngineError, Session, conform, ended, failed, io, plain};

/// Adds to a query's rows what SQL does not compute.
pub type Finish = Arc<dyn Fn(RecordBatch) -> Result<RecordBatch, EngineError> + Send + Sync>;

/// Bytes of memory for one row of the sliced tables, about what the widest join of such a row and a neighbour takes.
pub(super) const ROW_BYTES: usize = 220;

/// Slices that the tables tell apart.
const FINEST: usize = 256;

/// One part of the interactions.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    place: usize,
    of: usize,
}

impl Slice {
    fn all(self) -> impl Iterator<Item = Slice> {
        (0..self.of).map(move |place| Slice { place, of: self.of })
    }
}

/// Tables by name.
pub(super) type Tables = Vec<(&'static str, Arc<dyn TableProvider>)>;

/// The tables that are sliced, whole.
#[derive(Default)]
pub(super) struct Sliced {
    tables: Tables,
    rows: usize,
    moved: Option<&'static str>,
    moves: bool,
}

/// The interactions that the first part holds.
const MOVED: &str = "moved_interaction";

impl Session {
    /// Registers Parquet files with a column `slice` as the table `name`.
    pub fn register_sliced(&self, name: &'static str, files: &[PathBuf]) -> Result<(), EngineError> {
        let table = self.listing(name, files)?;
        self.replace(name, Arc::clone(&table))?;
        let rows = self.rows(name, &format!("select count(*) as rows from {name}"))?;
        let count = rows.int("rows")?.get(0).unwrap_or_default();
        let mut sliced = self.sliced();
        sliced.rows += usize::try_from(count).unwrap_or(0);
        sliced.tables.push((name, table));
        Ok(())
    }

    fn sliced(&self) -> MutexGuard<'_, Sliced> {
        self.sliced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says how the interactions are found between which entries have moved: the query of `queries/moved_interaction.sql`. It runs where there
    /// are several parts; in one part none move out of it.
    pub fn set_moved(&self, sql: &'static str) {
        self.sliced().moved = Some(sql);
    }

    /// Registers those interactions.
    fn find_moved(&self) -> Result<(), EngineError> {
        let Some(sql) = self.sliced().moved else { return Ok(()) };
        let moved = self.rows(MOVED, sql)?;
        self.register_batch(MOVED, moved.batch().clone())?;
        self.sliced().moves = !moved.is_empty();
        Ok(())
    }

    /// How many parts there are: a power of two, as few as the session's memory allows; one where no table is sliced.
    fn parts(&self) -> usize {
        let sliced = self.sliced();
        if sliced.tables.is_empty() {
            return 1;
        }
        let parts =
            sliced.rows.saturating_mul(ROW_BYTES).div_ceil(self.resources.memory.max(1)).max(self.resources.parts);
        parts.next_power_of_two().clamp(1, FINEST)
    }

    /// Runs `work` over every part. Within it the sliced tables hold the part's rows alone, and so do the queries `kept` that
    /// [`Session::materialise_slice`] keeps in `folder`; afterwards all hold everything.
    pub fn each_slice<E: From<EngineError>>(
        &self,
        folder: &Path,
        kept: &[&str],
        mut work: impl FnMut(Slice) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = Slice { place: 0, of: self.parts() };
        for name in kept {
            clear(folder, name)?;
        }
        if first.of > 1 {
            self.find_moved()?;
        }
        let done = first.all().try_for_each(|slice| {
            if slice.of > 1 {
                self.narrow(slice)?;
            }
            work(slice)
        });
        if first.of > 1 {
            self.restore(self.sliced_tables().0)?;
        }
        done?;
        if first.of > 1 {
            for name in kept {
                self.register_folder(name, &folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Makes tables hold everything again. Whoever narrowed them does so however its work ended: others may go on after its fault.
    pub(super) fn restore(&self, tables: Tables) -> Result<(), EngineError> {
        tables.into_iter().try_for_each(|(name, table)| self.replace(name, table))
    }

    /// Keeps the rows of a query over one part in the query's folder, by the stretch of the ledger that `key` names, each with what `finish`
    /// adds: see [`Session::materialise`]. Every partition of the plan writes its own files.
    pub fn materialise_slice(
        &self,
        (query, sql, key): (&str, &str, Key),
        folder: &Path,
        slice: Slice,
        finish: &Finish,
    ) -> Result<usize, EngineError> {
        let folder = folder.join(query);
        fs::create_dir_all(&folder).map_err(|source| io(&folder, source))?;
        let begun = Instant::now();
        let written = self.runtime.block_on(async {
            let broken = |source| failed(query, source);
            let (plan, task) = self.plan(sql).await.map_err(broken)?;
            let streams = execute_stream_partitioned(Arc::clone(&plan), task).map_err(broken)?;
            let schema = plain(&plan.schema());
            let kept = finish(RecordBatch::new_empty(Arc::clone(&schema)))?.schema();
            let into = |partition| {
                let part = format!("{:03}-{partition}", slice.place);
                Stretches::new(&folder, part, key, Arc::clone(&kept))
            };
            let mut tasks = JoinSet::new();
            for (partition, stream) in streams.into_iter().enumerate() {
                let into = into(partition);
                tasks.spawn(write(query.to_owned(), stream, Arc::clone(&schema), into, Arc::clone(finish)));
            }
            let (mut files, mut rows, mut fault) = (Vec::new(), 0, None);
            while let Some(done) = tasks.join_next().await {
                match done.unwrap_or_else(|fault| Err(broken(DataFusionError::ExecutionJoin(Box::new(fault))))) {
                    Ok((some, count)) => {
                        files.extend(some);
                        rows += count;
                    }
                    // The first fault is the one that is told, once no task writes any more.
                    Err(one) => {
                        tasks.abort_all();
                        fault.get_or_insert(one);
                    }
                }
            }
            if let Some(fault) = fault {
                return Err(fault);
            }
            if files.is_empty() {
                files.push(into(0).without_rows()?);
            }
            ended(query, &plan, rows, begun)?;
            Ok((files, rows))
        });
        let (files, rows) = written?;
        self.register_parquet(query, &files)?;
        Ok(rows)
    }

    /// The sliced tables, whole, and how many rows they have together.
    pub(super) fn sliced_tables(&self) -> (Tables, usize) {
        let sliced = self.sliced();
        (sliced.tables.clone(), sliced.rows)
    }

    /// Makes the sliced tables hold the rows of one part.
    fn narrow(&self, slice: Slice) -> Result<(), EngineError> {
        let sliced = self.sliced();
        let (from, to) = (slice.place * FINEST / slice.of, (slice.place + 1) * FINEST / slice.of - 1);
        for (name, table) in &sliced.tables {
            let whole = format!("{name}_whole");
            self.replace(&whole, Arc::clone(table))?;
            let within = format!("w.slice between {from} and {to}");
            let sql = match (sliced.moves, slice.place) {
                (false, _) => format!("select w.* from {whole} w where {within}"),
                (true, 0) => format!(
                    "select w.* from {whole} w where {within} \
                     union all select w.* from {MOVED} m right semi join {whole} w on m.interaction_id = w.interaction_id where w.slice > {to}"
                ),
                (true, _) => format!(
                    "select w.* from {MOVED} m right anti join {whole} w on m.interaction_id = w.interaction_id where {within}"
                ),
            };
            let view = self.runtime.block_on(self.context.sql(&sql)).map_err(|source| failed(name, source))?;
            self.replace(name, view.into_view())?;
        }
        Ok(())
    }
}

/// Writes the rows of one partition. Returns the files, none where there is no row, and how many rows there are.
async fn write(
    query: String,
    mut stream: SendableRecordBatchStream,
    schema: SchemaRef,
    mut into: Stretches,
    finish: Finish,
) -> Result<(Vec<PathBuf>, usize), EngineError> {
    let mut rows = 0;
    while let Some(batch) = stream.next().await {
        let batch = batch.and_then(|batch| Ok(conform(batch, &schema)?)).map_err(|source| failed(&query, source))?;
        rows += batch.num_rows();
        into.write(&finish(batch)?)?;
    }
    Ok((into.close()?, rows))
}

/// Removes what an earlier run kept of a query, in however many parts.
fn clear(folder: &Path, query: &str) -> Result<(), EngineError> {
    let (file, parts) = (folder.join(query).with_extension("parquet"), folder.join(query));
    let gone = |path: &Path, removed: std::io::Result<()>| match removed {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(io(path, source)),
        _ => Ok(()),
    };
    gone(&file, fs::remove_file(&file))?;
    gone(&parts, fs::remove_dir_all(&parts))
}
