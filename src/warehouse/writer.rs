//! One Parquet file of one table, its columns encoded in parallel as the rows come.
//!
//! A row group holds rows of one run of slices alone, in the order in which they came, and as many as [`ROW_GROUP_ROWS`], whatever the
//! batches. Several groups are open at once, one a run, as pages encoded so far. So the bytes depend on the rows and on how
//! a block cuts them, not on threads.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::WarehouseError;
use super::schema::{Column, Kind, Table};

/// Rows of a row group.
pub const ROW_GROUP_ROWS: usize = 65_536;

/// Bytes of a page before it is compressed: no more than the allocator keeps at hand for the next one.
const PAGE_BYTES: usize = 512 << 10;

/// So few rows cost less to encode than another thread costs to wake.
const FEW_ROWS: usize = 4096;

/// Writes one file. Nothing is promised of the file before [`TableWriter::finish`].
pub struct TableWriter {
    path: PathBuf,
    schema: SchemaRef,
    file: SerializedFileWriter<File>,
    columns: ArrowRowGroupWriterFactory,
    open: Vec<Option<Group>>,
    groups: usize,
    rows: usize,
}

/// A row group being encoded.
struct Group {
    /// The leaves of each column.
    columns: Vec<Vec<ArrowColumnWriter>>,
    rows: usize,
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
        let open = (0..table.runs()).map(|_| None).collect();
        Ok(TableWriter { path: path.to_path_buf(), schema, file, columns, open, groups: 0, rows: 0 })
    }

    /// Takes rows of one run, and writes every row group that is full.
    pub fn push(&mut self, run: usize, batch: &RecordBatch) -> Result<(), WarehouseError> {
        self.push_rows(run, batch).map_err(|source| WarehouseError::parquet(&self.path, source))
    }

    fn push_rows(&mut self, run: usize, batch: &RecordBatch) -> Result<(), ParquetError> {
        let mut from = 0;
        while from < batch.num_rows() {
            let mut group = match self.open.get_mut(run).and_then(Option::take) {
                Some(group) => group,
                None => self.new_group()?,
            };
            let take = (ROW_GROUP_ROWS - group.rows).min(batch.num_rows() - from);
            group.encode(&self.schema, &batch.slice(from, take))?;
            from += take;
            if group.rows == ROW_GROUP_ROWS {
                self.append(group)?;
            } else if let Some(place) = self.open.get_mut(run) {
                *place = Some(group);
            }
        }
        Ok(())
    }

    fn new_group(&self) -> Result<Group, ParquetError> {
        let mut writers = self.columns.create_column_writers(self.groups)?.into_iter();
        let of_field = |field: &DataType| writers.by_ref().take(leaves(field)).collect();
        let columns = self.schema.fields().iter().map(|field| field.data_type()).map(of_field).collect();
        Ok(Group { columns, rows: 0 })
    }

    fn append(&mut self, group: Group) -> Result<(), ParquetError> {
        let chunks: Vec<_> = group
            .columns
            .into_par_iter()
            .map(|leaves| leaves.into_iter().map(ArrowColumnWriter::close).collect::<Result<Vec<_>, _>>())
            .collect::<Result<_, _>>()?;
        let mut written = self.file.next_row_group()?;
        for chunk in chunks.into_iter().flatten() {
            chunk.append_to_row_group(&mut written)?;
        }
        written.close()?;
        self.groups += 1;
        self.rows += group.rows;
        Ok(())
    }

    /// Writes what is left, run by run, closes the file and syncs it. Returns how many rows it holds.
    pub fn finish(mut self) -> Result<usize, WarehouseError> {
        for group in std::mem::take(&mut self.open).into_iter().flatten() {
            self.append(group).map_err(|source| WarehouseError::parquet(&self.path, source))?;
        }
        let TableWriter { path, file, rows, .. } = self;
        let file = file.into_inner().map_err(|source| WarehouseError::parquet(&path, source))?;
        file.sync_all().map_err(|source| WarehouseError::io(&path, source))?;
        Ok(rows)
    }
}

impl Group {
    fn encode(&mut self, schema: &SchemaRef, batch: &RecordBatch) -> Result<(), ParquetError> {
        self.rows += batch.num_rows();
        let encode = |((writers, field), column): ((&mut Vec<ArrowColumnWriter>, &FieldRef), &ArrayRef)| {
            let leaves = compute_leaves(field, column)?;
            writers.iter_mut().zip(&leaves).try_for_each(|(writer, leaf)| writer.write(leaf))
        };
        let columns = self.columns.iter_mut().zip(schema.fields()).zip(batch.columns());
        if batch.num_rows() < FEW_ROWS {
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
