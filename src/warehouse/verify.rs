//! The chain once more, from Parquet alone: no export is needed to prove that a warehouse holds what was hashed.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use rayon::prelude::*;

use super::state::{Head, Warehouse};
use super::{LineFault, WarehouseError};
use crate::ledger::json::{Literals, Parser};
use crate::ledger::{Chain, Head as ChainHead, Link, Segment};

const COLUMNS: [&str; 4] = ["seq", "prev_hash", "entry_hash", "canonical"];

/// What the check of the chain found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerdict {
    /// Entries whose hash and link hold.
    pub entries: u64,
    /// The head reached.
    pub head: Option<Head>,
}

/// Recomputes every hash and compares every link and `seq` of a warehouse's `ledger`, on all cores; row groups are read as they
/// are needed. The head must be the one that `state.json` names.
pub fn verify_chain(warehouse: &Warehouse) -> Result<ChainVerdict, WarehouseError> {
    let mut chain = Chain::new(ChainHead::start());
    for part in warehouse.parts("ledger") {
        let broken = |source| WarehouseError::parquet(&part, source);
        let file = File::open(&part).map_err(|source| WarehouseError::io(&part, source))?;
        let metadata = ArrowReaderMetadata::load(&file, Default::default()).map_err(broken)?;
        let groups: Vec<usize> = (0..metadata.metadata().num_row_groups()).collect();
        let mut first_row = 1;
        let firsts: Vec<u64> = groups
            .iter()
            .map(|group| {
                let first = first_row;
                first_row += metadata.metadata().row_group(*group).num_rows().unsigned_abs();
                first
            })
            .collect();
        for some in groups.chunks(rayon::current_num_threads().max(1)) {
            let segments: Vec<_> =
                some.par_iter().map(|group| check_group(&part, &metadata, *group, firsts[*group])).collect();
            for segment in segments {
                chain.join(segment?);
            }
        }
    }
    let entries = chain.entries();
    let head = chain.finish().map_err(|broken| WarehouseError::Chain(Box::new(broken)))?;
    let head = (head.seq > 0).then_some(Head { seq: head.seq, entry_hash: head.entry_hash });
    if head != warehouse.state().head {
        return Err(WarehouseError::NotAWarehouse {
            path: warehouse.path().to_path_buf(),
            what: "its ledger does not end at the head that state.json names".to_owned(),
        });
    }
    Ok(ChainVerdict { entries, head })
}

fn check_group(
    part: &Path,
    metadata: &ArrowReaderMetadata,
    group: usize,
    first_row: u64,
) -> Result<Segment, WarehouseError> {
    let broken = |source| WarehouseError::parquet(part, source);
    let file = File::open(part).map_err(|source| WarehouseError::io(part, source))?;
    let mask = ProjectionMask::columns(metadata.parquet_schema(), COLUMNS);
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
        .with_projection(mask)
        .with_row_groups(vec![group])
        .build()
        .map_err(broken)?;
    let name: Arc<str> = part.display().to_string().into();
    let mut segment = Segment::new(name);
    let mut parser = Parser::new(Literals::Canonical);
    let mut row = first_row;
    for batch in reader {
        let batch = batch.map_err(|source| broken(source.into()))?;
        check_batch(part, &batch, &mut segment, &mut parser, &mut row)?;
    }
    Ok(segment)
}

fn check_batch(
    part: &Path,
    batch: &RecordBatch,
    segment: &mut Segment,
    parser: &mut Parser,
    row: &mut u64,
) -> Result<(), WarehouseError> {
    let strange = |row: u64, what: &str| WarehouseError::Lines {
        faults: vec![LineFault { file: part.display().to_string(), line: row, byte: 0, what: what.to_owned() }],
        more: false,
    };
    let column = |name: &str| batch.column_by_name(name);
    let columns = (
        column("seq").and_then(|array| array.as_primitive_opt::<Int64Type>()),
        column("prev_hash").and_then(|array| array.as_string_opt::<i32>()),
        column("entry_hash").and_then(|array| array.as_string_opt::<i32>()),
        column("canonical").and_then(|array| array.as_binary_opt::<i32>()),
    );
    let (Some(seq), Some(prev), Some(hash), Some(canonical)) = columns else {
        return Err(strange(*row, "the ledger has not the columns of a ledger"));
    };
    for index in 0..batch.num_rows() {
        let bytes = canonical.value(index);
        let stated = parser.parse(bytes).ok().and_then(|document| document.root().get("seq")?.as_i64());
        if stated != Some(seq.value(index)) {
            return Err(strange(*row, "the seq column differs from the canonical bytes"));
        }
        let link = Link {
            seq: stated,
            prev_hash: Some(prev.value(index)),
            entry_hash: Some(hash.value(index)),
            computed: crate::ledger::entry_hash(bytes, prev.value(index)),
        };
        segment.push(*row, &link);
        *row += 1;
    }
    Ok(())
}
