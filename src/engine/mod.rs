//! A SQL session over the warehouse. It runs query files, and knows nothing of what they compute.
//!
//! A query is one `SELECT` under a name. It reads warehouse tables, input tables and earlier queries by name, and its
//! result is kept either as Parquet (an intermediate that others read, [`Session::materialise`]) or as rows in memory
//! (figures, bounded by the number of subjects, [`Session::rows`]). Nothing is formatted into SQL text: parameters stand in the
//! one-row table `policy`.
//!
//! Calls block; the session holds its own threads. Memory is bounded by a pool from which sorts, joins and
//! aggregates draw, and past which they spill beside the warehouse.

mod constants;
mod error;
mod pool;
mod renewal;
mod rows;
mod slices;
mod stretches;
mod touched;

use constants::Constants;
pub use error::EngineError;
use error::{failed, io};
use pool::Pool;
pub use renewal::Anew;
pub use rows::{Column, Rows};
pub use slices::{Finish, Slice};
pub use stretches::{Key, STRETCH};
pub use touched::{digest, linked};

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use futures::StreamExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

/// How large a session may grow.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Threads, and with them the partitions of a plan. No figure depends on it.
    pub threads: usize,
    /// Bytes that sorts, joins and aggregates may hold together before they spill.
    pub memory: usize,
    /// Parts of the interactions over which queries run one after another, at least. No figure depends on it.
    pub parts: usize,
}

impl Resources {
    /// So many threads and bytes, and as few parts as the bytes allow.
    pub fn new(threads: usize, memory: usize) -> Resources {
        Resources { threads, memory, parts: 1 }
    }
}

/// One SQL session. See the module's page.
pub struct Session {
    context: SessionContext,
    runtime: tokio::runtime::Runtime,
    resources: Resources,
    sliced: Mutex<slices::Sliced>,
    constants: Mutex<Constants>,
}

/// Rows of a batch that the engine hands over, and of a row group that it writes, at most.
pub const BATCH_ROWS: usize = 8192;
const ROW_GROUP_ROWS: usize = 128 * BATCH_ROWS;

impl Session {
    /// Opens a session that spills into `spill`, which it makes.
    pub fn open(resources: &Resources, spill: &Path) -> Result<Session, EngineError> {
        fs::create_dir_all(spill).map_err(|source| io(spill, source))?;
        let threads = resources.threads.max(1);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            // Files are read on these. Each keeps the memory of the largest chunk that it ever read.
            .max_blocking_threads(threads)
            .thread_name("bureau-sql")
            .build()
            .map_err(|source| io(spill, source))?;
        let mut config = SessionConfig::new()
            .with_target_partitions(threads)
            .with_batch_size(BATCH_ROWS)
            .with_information_schema(false);
        let options = config.options_mut();
        options.execution.parquet.schema_force_view_types = false;
        options.execution.parquet.pushdown_filters = true;
        options.execution.parquet.reorder_filters = true;
        options.execution.collect_statistics = true;
        // What a sort keeps back for merging what it spilled, each: with little memory 10 MB leave none to sort in.
        options.execution.sort_spill_reservation_bytes = (resources.memory / 32).min(10 << 20);
        // Groups of a few rows each are not worth a table of their own before the one that is divided among the threads.
        options.execution.skip_partial_aggregation_probe_ratio_threshold = 0.1;
        // A join builds its table on what stands left in the query, once for all threads: estimates mislead where rows are wide, or
        // filtered by an outer join.
        options.optimizer.join_reordering = false;
        options.optimizer.repartition_joins = false;
        options.sql_parser.map_string_types_to_utf8view = false;
        let environment = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(Pool::new(resources.memory)))
            .with_disk_manager_builder(
                DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![spill.to_path_buf()])),
            )
            .build_arc()
            .map_err(|source| failed("session", source))?;
        let context = SessionContext::new_with_config_rt(config, environment);
        Ok(Session {
            context,
            runtime,
            resources: resources.clone(),
            sliced: Mutex::default(),
            constants: Mutex::default(),
        })
    }

    /// Registers Parquet files of one schema as the table `name`. Their metadata is left out of the schema.
    pub fn register_parquet(&self, name: &str, files: &[PathBuf]) -> Result<(), EngineError> {
        self.replace(name, self.listing(name, files)?)
    }

    fn listing(&self, name: &str, files: &[PathBuf]) -> Result<Arc<dyn TableProvider>, EngineError> {
        let tables = files.iter().map(|path| listed(name, path)).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = tables.first() else {
            return Err(failed(name, DataFusionError::Plan("no file makes the table".to_owned())));
        };
        let format = ParquetFormat::default().with_skip_metadata(true).with_force_view_types(false);
        let options = ListingOptions::new(Arc::new(format)).with_file_extension(".parquet");
        let state = self.context.state();
        let schema =
            self.runtime.block_on(options.infer_schema(&state, first)).map_err(|source| failed(name, source))?;
        let config =
            ListingTableConfig::new_with_multi_paths(tables).with_listing_options(options).with_schema(plain(&schema));
        Ok(Arc::new(ListingTable::try_new(config).map_err(|source| failed(name, source))?))
    }

    /// Registers rows in memory as `name`.
    pub fn register_batch(&self, name: &str, batch: RecordBatch) -> Result<(), EngineError> {
        let rows = vec![vec![batch.clone()]];
        let table = MemTable::try_new(batch.schema(), rows).map_err(|source| failed(name, source))?;
        self.replace(name, Arc::new(table))?;
        if batch.num_rows() == 1 {
            self.constants().insert(name.to_owned(), batch);
        }
        Ok(())
    }

    fn constants(&self) -> MutexGuard<'_, Constants> {
        self.constants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace(&self, name: &str, table: Arc<dyn TableProvider>) -> Result<(), EngineError> {
        self.constants().remove(name);
        self.context.deregister_table(name).map_err(|source| failed(name, source))?;
        self.context.register_table(name, table).map_err(|source| failed(name, source))?;
        Ok(())
    }

    /// Runs a query and hands its batches over in order, without holding them.
    pub fn for_each<E>(&self, query: &str, sql: &str, mut take: impl FnMut(Rows) -> Result<(), E>) -> Result<(), E>
    where
        E: From<EngineError>,
    {
        let mut running = self.start(query, sql)?;
        while let Some(batch) = running.next()? {
            take(Rows::new(query, batch))?;
        }
        Ok(())
    }

    /// Runs a query and holds all of its rows, as one batch.
    pub fn rows(&self, query: &str, sql: &str) -> Result<Rows, EngineError> {
        let mut running = self.start(query, sql)?;
        let mut batches = Vec::new();
        while let Some(batch) = running.next()? {
            batches.push(batch);
        }
        let batch = concat_batches(&running.schema, &batches).map_err(|source| failed(query, source.into()))?;
        Ok(Rows::new(query, batch))
    }

    /// Runs a query, lets `finish` add what SQL does not compute, writes the rows to `path` in the query's own order, and registers
    /// them under the query's name. Returns how many rows there are.
    pub fn materialise(
        &self,
        query: &str,
        sql: &str,
        path: &Path,
        mut finish: impl FnMut(RecordBatch) -> Result<RecordBatch, EngineError>,
    ) -> Result<usize, EngineError> {
        let mut running = self.start(query, sql)?;
        let empty = finish(RecordBatch::new_empty(Arc::clone(&running.schema)))?;
        let file = File::create(path).map_err(|source| io(path, source))?;
        let broken = |source| EngineError::Parquet { path: path.to_path_buf(), source };
        let mut writer =
            ArrowWriter::try_new(file, empty.schema(), Some(properties(&empty, ROW_GROUP_ROWS))).map_err(broken)?;
        let mut count = 0;
        while let Some(batch) = running.next()? {
            count += batch.num_rows();
            writer.write(&finish(batch)?).map_err(broken)?;
        }
        writer.close().map_err(broken)?;
        self.register_parquet(query, &[path.to_path_buf()])?;
        Ok(count)
    }

    fn start<'a>(&'a self, query: &'a str, sql: &str) -> Result<Running<'a>, EngineError> {
        let planned = self.runtime.block_on(async {
            let (plan, task) = self.plan(sql).await?;
            let stream = execute_stream(Arc::clone(&plan), task)?;
            Ok((stream, plan))
        });
        let (stream, plan) = planned.map_err(|source| failed(query, source))?;
        let schema = plain(&stream.schema());
        Ok(Running { session: self, query, stream, plan, schema, begun: Instant::now(), rows: 0 })
    }

    async fn plan(&self, sql: &str) -> Result<(Arc<dyn ExecutionPlan>, Arc<TaskContext>), DataFusionError> {
        let state = self.context.state();
        let plan = constants::fold(state.create_logical_plan(sql).await?, &self.constants())?;
        let frame = DataFrame::new(state, plan);
        let task = Arc::new(frame.task_ctx());
        Ok((frame.create_physical_plan().await?, task))
    }
}

/// A query being run.
struct Running<'a> {
    session: &'a Session,
    query: &'a str,
    stream: SendableRecordBatchStream,
    plan: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    begun: Instant,
    rows: usize,
}

impl Running<'_> {
    /// The next batch, or none at the end. An end is one only where the engine is known to have kept every row.
    fn next(&mut self) -> Result<Option<RecordBatch>, EngineError> {
        let broken = |source| failed(self.query, source);
        match self.session.runtime.block_on(self.stream.next()) {
            Some(batch) => {
                let batch = batch.map_err(broken)?;
                self.rows += batch.num_rows();
                conform(batch, &self.schema).map(Some).map_err(|source| broken(source.into()))
            }
            None => ended(self.query, &self.plan, self.rows, self.begun).map(|()| None),
        }
    }
}

/// Tells how a query went that came to its end, and whether that is to be believed.
fn ended(query: &str, plan: &Arc<dyn ExecutionPlan>, rows: usize, begun: Instant) -> Result<(), EngineError> {
    if has_spilled_a_loop(plan) {
        let detail = "a nested loop join does not fit".to_owned();
        return Err(EngineError::Memory { query: query.to_owned(), detail });
    }
    let (seconds, spilled) = (begun.elapsed().as_secs_f64(), spilled_bytes(plan));
    tracing::debug!("query {query}: {rows} rows, {seconds:.3} s, {spilled} bytes spilled");
    Ok(())
}

fn spilled_bytes(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let own = plan.metrics().and_then(|metrics| metrics.spilled_bytes()).unwrap_or(0);
    own + plan.children().into_iter().map(spilled_bytes).sum::<usize>()
}

/// DataFusion 55 loses rows, and says nothing, where the build side of a nested loop join does not fit into memory and spills.
fn has_spilled_a_loop(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let spilled = || plan.metrics().and_then(|metrics| metrics.spill_count()).unwrap_or(0) > 0;
    let is_loop = matches!(plan.name(), "NestedLoopJoinExec" | "CrossJoinExec");
    (is_loop && spilled()) || plan.children().into_iter().any(has_spilled_a_loop)
}

/// A schema without the metadata that files and engine leave in it, at any depth.
fn plain(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(plain_fields(schema.fields())))
}

fn plain_fields(fields: &Fields) -> Fields {
    fields.iter().map(plain_field).collect()
}

fn plain_field(field: &FieldRef) -> Field {
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(plain_fields(fields)),
        DataType::List(item) => DataType::List(Arc::new(plain_field(item))),
        other => other.clone(),
    };
    Field::new(field.name(), data_type, field.is_nullable())
}

/// The same rows under a schema that differs in metadata alone.
fn conform(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        if column.data_type() == field.data_type() {
            Ok(Arc::clone(column))
        } else {
            arrow::compute::cast(column, field.data_type())
        }
    });
    RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?)
}

/// A file as the engine names it, whatever characters its path holds.
fn listed(name: &str, path: &Path) -> Result<ListingTableUrl, EngineError> {
    let path = path.canonicalize().map_err(|source| io(path, source))?;
    let url = url::Url::from_file_path(&path).map_err(|()| io(&path, std::io::Error::other("is no absolute path")))?;
    ListingTableUrl::try_new(url, None).map_err(|source| failed(name, source))
}

/// How a file is written whose first rows are these.
fn properties(rows: &RecordBatch, row_group_rows: usize) -> WriterProperties {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("bureau".to_owned())
        .set_data_page_row_count_limit(row_group_rows)
        .set_max_row_group_row_count(Some(row_group_rows));
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns()).fold(properties, |properties, (field, values)| {
        let column = ColumnPath::from(field.name().as_str());
        match field.data_type() {
            DataType::Utf8 => {
                // Least and greatest texts help no query here, and cost a comparison a value.
                let properties = properties.set_column_statistics_enabled(column.clone(), EnabledStatistics::None);
                if hardly_repeats(values) { plain_values(properties, column) } else { properties }
            }
            // Entries and instants hardly repeat, and lie close together.
            DataType::Int64 | DataType::Timestamp(..) => properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
            // Fifteen digits of a weight are noise to a dictionary and to zstd.
            DataType::Decimal128(digits, _) if *digits > 9 => plain_values(properties, column),
            _ => properties,
        }
    });
    columns.build()
}

/// Values as they are: what neither a dictionary nor compression makes much smaller.
fn plain_values(properties: WriterPropertiesBuilder, column: ColumnPath) -> WriterPropertiesBuilder {
    properties
        .set_column_dictionary_enabled(column.clone(), false)
        .set_column_compression(column, Compression::UNCOMPRESSED)
}

/// Whether these texts are many, and nearly every one is another one: ids.
fn hardly_repeats(values: &ArrayRef) -> bool {
    let Some(texts) = values.as_string_opt::<i32>() else { return false };
    let present = texts.len() - texts.null_count();
    let distinct: HashSet<&str> = texts.iter().flatten().collect();
    present >= 2048 && distinct.len() * 20 >= present * 19
}
