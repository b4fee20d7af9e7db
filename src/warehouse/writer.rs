//! One Parquet file of one table, its columns encoded in parallel.
//!
//! A row group holds rows of one run of slices alone, in the order in which they came. Where there are several runs, their rows wait until
//! there are enough for a group, which is then encoded at one go: encoders held open for each run would take several times the memory,
//! and the time that it takes to have it. So the bytes depend on the rows and on how a block cuts them, not on threads.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::WarehouseError;
use super::schema::{Column, Kind, Table};

/// Rows of a row group, at most.
pub const ROW_GROUP_ROWS: usize = 65_536;

/// What ends a row group: so many rows, or so many bytes of them before they are encoded, however few they are.
#[derive(Clone, Copy)]
struct Limits {
    rows: usize,
    bytes: usize,
}

/// Of a table in one run, whose rows are encoded as they come.
const TOGETHER: Limits = Limits { rows: ROW_GROUP_ROWS, bytes: 256 << 20 };

/// Of a table whose runs stand apart: so much waits for each of them.
const APART: Limits = Limits { rows: 16_384, bytes: 32 << 20 };

/// Bytes of a page before it is compressed: no more than the allocator keeps at hand for the next one.
const PAGE_BYTES: usize = 512 << 10;

/// So few rows cost less to encode than another thread costs to wake.
const FEW_ROWS: usize = 4096;

/// Writes one file. Nothing is promised of the file before [`Written::sync`].
pub struct TableWriter {
    path: PathBuf,
    schema: SchemaRef,
    file: SerializedFileWriter<File>,
    columns: ArrowRowGroupWriterFactory,
    limits: Limits,
    runs: Vec<Run>,
    rows: usize,
}

/// The rows of one run that are in no finished row group.
#[derive(Default)]
struct Run {
    waiting: Vec<RecordBatch>,
    /// The leaves of each column, of the rows that wait no more.
    columns: Option<Vec<Vec<ArrowColumnWriter>>>,
    rows: usize,
    bytes: usize,
}

impl TableWriter {
    /// Creates the file, which must not exist.
    pub fn create(table: &Table, path: &Path) -> Result<TableWriter, WarehouseError> {
        let io = |source| WarehouseError::io(path, source);
        let file = File::create_new(path).map_err(io)?;
        let schema = table.schema();
        let broken = |source| WarehouseError::parquet(path, source);
        let (file, columns) = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties(table)))
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(broken)?;
        let limits = if table.runs() > 1 { APART } else { TOGETHER };
        let runs = (0..table.runs()).map(|_| Run::default()).collect();
        Ok(TableWriter { path: path.to_path_buf(), schema, file, columns, limits, runs, rows: 0 })
    }

    /// Takes rows of one run, and writes every row group that is full.
    pub fn push(&mut self, run: usize, batch: &RecordBatch) -> Result<(), WarehouseError> {
        self.push_rows(run, batch).map_err(|source| WarehouseError::parquet(&self.path, source))
    }

    fn push_rows(&mut self, place: usize, batch: &RecordBatch) -> Result<(), ParquetError> {
        let (apart, limits) = (self.runs.len() > 1, self.limits);
        let mut from = 0;
        while from < batch.num_rows() {
            let Some(run) = self.runs.get_mut(place) else { return Ok(()) };
            let take = (limits.rows - run.rows).min(batch.num_rows() - from);
            run.add(batch.slice(from, take))?;
            from += take;
            if run.rows == limits.rows || run.bytes >= limits.bytes {
                let full = std::mem::take(run);
                self.append(full)?;
            } else if !apart {
                run.encode(&self.columns, &self.schema)?;
            }
        }
        Ok(())
    }

    fn append(&mut self, mut run: Run) -> Result<(), ParquetError> {
        let chunks = run.close(&self.columns, &self.schema)?;
        self.write(run.rows, chunks)
    }

    fn write(&mut self, rows: usize, chunks: Vec<ArrowColumnChunk>) -> Result<(), ParquetError> {
        if rows == 0 {
            return Ok(());
        }
        let mut written = self.file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut written)?;
        }
        written.close()?;
        self.rows += rows;
        Ok(())
    }

    /// Writes what is left, run by run, and ends the file, which is then to be synced.
    pub fn finish(mut self) -> Result<Written, WarehouseError> {
        let close = |mut run: Run| Ok((run.rows, run.close(&self.columns, &self.schema)?));
        let runs = std::mem::take(&mut self.runs).into_par_iter().map(close).collect::<Result<Vec<_>, _>>();
        let written = runs.and_then(|runs| runs.into_iter().try_for_each(|(rows, chunks)| self.write(rows, chunks)));
        let TableWriter { path, file, rows, .. } = self;
        let ended = written.and_then(|()| file.into_inner());
        let file = ended.map_err(|source| WarehouseError::parquet(&path, source))?;
        Ok(Written { path, file, rows })
    }
}

/// A file with all its rows, not yet sure to last.
pub struct Written {
    path: PathBuf,
    file: File,
    rows: usize,
}

impl Written {
    /// Waits until the file is on the disk. Returns how many rows it holds.
    pub fn sync(self) -> Result<usize, WarehouseError> {
        self.file.sync_all().map_err(|source| WarehouseError::io(&self.path, source))?;
        Ok(self.rows)
    }
}

impl Run {
    fn add(&mut self, batch: RecordBatch) -> Result<(), ParquetError> {
        self.rows += batch.num_rows();
        for column in batch.columns() {
            self.bytes += column.to_data().get_slice_memory_size()?;
        }
        self.waiting.push(batch);
        Ok(())
    }

    /// Ends the row group. Gives its leaves.
    fn close(
        &mut self,
        factory: &ArrowRowGroupWriterFactory,
        schema: &SchemaRef,
    ) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
        self.encode(factory, schema)?;
        let leaves: Vec<_> = self.columns.take().unwrap_or_default().into_iter().flatten().collect();
        leaves.into_par_iter().map(ArrowColumnWriter::close).collect()
    }

    /// Encodes the rows that wait.
    fn encode(&mut self, factory: &ArrowRowGroupWriterFactory, schema: &SchemaRef) -> Result<(), ParquetError> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let columns = match &mut self.columns {
            Some(columns) => columns,
            // The number of the group matters to encryption alone.
            None => self.columns.insert(writers(factory, schema)?),
        };
        let rows: usize = waiting.iter().map(RecordBatch::num_rows).sum();
        let encode = |(index, (writers, field)): (usize, (&mut Vec<ArrowColumnWriter>, &FieldRef))| {
            for batch in &waiting {
                let leaves = compute_leaves(field, batch.column(index))?;
                writers.iter_mut().zip(&leaves).try_for_each(|(writer, leaf)| writer.write(leaf))?;
            }
            Ok(())
        };
        let columns = columns.iter_mut().zip(schema.fields()).enumerate();
        if rows < FEW_ROWS {
            columns.into_iter().try_for_each(encode)
        } else {
            columns.collect::<Vec<_>>().into_par_iter().try_for_each(encode)
        }
    }
}

/// The writers of a row group: the leaves of each column.
fn writers(
    factory: &ArrowRowGroupWriterFactory,
    schema: &SchemaRef,
) -> Result<Vec<Vec<ArrowColumnWriter>>, ParquetError> {
    let mut writers = factory.create_column_writers(0)?.into_iter();
    let of_field = |field: &DataType| writers.by_ref().take(leaves(field)).collect();
    Ok(schema.fields().iter().map(|field| field.data_type()).map(of_field).collect())
}

fn leaves(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| leaves(field.data_type())).sum(),
        DataType::List(item) => leaves(item.data_type()),
        _ => 1,
    }
}

fn properties(table: &Table) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("bureau".to_owned())
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_data_page_size_limit(PAGE_BYTES)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_row_count_limit(ROW_GROUP_ROWS);
    if table.runs() == 1 {
        let sorted = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
        properties = properties.set_sorting_columns(Some(vec![sorted]));
    }
    for name in table.distinct {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(*name), false);
    }
    table.columns.iter().fold(properties, set).build()
}

/// What a column's content calls for: statistics where a reader can pass row groups by them, no compression where all is noise, and
/// differences for what rises with `seq` or nearly so.
fn set(properties: WriterPropertiesBuilder, column: &Column) -> WriterPropertiesBuilder {
    let path = ColumnPath::from(column.name);
    match (column.name, column.kind) {
        ("prev_hash" | "entry_hash" | "signature" | "sender_signature", _) => {
            properties.set_column_compression(path, Compression::UNCOMPRESSED)
        }
        ("seq" | "target_seq", _) | (_, Kind::Instant) => properties
            .set_column_statistics_enabled(path.clone(), EnabledStatistics::Page)
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        (_, Kind::Int) => properties.set_column_statistics_enabled(path, EnabledStatistics::Chunk),
        _ => properties,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warehouse::builder::TableBuilder;
    use crate::warehouse::schema::{ACTIONS, LEDGER, of_action};
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    /// Probes `from` to `to`, whose slice tells their run.
    fn probes(run: i64, from: i64, to: i64) -> RecordBatch {
        let mut builder = TableBuilder::new(&ACTIONS[of_action("probed").unwrap()]);
        for seq in from..to {
            let row =
                builder.row().int(seq).instant(seq).text("subject").maybe_text(None).text("interaction").int(run * 32);
            row.text("reporter").text("program").text("1").text("PASS").instant(seq).text("signature").end();
        }
        builder.finish().unwrap()
    }

    fn entries(from: i64, to: i64, text: &str) -> RecordBatch {
        let mut builder = TableBuilder::new(&LEDGER);
        for seq in from..to {
            let row = builder.row().int(seq).maybe_instant(None).maybe_text(None).maybe_text(None).maybe_text(None);
            row.text("prev").text("this").bytes(text.as_bytes()).maybe_text(None).end();
        }
        builder.finish().unwrap()
    }

    /// `seq` and `column` of each row group of what is written under `limits`.
    fn groups(
        table: &Table,
        limits: Limits,
        column: &str,
        given: &[(usize, RecordBatch)],
    ) -> Vec<Vec<(i64, Option<i64>)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.parquet");
        let mut writer = TableWriter::create(table, &path).unwrap();
        writer.limits = limits;
        for (run, batch) in given {
            writer.push(*run, batch).unwrap();
        }
        let rows = writer.finish().unwrap().sync().unwrap();
        let open = || ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let read = |group| {
            let batches: Vec<_> = open().with_row_groups(vec![group]).build().unwrap().map(Result::unwrap).collect();
            let ints = |batch: &RecordBatch, name| -> Int64Array {
                batch
                    .column_by_name(name)
                    .and_then(|column| column.as_primitive_opt::<Int64Type>().cloned())
                    .unwrap_or_else(|| Int64Array::new_null(batch.num_rows()))
            };
            batches
                .iter()
                .flat_map(|batch| {
                    let (seq, other) = (ints(batch, "seq"), ints(batch, column));
                    (0..batch.num_rows())
                        .map(|row| (seq.value(row), other.iter().nth(row).flatten()))
                        .collect::<Vec<_>>()
                })
                .collect::<Vec<_>>()
        };
        let found: Vec<_> = (0..open().metadata().num_row_groups()).map(read).collect();
        assert_eq!(found.iter().map(Vec::len).sum::<usize>(), rows);
        found
    }

    #[test]
    fn a_row_group_has_rows_of_one_run_in_their_order_and_never_more_than_its_limit() {
        let given = [(0, probes(0, 1, 6)), (7, probes(7, 6, 8)), (0, probes(0, 8, 19)), (7, probes(7, 19, 20))];
        let table = &ACTIONS[of_action("probed").unwrap()];
        let found = groups(table, Limits { rows: 8, bytes: usize::MAX }, "slice", &given);
        let of = |run: i64, seqs: &[i64]| seqs.iter().map(|seq| (*seq, Some(run * 32))).collect::<Vec<_>>();
        let zero: Vec<i64> = (1..6).chain(8..19).collect();
        assert_eq!(found, [of(0, &zero[..8]), of(0, &zero[8..]), of(7, &[6, 7, 19])]);
    }

    #[test]
    fn rows_of_many_bytes_make_small_row_groups() {
        let given: Vec<_> = (0..6).map(|batch| (0, entries(batch * 2 + 1, batch * 2 + 3, &"x".repeat(1000)))).collect();
        let limits = Limits { rows: 100, bytes: 4000 };
        let found = groups(&LEDGER, limits, "no other", &given);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4]);
        let seqs: Vec<i64> = found.concat().into_iter().map(|(seq, _)| seq).collect();
        assert_eq!(seqs, (1..13).collect::<Vec<_>>());
        assert_eq!(groups(&LEDGER, Limits { rows: 5, bytes: usize::MAX }, "no other", &given).len(), 3);
    }
}
