//! The rows of one file, in order, checked one by one on all threads: JSON lines or Parquet (4.1).

use std::fs::File;
use std::sync::mpsc;
use std::thread;

use arrow::array::{Array, StructArray};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use rayon::prelude::*;

use super::super::RatingError;
use super::cell::{Cell, Fault, Source};
use super::record::Record;
use crate::export::{Block, Blocks, ExportFile};
use crate::ledger::json::{Literals, Parser};

/// One row as it was read: its number from 1, and the row, or its id where that is text and what is wrong with it.
pub(super) struct Row<R> {
    pub number: u64,
    pub record: Result<R, (Option<String>, Fault)>,
}

/// Bytes of JSON lines that one thread parses at a time.
const BLOCK_BYTES: usize = 1 << 20;
/// Parquet rows that one thread checks at a time.
const BATCH_ROWS: usize = 8192;

/// The rows of a JSON lines file, plain or compressed.
pub(super) fn lines<R: Record>(
    file: &ExportFile,
    take: impl FnMut(Row<R>) -> Result<(), RatingError>,
) -> Result<(), RatingError> {
    let mut blocks = Blocks::with_size(std::slice::from_ref(file), BLOCK_BYTES);
    let mut spare: Vec<Vec<u8>> = Vec::new();
    let next_round = move || {
        let mut round = Vec::new();
        while round.len() < round_size() {
            match blocks.next_block(spare.pop().unwrap_or_default())? {
                Some(block) => round.push(block),
                None => break,
            }
        }
        let read: Vec<Vec<Row<R>>> = round.par_iter().map(block_rows).collect();
        spare.extend(round.into_iter().map(|block| block.bytes));
        Ok(read)
    };
    rounds(next_round, take)
}

/// The rows of a Parquet file.
pub(super) fn parquet<R: Record>(
    file: &ExportFile,
    take: impl FnMut(Row<R>) -> Result<(), RatingError>,
) -> Result<(), RatingError> {
    let mut reader = open(file)?;
    let mut next = 1;
    let next_round = move || {
        let mut round = Vec::new();
        for batch in reader.by_ref().take(round_size()) {
            let batch =
                batch.map_err(|source| RatingError::Parquet { path: file.path.clone(), source: source.into() })?;
            let rows = batch.num_rows() as u64;
            round.push((next, StructArray::from(batch)));
            next += rows;
        }
        Ok(round.par_iter().map(|(first, table)| batch_rows(*first, table)).collect())
    };
    rounds(next_round, take)
}

fn round_size() -> usize {
    2 * rayon::current_num_threads()
}

/// Takes the rows of round after round, in order, until one is empty. The next round is read while one is taken.
fn rounds<R: Record>(
    mut next_round: impl FnMut() -> Result<Vec<Vec<Row<R>>>, RatingError> + Send,
    mut take: impl FnMut(Row<R>) -> Result<(), RatingError>,
) -> Result<(), RatingError> {
    thread::scope(|scope| {
        let (give, get) = mpsc::sync_channel(1);
        scope.spawn(move || {
            loop {
                let round = next_round();
                let last = round.as_ref().map_or(true, Vec::is_empty);
                // Nobody gets it where taking a row has failed.
                if give.send(round).is_err() || last {
                    return;
                }
            }
        });
        for round in get {
            round?.into_iter().flatten().try_for_each(&mut take)?;
        }
        Ok(())
    })
}

/// The schema that a writer may have left in the file is not believed: the columns are of the types that Parquet itself
/// states, so text is one type, and a timestamp has a zone where its instants are said to be of UTC.
fn open(file: &ExportFile) -> Result<ParquetRecordBatchReader, RatingError> {
    let opened = File::open(&file.path).map_err(|source| RatingError::Io { path: file.path.clone(), source })?;
    ParquetRecordBatchReaderBuilder::try_new_with_options(
        opened,
        ArrowReaderOptions::new().with_skip_arrow_metadata(true),
    )
    .and_then(|builder| builder.with_batch_size(BATCH_ROWS).build())
    .map_err(|source| RatingError::Parquet { path: file.path.clone(), source })
}

fn block_rows<R: Record>(block: &Block) -> Vec<Row<R>> {
    let mut parser = Parser::new(Literals::Export);
    block
        .lines()
        .map(|line| match parser.parse(line.bytes) {
            Ok(document) => row(line.number, Source::Json(document.root())),
            Err(fault) => {
                let fault = Fault { member: None, reason: format!("not one JSON object: {fault}") };
                Row { number: line.number, record: Err((None, fault)) }
            }
        })
        .collect()
}

fn batch_rows<R: Record>(first: u64, table: &StructArray) -> Vec<Row<R>> {
    (0..table.len()).map(|index| row(first + index as u64, Source::Columns { table, row: index })).collect()
}

fn row<R: Record>(number: u64, source: Source<'_>) -> Row<R> {
    let record = R::read(source).map_err(|fault| {
        let id = match source.cell("id") {
            Cell::Text(text) => Some(text.to_owned()),
            _ => None,
        };
        (id, fault)
    });
    Row { number, record }
}
