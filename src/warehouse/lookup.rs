//! The hash of one entry that was loaded, found by the statistics of its row group.

use std::fs::File;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::file::statistics::Statistics;

use super::WarehouseError;
use super::state::Warehouse;

/// The `entry_hash` of the entry at a `seq`, or none where the warehouse has no such entry.
pub fn entry_hash_at(warehouse: &Warehouse, seq: i64) -> Result<Option<String>, WarehouseError> {
    for part in warehouse.parts("ledger") {
        let broken = |source| WarehouseError::parquet(&part, source);
        let file = File::open(&part).map_err(|source| WarehouseError::io(&part, source))?;
        let metadata = ArrowReaderMetadata::load(&file, Default::default()).map_err(broken)?;
        let groups = metadata.metadata().row_groups().iter().enumerate();
        let may_hold = |statistics: Option<&Statistics>| match statistics {
            Some(Statistics::Int64(range)) => {
                range.min_opt().is_none_or(|least| *least <= seq) && range.max_opt().is_none_or(|most| seq <= *most)
            }
            _ => true,
        };
        let groups = groups.filter(|(_, group)| may_hold(group.column(0).statistics())).map(|(index, _)| index);
        let mask = ProjectionMask::columns(metadata.parquet_schema(), ["seq", "entry_hash"]);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_projection(mask)
            .with_row_groups(groups.collect())
            .build()
            .map_err(broken)?;
        for batch in reader {
            let batch = batch.map_err(|source| broken(source.into()))?;
            let seqs = batch.column_by_name("seq").and_then(|column| column.as_primitive_opt::<Int64Type>());
            let hashes = batch.column_by_name("entry_hash").and_then(|column| column.as_string_opt::<i32>());
            if let (Some(seqs), Some(hashes)) = (seqs, hashes)
                && let Some(row) = seqs.values().iter().position(|found| *found == seq)
            {
                return Ok(Some(hashes.value(row).to_owned()));
            }
        }
    }
    Ok(None)
}
