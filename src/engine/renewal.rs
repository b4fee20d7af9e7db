//! One column of a Parquet file computed anew: the bytes of the others are copied as they are.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Decimal128Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::Int64Type;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

use super::{BATCH_ROWS, EngineError, conform, failed, io, plain};

/// A column that every row has anew, and the columns that it is computed from.
#[derive(Debug, Clone, Copy)]
pub struct Anew {
    /// Its name. It is a decimal of at most 18 digits, and has a value in every row.
    pub column: &'static str,
    /// Of what it is made.
    pub from: &'static [&'static str],
}

/// Writes the rows of the file `from` to `to`, with the column that `renew` gives the rows of the columns named.
pub(super) fn renew(
    from: &Path,
    to: &Path,
    anew: Anew,
    renew: &(impl Fn(RecordBatch) -> Result<RecordBatch, EngineError> + Sync),
) -> Result<(), EngineError> {
    let broken = |source| EngineError::Parquet { path: from.to_path_buf(), source };
    let unwritten = |source| EngineError::Parquet { path: to.to_path_buf(), source };
    let file = File::open(from).map_err(|source| io(from, source))?;
    let known = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(broken)?;
    let schema = known.metadata().file_metadata().schema_descr();
    // Pages of copied columns have no index, and neither has the one beside them.
    let properties = WriterProperties::builder()
        .set_created_by("bureau".to_owned())
        .set_key_value_metadata(known.metadata().file_metadata().key_value_metadata().cloned())
        .set_dictionary_enabled(false)
        .set_compression(Compression::UNCOMPRESSED)
        .set_offset_index_disabled(true)
        .build();
    let groups: Vec<usize> = (0..known.metadata().num_row_groups()).collect();
    let values: Vec<Vec<i64>> =
        groups.par_iter().map(|group| values(from, &known, *group, anew, renew)).collect::<Result<_, _>>()?;

    let out = File::create(to).map_err(|source| io(to, source))?;
    let mut writer =
        SerializedFileWriter::new(out, schema.root_schema_ptr(), Arc::new(properties)).map_err(unwritten)?;
    for (group, values) in known.metadata().row_groups().iter().zip(values) {
        let mut put = || {
            let mut into = writer.next_row_group()?;
            for column in group.columns() {
                if column.column_path().string() == anew.column {
                    let Some(mut column) = into.next_column()? else {
                        return Err(ParquetError::General("a column is missing".to_owned()));
                    };
                    column.typed::<Int64Type>().write_batch(&values, Some(&vec![1; values.len()]), None)?;
                    column.close()?;
                } else {
                    let copied = ColumnCloseResult {
                        bytes_written: column.compressed_size().try_into().unwrap_or(0),
                        rows_written: group.num_rows().try_into().unwrap_or(0),
                        metadata: column.clone(),
                        bloom_filter: None,
                        column_index: None,
                        offset_index: None,
                    };
                    into.append_column(&file, copied)?;
                }
            }
            into.close().map(drop)
        };
        put().map_err(unwritten)?;
    }
    writer.close().map_err(unwritten)?;
    Ok(())
}

/// The column's values in one row group, in units of its last place.
fn values(
    from: &Path,
    known: &ArrowReaderMetadata,
    group: usize,
    anew: Anew,
    renew: &impl Fn(RecordBatch) -> Result<RecordBatch, EngineError>,
) -> Result<Vec<i64>, EngineError> {
    let broken = |source| EngineError::Parquet { path: from.to_path_buf(), source };
    let place = || from.display().to_string();
    let file = File::open(from).map_err(|source| io(from, source))?;
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, known.clone());
    let mask = ProjectionMask::columns(reader.parquet_schema(), anew.from.iter().copied());
    let batches = reader
        .with_projection(mask)
        .with_row_groups(vec![group])
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(broken)?;
    let mut values = Vec::new();
    for batch in batches {
        let batch = batch.and_then(|batch| conform(batch.clone(), &plain(&batch.schema())));
        let made = renew(batch.map_err(|source| failed(&place(), source.into()))?)?;
        let column = made.column_by_name(anew.column).filter(|column| {
            column.null_count() == 0 && matches!(column.data_type(), DataType::Decimal128(digits, _) if *digits <= 18)
        });
        let whole = column.and_then(|column| {
            let units = column.as_primitive::<Decimal128Type>().values().iter();
            units.map(|unit| i64::try_from(*unit).ok()).collect::<Option<Vec<i64>>>()
        });
        values.extend(whole.ok_or_else(|| EngineError::Column {
            query: place(),
            column: anew.column.to_owned(),
            wanted: "a decimal of at most 18 digits in every row",
        })?);
    }
    Ok(values)
}
