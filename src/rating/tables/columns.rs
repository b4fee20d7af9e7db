//! Valid rows as Parquet for SQL: text, whole numbers (micro-dollars), booleans and instants in milliseconds UTC.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBuilder, Int64Builder, RecordBatch, StringBuilder, TimestampMillisecondBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::super::RatingError;
use super::record::ColumnSpec;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Whole,
    Boolean,
    /// Milliseconds since 1970 UTC, put as [`Value::Whole`].
    Instant,
}

/// A value on its way into a column.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    Text(Option<&'a str>),
    Whole(Option<i64>),
    Boolean(Option<bool>),
}

enum Builder {
    Text(StringBuilder),
    Whole(Int64Builder),
    Boolean(BooleanBuilder),
    Instant(TimestampMillisecondBuilder),
}

/// Rows of a batch: small enough to stay in cache, and what the engine reads at a time.
const BATCH_ROWS: usize = 8192;

/// Writes the rows of one table to one Parquet file.
pub(super) struct Writer {
    path: PathBuf,
    schema: SchemaRef,
    builders: Vec<Builder>,
    waiting: usize,
    file: ArrowWriter<File>,
}

impl Writer {
    pub fn create(path: &Path, columns: &[ColumnSpec]) -> Result<Writer, RatingError> {
        let fields: Vec<Field> =
            columns.iter().map(|(name, kind, null)| Field::new(*name, data_type(*kind), *null)).collect();
        let schema = Arc::new(Schema::new(fields));
        let created = File::create(path).map_err(|source| RatingError::Io { path: path.to_owned(), source })?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by("bureau".to_owned())
            // Every query reads the whole table: least and greatest values would be found for nobody, and no id repeats.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_column_dictionary_enabled(ColumnPath::from("id"), false)
            .build();
        let file = ArrowWriter::try_new(created, Arc::clone(&schema), Some(properties))
            .map_err(|source| RatingError::Parquet { path: path.to_owned(), source })?;
        let builders = columns.iter().map(|(_, kind, _)| builder(*kind)).collect();
        Ok(Writer { path: path.to_owned(), schema, builders, waiting: 0, file })
    }

    /// Adds a row. `values` puts as many values as there are columns, each of its column's type.
    pub fn row(&mut self, values: impl FnOnce(&mut dyn FnMut(Value<'_>))) -> Result<(), RatingError> {
        let mut builders = self.builders.iter_mut();
        values(&mut |value| match (builders.next(), value) {
            (Some(Builder::Text(builder)), Value::Text(text)) => builder.append_option(text),
            (Some(Builder::Whole(builder)), Value::Whole(number)) => builder.append_option(number),
            (Some(Builder::Instant(builder)), Value::Whole(ms)) => builder.append_option(ms),
            (Some(Builder::Boolean(builder)), Value::Boolean(truth)) => builder.append_option(truth),
            (place, value) => {
                debug_assert!(place.is_none(), "{value:?} in a column of another type")
            }
        });
        self.waiting += 1;
        if self.waiting == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes what waits and closes the file.
    pub fn close(mut self) -> Result<PathBuf, RatingError> {
        self.flush()?;
        match self.file.close() {
            Ok(_) => Ok(self.path),
            Err(source) => Err(RatingError::Parquet { path: self.path, source }),
        }
    }

    fn flush(&mut self) -> Result<(), RatingError> {
        self.waiting = 0;
        let arrays: Vec<ArrayRef> = self.builders.iter_mut().map(Builder::take).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
            .map_err(parquet::errors::ParquetError::from)
            .and_then(|batch| self.file.write(&batch))
            .map_err(|source| RatingError::Parquet { path: self.path.clone(), source })
    }
}

impl Builder {
    fn take(&mut self) -> ArrayRef {
        match self {
            Builder::Text(builder) => Arc::new(builder.finish()),
            Builder::Whole(builder) => Arc::new(builder.finish()),
            Builder::Boolean(builder) => Arc::new(builder.finish()),
            Builder::Instant(builder) => Arc::new(builder.finish()),
        }
    }
}

fn builder(kind: Type) -> Builder {
    match kind {
        Type::Text => Builder::Text(StringBuilder::new()),
        Type::Whole => Builder::Whole(Int64Builder::new()),
        Type::Boolean => Builder::Boolean(BooleanBuilder::new()),
        Type::Instant => Builder::Instant(TimestampMillisecondBuilder::new().with_data_type(data_type(Type::Instant))),
    }
}

fn data_type(kind: Type) -> DataType {
    match kind {
        Type::Text => DataType::Utf8,
        Type::Whole => DataType::Int64,
        Type::Boolean => DataType::Boolean,
        Type::Instant => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
    }
}
