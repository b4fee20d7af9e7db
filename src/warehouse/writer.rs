//! One Parquet file of one table, its columns encoded in parallel.
//!
//! Rows are cut into row groups of one fixed size, whatever the batches they come in, so that the bytes depend on the rows
//! alone.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::WarehouseError;
use super::schema::Table;

/// Rows of a row group.
pub const ROW_GROUP_ROWS: usize = 65_536;

/// Writes one file. Nothing is promised of the file before [`TableWriter::finish`].
pub struct TableWriter {
    path: PathBuf,
    schema: SchemaRef,
    file: SerializedFileWriter<File>,
    columns: ArrowRowGroupWriterFactory,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    groups: usize,
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
        Ok(TableWriter {
            path: path.to_path_buf(),
            schema,
            file,
            columns,
            pending: Vec::new(),
            pending_rows: 0,
            groups: 0,
            rows: 0,
        })
    }

    /// Takes rows, and writes every row group that is full.
    pub fn push(&mut self, batch: RecordBatch) -> Result<(), WarehouseError> {
        let mut rest = batch;
        while self.pending_rows + rest.num_rows() >= ROW_GROUP_ROWS {
            let take = ROW_GROUP_ROWS - self.pending_rows;
            self.hold(rest.slice(0, take));
            rest = rest.slice(take, rest.num_rows() - take);
            self.write_group()?;
        }
        self.hold(rest);
        Ok(())
    }

    fn hold(&mut self, batch: RecordBatch) {
        if batch.num_rows() > 0 {
            self.pending_rows += batch.num_rows();
            self.pending.push(batch);
        }
    }

    fn write_group(&mut self) -> Result<(), WarehouseError> {
        let batches = std::mem::take(&mut self.pending);
        self.rows += std::mem::take(&mut self.pending_rows);
        let broken = |source| WarehouseError::parquet(&self.path, source);
        let mut writers = self.columns.create_column_writers(self.groups).map_err(broken)?.into_iter();
        let fields: Vec<(usize, Vec<ArrowColumnWriter>)> = self
            .schema
            .fields()
            .iter()
            .enumerate()
            .map(|(index, field)| (index, writers.by_ref().take(leaves(field.data_type())).collect()))
            .collect();
        let schema = &self.schema;
        let chunks: Vec<_> = fields
            .into_par_iter()
            .map(|(index, mut writers)| {
                for batch in &batches {
                    let leaves = compute_leaves(schema.field(index), batch.column(index))?;
                    for (writer, leaf) in writers.iter_mut().zip(&leaves) {
                        writer.write(leaf)?;
                    }
                }
                writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<Vec<_>, ParquetError>>()
            })
            .collect::<Result<_, ParquetError>>()
            .map_err(broken)?;
        let mut group = self.file.next_row_group().map_err(broken)?;
        for chunk in chunks.into_iter().flatten() {
            chunk.append_to_row_group(&mut group).map_err(broken)?;
        }
        group.close().map_err(broken)?;
        self.groups += 1;
        Ok(())
    }

    /// Writes what is left, closes the file and syncs it. Returns how many rows it holds.
    pub fn finish(mut self) -> Result<usize, WarehouseError> {
        if self.pending_rows > 0 {
            self.write_group()?;
        }
        let TableWriter { path, file, rows, .. } = self;
        let file = file.into_inner().map_err(|source| WarehouseError::parquet(&path, source))?;
        file.sync_all().map_err(|source| WarehouseError::io(&path, source))?;
        Ok(rows)
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
    let sorted = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("bureau".to_owned())
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_sorting_columns(Some(vec![sorted]));
    for name in table.distinct {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(*name), false);
    }
    for column in table.columns {
        if matches!(column.name, "canonical" | "signature" | "sender_signature" | "note" | "ground" | "text") {
            properties =
                properties.set_column_statistics_enabled(ColumnPath::from(column.name), EnabledStatistics::None);
        }
    }
    properties.build()
}
