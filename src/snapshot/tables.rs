//! The public tables (3.3): Parquet whose bytes are a function of the schema and the rows.
//!
//! Whatever a reader could learn of how a query ran is taken out: rows are cut anew into batches of one size before they
//! are written, row groups and pages have fixed sizes, `created_by` names no version, and only types that every reader
//! knows are let through. What a column means and its unit stand in the column's Arrow metadata (`doc`, `unit`), which the
//! file keeps under `ARROW:schema`.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::BatchCoalescer;
use arrow::datatypes::{DataType, Field, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

use super::SnapshotError;

/// Rows of a batch as it is handed to the writer.
const BATCH_ROWS: usize = 8192;
/// Rows of a row group.
const GROUP_ROWS: usize = 128 * BATCH_ROWS;
/// Bytes of a page, before compression.
const PAGE_BYTES: usize = 1 << 20;
/// The zstd level of the pages.
const LEVEL: i32 = 6;
/// The writer, without a version.
const CREATED_BY: &str = "bureau";

/// A column with its meaning and its unit, both in the column's metadata. A column without a unit has `unit` empty.
pub fn column(name: &str, data_type: DataType, nullable: bool, doc: &str, unit: &str) -> Field {
    let metadata = [("doc", doc), ("unit", unit)].into_iter().filter(|(_, text)| !text.is_empty());
    let metadata: HashMap<String, String> = metadata.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    Field::new(name, data_type, nullable).with_metadata(metadata)
}

/// Writes a public table to `path`, over what is there, and gives its rows. The batches must have the schema's columns in
/// its order; how the rows are spread over them does not matter. Not synced: [`publish`](super::publish) copies and syncs.
pub fn write_table(
    path: &Path,
    schema: SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<u64, SnapshotError> {
    let fault = |reason: String| SnapshotError::Table { path: path.to_path_buf(), reason };
    for field in schema.fields() {
        public(field).map_err(fault)?;
    }
    let file = File::create(path).map_err(SnapshotError::io("create", path))?;
    let mut writer =
        ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties())).map_err(parquet_fault(path))?;
    let mut rows = 0;
    let mut cut = BatchCoalescer::new(Arc::clone(&schema), BATCH_ROWS);
    for batch in batches {
        let batch = batch.map_err(|reason| fault(reason.to_string()))?;
        rows += batch.num_rows() as u64;
        // The table's own schema, so that a query's metadata cannot slip in, and a null where none may be is an error.
        let batch = RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec())
            .map_err(|reason| fault(reason.to_string()))?;
        cut.push_batch(batch).map_err(|reason| fault(reason.to_string()))?;
        while let Some(full) = cut.next_completed_batch() {
            writer.write(&full).map_err(parquet_fault(path))?;
        }
    }
    cut.finish_buffered_batch().map_err(|reason| fault(reason.to_string()))?;
    while let Some(rest) = cut.next_completed_batch() {
        writer.write(&rest).map_err(parquet_fault(path))?;
    }
    writer.close().map_err(parquet_fault(path))?;
    Ok(rows)
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(ZstdLevel::try_new(LEVEL).map_or(Compression::UNCOMPRESSED, Compression::ZSTD))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_max_row_group_bytes(None)
        .set_write_batch_size(1024)
        .set_data_page_size_limit(PAGE_BYTES)
        .set_dictionary_page_size_limit(PAGE_BYTES)
        .set_data_page_row_count_limit(20_000)
        .set_statistics_enabled(EnabledStatistics::Page)
        .build()
}

/// Whether a column's type may leave the house (3.3).
fn public(field: &Field) -> Result<(), String> {
    match field.data_type() {
        DataType::Utf8 | DataType::Int64 | DataType::Float64 | DataType::Boolean | DataType::Decimal128(..) => Ok(()),
        DataType::Timestamp(TimeUnit::Millisecond, Some(zone)) if &**zone == "UTC" => Ok(()),
        DataType::List(item) => public(item),
        DataType::Struct(members) => members.iter().try_for_each(|member| public(member)),
        other => Err(format!("column {} has the type {other}, which may not stand in a public table", field.name())),
    }
}

/// The rows of a table that may be published: every column's type is checked.
pub(super) fn rows_if_public(path: &Path) -> Result<u64, SnapshotError> {
    let file = File::open(path).map_err(SnapshotError::io("read", path))?;
    let metadata = ArrowReaderMetadata::load(&file, Default::default()).map_err(parquet_fault(path))?;
    for field in metadata.schema().fields() {
        public(field).map_err(|reason| SnapshotError::Table { path: path.to_path_buf(), reason })?;
    }
    counted(
        metadata.metadata().file_metadata().num_rows(),
        metadata.metadata().row_groups().iter().map(|group| group.num_rows()),
    )
    .map_err(|reason| SnapshotError::Table { path: path.to_path_buf(), reason })
}

/// The rows that a footer states, where the row groups agree with it.
pub(super) fn counted(total: i64, mut groups: impl Iterator<Item = i64>) -> Result<u64, String> {
    let sum = groups.try_fold(0i64, |sum, rows| sum.checked_add(rows).filter(|_| rows >= 0));
    match u64::try_from(total) {
        Ok(rows) if sum == Some(total) => Ok(rows),
        _ => Err("the row groups do not add up to the rows".to_owned()),
    }
}

fn parquet_fault(path: &Path) -> impl FnOnce(ParquetError) -> SnapshotError + use<'_> {
    move |fault| match fault {
        ParquetError::External(inner) if inner.is::<std::io::Error>() => match inner.downcast::<std::io::Error>() {
            Ok(source) => SnapshotError::Io { action: "write", path: path.to_path_buf(), source: *source },
            Err(other) => SnapshotError::Table { path: path.to_path_buf(), reason: other.to_string() },
        },
        other => SnapshotError::Table { path: path.to_path_buf(), reason: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        ArrayRef, Decimal128Array, Float64Array, Int64Array, ListBuilder, StringArray, StringBuilder,
        TimestampMillisecondArray,
    };
    use arrow::datatypes::Schema;

    fn batch(schema: &SchemaRef, rows: std::ops::Range<i64>) -> RecordBatch {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for n in rows.clone() {
            (0..n % 3).for_each(|item| lists.values().append_value(format!("v{item}")));
            lists.append(n % 5 != 0);
        }
        let decimals =
            Decimal128Array::from_iter_values(rows.clone().map(i128::from)).with_precision_and_scale(16, 15).unwrap();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter(
                rows.clone().map(|n| (n % 7 != 0).then(|| format!("agent {}", n * n % 1009))),
            )),
            Arc::new(Int64Array::from_iter_values(rows.clone())),
            Arc::new(Float64Array::from_iter(rows.clone().map(|n| (n % 2 == 0).then_some(n as f64 / 8.0)))),
            Arc::new(TimestampMillisecondArray::from_iter_values(rows.clone()).with_timezone("UTC")),
            Arc::new(decimals),
            Arc::new(lists.finish()),
        ];
        RecordBatch::try_new(Arc::clone(schema), columns).unwrap()
    }

    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            column("subject", DataType::Utf8, true, "who", ""),
            column("count", DataType::Int64, false, "how many", "entries"),
            column("mean", DataType::Float64, true, "posterior mean", "1"),
            column("at", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), false, "when", "ms"),
            column("weight", DataType::Decimal128(16, 15), false, "weight", "1"),
            column("labels", DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))), true, "labels", ""),
        ]))
    }

    #[test]
    fn how_the_rows_were_spread_does_not_reach_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let schema = schema();
        let rows = 30_000;
        let mut written = Vec::new();
        for size in [rows, 1, 777, 8192, 20_011] {
            let path = folder.path().join(format!("{size}.parquet"));
            let starts = (0..rows).step_by(size as usize);
            let batches = starts.map(|from| Ok(batch(&schema, from..(from + size).min(rows))));
            // Slices of one long batch, and empty ones between.
            assert_eq!(write_table(&path, Arc::clone(&schema), batches).unwrap(), rows as u64);
            written.push(std::fs::read(&path).unwrap());
            let whole = batch(&schema, 0..rows);
            let slices = (0..rows).step_by(size as usize).flat_map(|from| {
                let length = size.min(rows - from) as usize;
                [Ok(whole.slice(from as usize, length)), Ok(whole.slice(0, 0))]
            });
            write_table(&path, Arc::clone(&schema), slices).unwrap();
            written.push(std::fs::read(&path).unwrap());
        }
        assert!(written.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(rows_if_public(&folder.path().join("1.parquet")).unwrap(), rows as u64);
    }

    #[test]
    fn meanings_and_units_survive_in_the_file_and_the_writer_has_no_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_table(&path, schema(), [Ok(batch(&schema(), 0..3))]).unwrap();
        let read = ArrowReaderMetadata::load(&File::open(&path).unwrap(), Default::default()).unwrap();
        assert_eq!(read.schema().field(1).metadata()["unit"], "entries");
        assert_eq!(read.schema().field(1).metadata()["doc"], "how many");
        assert_eq!(read.metadata().file_metadata().created_by(), Some("bureau"));
    }

    #[test]
    fn an_empty_table_is_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        assert_eq!(write_table(&path, schema(), []).unwrap(), 0);
        assert_eq!(rows_if_public(&path).unwrap(), 0);
    }

    #[test]
    fn types_that_not_every_reader_knows_stay_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let strange = [
            DataType::Utf8View,
            DataType::UInt64,
            DataType::Int32,
            DataType::Binary,
            DataType::Timestamp(TimeUnit::Millisecond, None),
            DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            DataType::List(Arc::new(Field::new("item", DataType::LargeUtf8, true))),
        ];
        for data_type in strange {
            let schema = Arc::new(Schema::new(vec![Field::new("c", data_type, true)]));
            let refused = write_table(&path, schema, []).unwrap_err();
            assert!(refused.to_string().contains("may not stand in a public table"), "{refused}");
            assert!(!path.exists());
        }
    }
}
