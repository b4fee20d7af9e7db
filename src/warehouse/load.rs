//! The load: an export in, typed Parquet out, every hash and link of the chain checked on the way.
//!
//! One thread reads and decompresses. Blocks of lines are parsed, canonicalised, hashed and typed on all cores. One thread puts
//! the results in the file's order, and hands the rows to the table writers, which encode columns on all cores. A block is
//! cut by size and holds whole lines, so that neither the number of threads nor their timing reaches the rows.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::prelude::*;

use super::schema::{self, Table};
use super::state::{Head, Warehouse};
use super::tables::{Batches, Tables};
use super::writer::TableWriter;
use super::{LineFault, WarehouseError};
use crate::export::{Block, Blocks, Export, ExportError};
use crate::ledger::json::{Literals, Parser};
use crate::ledger::{self, Chain, Entry, Head as ChainHead, Link, Segment, canonical};

/// Faults of lines that are reported together, at most.
pub const FAULT_LIMIT: usize = 100;

/// Bytes of a block of lines.
const BLOCK_BYTES: usize = 2 << 20;

/// What a load is told, beyond the export.
pub struct LoadOptions<'a> {
    /// Files of the run's inputs to keep beside the ledger, by name: content, or a file to copy.
    pub inputs: &'a [(String, Input)],
    /// Called after every batch of blocks with the entries so far.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// The content of an input that is kept.
#[derive(Debug, Clone)]
pub enum Input {
    /// These bytes.
    Bytes(Vec<u8>),
    /// An empty folder.
    Folder,
    /// Those of this file.
    File(std::path::PathBuf),
}

/// What a load did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// Entries read and checked.
    pub entries: u64,
    /// The head reached.
    pub head: Option<Head>,
    /// True where the export followed on the entries that were there.
    pub continued: bool,
}

/// What became of one block.
struct Parsed {
    segment: Segment,
    batches: Batches,
    faults: Vec<LineFault>,
    bytes: Vec<u8>,
    entries: u64,
}

/// Loads the ledger of an export into a warehouse. An export that begins at `seq` 1 replaces what is there; one that begins
/// later must follow on its head (profile 1.2). On any fault the warehouse stays as it was.
pub fn load(export: &Export, warehouse: &mut Warehouse, options: &LoadOptions<'_>) -> Result<Loaded, WarehouseError> {
    let tables: Vec<&Table> = [&schema::LEDGER].into_iter().chain(&schema::ACTIONS).collect();
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    warehouse.sweep(&names)?;
    let number = warehouse.state().loads.iter().max().map_or(1, |last| last + 1);
    for name in &names {
        let folder = warehouse.join(name);
        std::fs::create_dir_all(&folder).map_err(|source| WarehouseError::io(&folder, source))?;
    }
    let writers = tables
        .iter()
        .map(|table| TableWriter::create(table, &warehouse.part(table.name, number)))
        .collect::<Result<Vec<_>, _>>()?;
    let start = starting_head(export, warehouse)?;
    let continued = start.seq > 0;
    let result = read_all(export, start, writers, options);
    let (entries, head) = match result {
        Ok(done) => done,
        Err(fault) => {
            // The parts of a failed load are no part of the warehouse; what cannot be removed now is removed by the next load.
            let _ = warehouse.sweep(&names);
            return Err(fault);
        }
    };
    let head = (head.seq > 0).then_some(Head { seq: head.seq, entry_hash: head.entry_hash });
    warehouse.keep_inputs(number, options.inputs)?;
    let state = warehouse.state().after(number, head.clone(), continued);
    warehouse.commit(state, &names)?;
    Ok(Loaded { entries, head, continued })
}

/// Where the chain of this export must begin: at the head of the warehouse where its first entry comes later than `seq` 1.
fn starting_head(export: &Export, warehouse: &Warehouse) -> Result<ChainHead, WarehouseError> {
    let Some(head) = &warehouse.state().head else { return Ok(ChainHead::start()) };
    let mut blocks = Blocks::with_size(&export.ledger, 1);
    let Some(block) = blocks.next_block(Vec::new())? else { return Ok(ChainHead::start()) };
    let mut parser = Parser::new(Literals::Export);
    let first = block.lines().next().and_then(|line| parser.parse(line.bytes).ok()?.root().get("seq")?.as_i64());
    match first {
        Some(seq) if seq > 1 => Ok(ChainHead { seq: head.seq, entry_hash: head.entry_hash.clone() }),
        _ => Ok(ChainHead::start()),
    }
}

fn read_all(
    export: &Export,
    start: ChainHead,
    mut writers: Vec<TableWriter>,
    options: &LoadOptions<'_>,
) -> Result<(u64, ChainHead), WarehouseError> {
    let width = rayon::current_num_threads() * 2;
    std::thread::scope(|scope| {
        let (send_block, blocks) = sync_channel::<Result<Block, ExportError>>(width);
        let (give_back, buffers) = std::sync::mpsc::channel::<Vec<u8>>();
        let (send_batches, batches) = sync_channel::<Batches>(width);
        scope.spawn(move || {
            let mut source = Blocks::with_size(&export.ledger, BLOCK_BYTES);
            loop {
                let next = source.next_block(buffers.try_recv().unwrap_or_default()).transpose();
                let Some(block) = next else { return };
                let last = block.is_err();
                if send_block.send(block).is_err() || last {
                    return;
                }
            }
        });
        let writing = scope.spawn(move || {
            for Batches(tables) in batches {
                for (writer, batch) in writers.iter_mut().zip(tables) {
                    writer.push(batch)?;
                }
            }
            writers.into_iter().try_for_each(|writer| writer.finish().map(drop))
        });

        let mut chain = Chain::new(start);
        let mut faults = Vec::new();
        let mut entries = 0;
        let mut unread = None;
        while faults.len() < FAULT_LIMIT && unread.is_none() {
            let some = take(&blocks, width, &mut unread);
            if some.is_empty() {
                break;
            }
            let parsed: Vec<_> = some.into_par_iter().map_init(|| Parser::new(Literals::Export), parse_block).collect();
            for block in parsed {
                let block = block?;
                entries += block.entries;
                chain.join(block.segment);
                faults.extend(block.faults);
                let _ = give_back.send(block.bytes);
                if faults.is_empty() && send_batches.send(block.batches).is_err() {
                    break;
                }
            }
            (options.progress)(entries);
        }
        drop(blocks);
        drop(send_batches);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if !faults.is_empty() {
            let more = faults.len() >= FAULT_LIMIT;
            faults.truncate(FAULT_LIMIT);
            return Err(WarehouseError::Lines { faults, more });
        }
        if let Some(fault) = unread {
            return Err(fault.into());
        }
        let head = chain.finish().map_err(|broken| WarehouseError::Chain(Box::new(broken)))?;
        written?;
        if entries == 0 && !export.ledger.is_empty() {
            return Err(WarehouseError::Empty { path: export.root.clone() });
        }
        Ok((entries, head))
    })
}

/// Up to `width` blocks, waiting for the first only where none is ready.
fn take(blocks: &Receiver<Result<Block, ExportError>>, width: usize, unread: &mut Option<ExportError>) -> Vec<Block> {
    let mut some = Vec::with_capacity(width);
    while some.len() < width {
        match blocks.recv() {
            Ok(Ok(block)) => some.push(block),
            Ok(Err(fault)) => {
                *unread = Some(fault);
                break;
            }
            Err(_) => break,
        }
    }
    some
}

fn parse_block(parser: &mut Parser, block: Block) -> Result<Parsed, WarehouseError> {
    let mut tables = Tables::new();
    let mut segment = Segment::new(block.file.clone());
    let mut faults = Vec::new();
    let mut bytes = Vec::new();
    let mut entries = 0;
    for line in block.lines() {
        let document = match parser.parse(line.bytes) {
            Ok(document) => document,
            Err(fault) => {
                faults.push(LineFault {
                    file: block.file.to_string(),
                    line: line.number,
                    byte: line.byte + fault.byte as u64,
                    what: fault.what.to_string(),
                });
                if faults.len() == FAULT_LIMIT {
                    break;
                }
                continue;
            }
        };
        bytes.clear();
        canonical::write_without(document.root(), &ledger::HASH_MEMBERS, &mut bytes);
        let entry = Entry::read(document.root());
        let computed = ledger::entry_hash(&bytes, entry.prev_hash.unwrap_or_default());
        let link = Link { seq: entry.seq, prev_hash: entry.prev_hash, entry_hash: entry.entry_hash, computed };
        segment.push(line.number, &link);
        entries += 1;
        if let Some(seq) = entry.seq {
            tables.push(&entry, seq, &bytes);
        }
    }
    let batches = tables.finish().map_err(|fault| WarehouseError::parquet(Path::new(&*block.file), fault.into()))?;
    Ok(Parsed { segment, batches, faults, bytes: block.bytes, entries })
}
