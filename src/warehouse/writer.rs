//! One Parquet file of one table, its columns encoded in parallel.
//!
//! A row group holds rows of one run of slices alone, in the order in which they came. Where there are several runs, their rows wait until
//! there are enough for a group, which is then encoded at one go: encoders held open for each run would take several times the memory,
//! and the time that it takes to have it. So the bytes depend on the rows and on how a block cuts them, not on threads.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef};
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
use super::pages::{self, Page};
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

/// Rows of one table: their columns, and the pages of the one that is of bytes, where the table has such a column.
pub struct Rows {
    /// The columns that are not of bytes, in the table's order.
    pub batch: RecordBatch,
    /// The pages of the one that is. They hold as many values as there are rows.
    pub pages: Vec<Page>,
}

/// Bytes that are handed to the system at a time, at least.
const WRITE_BYTES: usize = 256 << 10;

/// Bytes of a file from which on the disk is asked to begin.
const MUCH_BYTES: usize = 32 << 20;

/// Writes one file. Nothing is promised of the file before [`Written::sync`].
pub struct TableWriter {
    path: PathBuf,
    file: SerializedFileWriter<BufWriter<File>>,
    layout: Layout,
    limits: Limits,
    runs: Vec<Run>,
    rows: usize,
    /// Bytes that [`TableWriter::unsynced`] has given out.
    begun: usize,
}

/// The columns of a file.
struct Layout {
    /// Those that are encoded here.
    fields: Vec<FieldRef>,
    /// The leaf that is made of pages, if one is.
    paged: Option<usize>,
    factory: ArrowRowGroupWriterFactory,
}

/// The rows of one run that are in no finished row group.
#[derive(Default)]
struct Run {
    waiting: Vec<RecordBatch>,
    /// The leaves of each column, of the rows that wait no more.
    columns: Option<Vec<Vec<ArrowColumnWriter>>>,
    pages: Vec<Page>,
    rows: usize,
    bytes: usize,
}

/// The leaves of a row group, encoded.
struct Chunks {
    rows: usize,
    encoded: Vec<ArrowColumnChunk>,
    pages: Vec<Page>,
}

impl TableWriter {
    /// Creates the file, which must not exist.
    pub fn create(table: &Table, path: &Path) -> Result<TableWriter, WarehouseError> {
        let io = |source| WarehouseError::io(path, source);
        let file = File::create_new(path).map_err(io)?;
        let broken = |source| WarehouseError::parquet(path, source);
        // The library copies pages that it did not make 8 KiB at a time.
        let file = BufWriter::with_capacity(WRITE_BYTES, file);
        let (file, factory) = ArrowWriter::try_new(file, table.schema(), Some(properties(table)))
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(broken)?;
        let limits = if table.runs() > 1 { APART } else { TOGETHER };
        let runs = (0..table.runs()).map(|_| Run::default()).collect();
        let layout = Layout::of(table, factory);
        Ok(TableWriter { path: path.to_path_buf(), file, layout, limits, runs, rows: 0, begun: 0 })
    }

    /// Takes rows of one run, and writes every row group that is full.
    pub fn push(&mut self, run: usize, rows: Rows) -> Result<(), WarehouseError> {
        self.push_rows(run, rows).map_err(|source| WarehouseError::parquet(&self.path, source))
    }

    fn push_rows(&mut self, place: usize, rows: Rows) -> Result<(), ParquetError> {
        let (apart, limits) = (self.runs.len() > 1, self.limits);
        let Rows { batch, mut pages } = rows;
        // Pages are not cut: a row group ends before the rows that would pass its limit, and one larger than that stands alone.
        let whole = self.layout.paged.is_some();
        let count = batch.num_rows();
        if whole && self.runs.get(place).is_some_and(|run| run.rows > 0 && run.rows + count > limits.rows) {
            self.end_group(place)?;
        }
        let mut from = 0;
        while from < count {
            let Some(run) = self.runs.get_mut(place) else { return Ok(()) };
            let take = if whole { count } else { (limits.rows - run.rows).min(count - from) };
            run.add(batch.slice(from, take), std::mem::take(&mut pages))?;
            from += take;
            if run.rows >= limits.rows || run.bytes >= limits.bytes {
                self.end_group(place)?;
            } else if !apart {
                run.encode(&self.layout)?;
            }
        }
        Ok(())
    }

    fn end_group(&mut self, place: usize) -> Result<(), ParquetError> {
        let full = self.runs.get_mut(place).map(std::mem::take).unwrap_or_default();
        let chunks = full.close(&self.layout)?;
        self.write(chunks)
    }

    fn write(&mut self, chunks: Chunks) -> Result<(), ParquetError> {
        if chunks.rows == 0 {
            return Ok(());
        }
        let mut paged = match self.layout.paged {
            Some(leaf) => Some((leaf, pages::chunk(self.file.schema_descr().column(leaf), chunks.pages)?)),
            None => None,
        };
        let mut written = self.file.next_row_group()?;
        let mut encoded = chunks.encoded.into_iter();
        for leaf in 0.. {
            match paged.take_if(|(paged, _)| *paged == leaf) {
                Some((_, (bytes, close))) => written.append_column(&bytes, close)?,
                None => match encoded.next() {
                    Some(chunk) => chunk.append_to_row_group(&mut written)?,
                    None => break,
                },
            }
        }
        written.close()?;
        self.rows += chunks.rows;
        Ok(())
    }

    /// The file, once much was written since this gave it last: so that another thread waits for the disk meanwhile.
    pub fn unsynced(&mut self) -> Option<Unsynced> {
        if self.file.bytes_written() - self.begun < MUCH_BYTES {
            return None;
        }
        self.begun = self.file.bytes_written();
        // Where there is no handle left, the sync at the end does it all.
        let file = self.file.inner().get_ref().try_clone().ok()?;
        Some(Unsynced { path: self.path.clone(), file })
    }

    /// Writes what is left, run by run, and ends the file, which is then to be synced.
    pub fn finish(mut self) -> Result<Written, WarehouseError> {
        let close = |run: Run| run.close(&self.layout);
        let runs = std::mem::take(&mut self.runs).into_par_iter().map(close).collect::<Result<Vec<_>, _>>();
        let written = runs.and_then(|runs| runs.into_iter().try_for_each(|chunks| self.write(chunks)));
        let TableWriter { path, file, rows, .. } = self;
        let ended = written.and_then(|()| file.into_inner());
        let file = ended.map_err(|source| WarehouseError::parquet(&path, source))?;
        let file = file.into_inner().map_err(|fault| WarehouseError::io(&path, fault.into_error()))?;
        Ok(Written { file: Unsynced { path, file }, rows })
    }
}

/// A file of which something may not be on the disk.
pub struct Unsynced {
    path: PathBuf,
    file: File,
}

impl Unsynced {
    /// Waits for what was written so far. An error is told once, here or at another handle of the file.
    pub fn sync(self) -> Result<(), WarehouseError> {
        self.file.sync_all().map_err(|source| WarehouseError::io(&self.path, source))
    }
}

/// A file with all its rows, not yet sure to last.
pub struct Written {
    file: Unsynced,
    rows: usize,
}

impl Written {
    /// Waits until the file is on the disk. Returns how many rows it holds.
    pub fn sync(self) -> Result<usize, WarehouseError> {
        self.file.sync().map(|()| self.rows)
    }
}

impl Layout {
    fn of(table: &Table, factory: ArrowRowGroupWriterFactory) -> Layout {
        let (mut fields, mut paged, mut leaf) = (Vec::new(), None, 0);
        for (column, field) in table.columns.iter().zip(table.schema().fields()) {
            match column.is_paged() {
                true => paged = Some(leaf),
                false => fields.push(Arc::clone(field)),
            }
            leaf += leaves(field.data_type());
        }
        Layout { fields, paged, factory }
    }

    /// The writers of a row group: the leaves of each column that is encoded.
    fn writers(&self) -> Result<Vec<Vec<ArrowColumnWriter>>, ParquetError> {
        // The number of the group matters to encryption alone.
        let mut writers = self.factory.create_column_writers(0)?;
        if let Some(leaf) = self.paged {
            writers.remove(leaf);
        }
        let mut writers = writers.into_iter();
        let of_field = |field: &FieldRef| writers.by_ref().take(leaves(field.data_type())).collect();
        Ok(self.fields.iter().map(of_field).collect())
    }
}

impl Run {
    fn add(&mut self, batch: RecordBatch, pages: Vec<Page>) -> Result<(), ParquetError> {
        self.rows += batch.num_rows();
        for column in batch.columns() {
            self.bytes += column.to_data().get_slice_memory_size()?;
        }
        self.bytes += pages.iter().map(Page::byte_len).sum::<usize>();
        self.waiting.push(batch);
        self.pages.extend(pages);
        Ok(())
    }

    /// Ends the row group. Gives its leaves.
    fn close(mut self, layout: &Layout) -> Result<Chunks, ParquetError> {
        self.encode(layout)?;
        let leaves: Vec<_> = self.columns.take().unwrap_or_default().into_iter().flatten().collect();
        let encoded = leaves.into_par_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>()?;
        Ok(Chunks { rows: self.rows, encoded, pages: self.pages })
    }

    /// Encodes the rows that wait.
    fn encode(&mut self, layout: &Layout) -> Result<(), ParquetError> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let columns = match &mut self.columns {
            Some(columns) => columns,
            None => self.columns.insert(layout.writers()?),
        };
        let rows: usize = waiting.iter().map(RecordBatch::num_rows).sum();
        let encode = |(index, (writers, field)): (usize, (&mut Vec<ArrowColumnWriter>, &FieldRef))| {
            for batch in &waiting {
                let leaves = compute_leaves(field, batch.column(index))?;
                writers.iter_mut().zip(&leaves).try_for_each(|(writer, leaf)| writer.write(leaf))?;
            }
            Ok(())
        };
        let columns = columns.iter_mut().zip(&layout.fields).enumerate();
        if rows < FEW_ROWS {
            columns.into_iter().try_for_each(encode)
        } else {
            columns.collect::<Vec<_>>().into_par_iter().try_for_each(encode)
        }
    }
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
    use crate::warehouse::pages::Pages;
    use crate::warehouse::schema::{ACTIONS, LEDGER, of_action};
    use arrow::array::AsArray;
    use arrow::compute::concat_batches;
    use arrow::datatypes::Int64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    /// Probes `from` to `to`, whose slice tells their run.
    fn probes(run: i64, from: i64, to: i64) -> Rows {
        let mut builder = TableBuilder::new(&ACTIONS[of_action("probed").unwrap()]);
        for seq in from..to {
            let row =
                builder.row().int(seq).instant(seq).text("subject").maybe_text(None).text("interaction").int(run * 32);
            row.text("reporter").text("program").text("1").text("PASS").instant(seq).text("signature").end();
        }
        Rows { batch: builder.finish().unwrap(), pages: Vec::new() }
    }

    fn entries(from: i64, to: i64, text: &str) -> Rows {
        let (mut builder, mut pages) = (TableBuilder::new(&LEDGER), Pages::default());
        for seq in from..to {
            let row = builder.row().int(seq).maybe_instant(None).maybe_text(None).maybe_text(None).maybe_text(None);
            row.text("prev").text("this").maybe_text(None).end();
            pages.begin().extend_from_slice(format!("{seq} {text}").as_bytes());
            pages.keep().unwrap();
        }
        Rows { batch: builder.finish().unwrap(), pages: pages.finish().unwrap() }
    }

    /// The row groups of what is written under `limits`.
    fn groups(table: &Table, limits: Limits, given: Vec<(usize, Rows)>) -> Vec<RecordBatch> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.parquet");
        let mut writer = TableWriter::create(table, &path).unwrap();
        writer.limits = limits;
        for (run, rows) in given {
            writer.push(run, rows).unwrap();
        }
        let rows = writer.finish().unwrap().sync().unwrap();
        let open = || ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let read = |group| {
            let batches: Vec<_> = open().with_row_groups(vec![group]).build().unwrap().map(Result::unwrap).collect();
            concat_batches(&batches[0].schema(), &batches).unwrap()
        };
        let found: Vec<_> = (0..open().metadata().num_row_groups()).map(read).collect();
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), rows);
        found
    }

    fn ints(batch: &RecordBatch, column: &str) -> Vec<i64> {
        batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().values().to_vec()
    }

    #[test]
    fn a_row_group_has_rows_of_one_run_in_their_order_and_never_more_than_its_limit() {
        let given = vec![(0, probes(0, 1, 6)), (7, probes(7, 6, 8)), (0, probes(0, 8, 19)), (7, probes(7, 19, 20))];
        let table = &ACTIONS[of_action("probed").unwrap()];
        let found = groups(table, Limits { rows: 8, bytes: usize::MAX }, given);
        let zero: Vec<i64> = (1..6).chain(8..19).collect();
        let seqs: Vec<_> = found.iter().map(|group| ints(group, "seq")).collect();
        assert_eq!(seqs, [&zero[..8], &zero[8..], &[6, 7, 19]]);
        let slices: Vec<_> = found.iter().map(|group| ints(group, "slice")).collect();
        assert_eq!(slices, [vec![0; 8], vec![0; 8], vec![7 * 32; 3]]);
    }

    #[test]
    fn pages_stay_whole_and_beside_the_rows_that_they_came_with() {
        let long = "x".repeat(300_000);
        for (rows, bytes, sizes) in [
            (100, usize::MAX, vec![24]),
            (10, usize::MAX, vec![8, 8, 8]),
            (3, usize::MAX, vec![4; 6]),
            (100, 1, vec![4; 6]),
        ] {
            let given = (0..6).map(|batch| (0, entries(batch * 4 + 1, batch * 4 + 5, &long))).collect();
            let found = groups(&LEDGER, Limits { rows, bytes }, given);
            assert_eq!(found.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), sizes);
            let seqs: Vec<i64> = found.iter().flat_map(|group| ints(group, "seq")).collect();
            assert_eq!(seqs, (1..25).collect::<Vec<_>>());
            let values = found.iter().map(|group| group.column_by_name("canonical").unwrap().as_binary::<i32>());
            let values: Vec<&[u8]> = values.flat_map(|values| values.iter().flatten()).collect();
            assert!(seqs.iter().zip(values).all(|(seq, value)| value == format!("{seq} {long}").as_bytes()));
        }
    }
}
