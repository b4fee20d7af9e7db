//! The load: an export in, typed Parquet out, every hash and link of the chain checked on the way.
//!
//! One thread reads and decompresses. Blocks of lines are parsed, canonicalised, hashed and typed on all cores. One thread puts
//! the results in the file's order, and hands the rows to the table writers, which encode columns on all cores. A block is
//! cut by size and holds whole lines, so that neither the number of threads nor their timing reaches the rows.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::prelude::*;

use super::lookup::entry_hash_at;
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
    /// Whether a ledger may take the place of another one that does not begin it.
    pub new_ledger: bool,
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

/// Where a ledger begins, and what the warehouse knows of it.
struct Start {
    /// The chain's head before its first entry.
    head: ChainHead,
    /// Entries up to this one are in the warehouse already, and stay.
    kept: i64,
    /// The head of the warehouse, which the ledger must hold.
    known: Option<Head>,
}

/// What became of one block.
struct Parsed {
    known_hash: Option<String>,
    segment: Segment,
    batches: Batches,
    faults: Vec<LineFault>,
    bytes: Vec<u8>,
    entries: u64,
}

/// Loads the ledger of an export into a warehouse. An export that begins at `seq` 1 takes the place of what is there, which must be
/// its beginning; one that begins later follows on what is there, and may repeat some of it (profile 1.2). On any fault the
/// warehouse stays as it was.
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
    let start = start_of(export, warehouse, options)?;
    let continued = start.head.seq > 0;
    let known = start.known.clone();
    let result = read_all(export, start, writers, options).and_then(|(entries, head, known_hash)| {
        same_history(warehouse, known.as_ref(), continued, &head, known_hash)?;
        Ok((entries, head))
    });
    let (entries, head) = match result {
        Ok(done) => done,
        Err(fault) => {
            // The parts of a failed load are no part of the warehouse; what cannot be removed now is removed by the next load.
            let _ = warehouse.sweep(&names);
            return Err(fault);
        }
    };
    let head = (head.seq > 0).then_some(Head { seq: head.seq, entry_hash: head.entry_hash });
    let head = if continued { furthest(warehouse.state().head.clone(), head) } else { head };
    warehouse.keep_inputs(number, options.inputs)?;
    let state = warehouse.state().after(number, head.clone(), continued);
    warehouse.commit(state, &names)?;
    Ok(Loaded { entries, head, continued })
}

/// Where this export's ledger begins. One whose first entry comes later than `seq` 1 follows on an entry of the warehouse: its head, or
/// an earlier one where the export repeats some.
fn start_of(export: &Export, warehouse: &Warehouse, options: &LoadOptions<'_>) -> Result<Start, WarehouseError> {
    let Some(head) = warehouse.state().head.clone() else {
        return Ok(Start { head: ChainHead::start(), kept: 0, known: None });
    };
    let mut parser = Parser::new(Literals::Export);
    let first = Blocks::with_size(&export.ledger, 1).next_block(Vec::new())?.and_then(|block| {
        let line = block.lines().next()?;
        parser.parse(line.bytes).ok()?.root().get("seq")?.as_i64()
    });
    match first {
        Some(seq) if seq > 1 => {
            let before = (seq - 1).min(head.seq);
            let entry_hash = match before == head.seq {
                true => head.entry_hash.clone(),
                false => entry_hash_at(warehouse, before)?.unwrap_or_default(),
            };
            Ok(Start { head: ChainHead { seq: before, entry_hash }, kept: head.seq, known: Some(head) })
        }
        _ => Ok(Start { head: ChainHead::start(), kept: 0, known: Some(head).filter(|_| !options.new_ledger) }),
    }
}

/// The ledger that was read must hold the head that the warehouse has reached; one that only adds may end before it, at an entry that
/// the warehouse has.
fn same_history(
    warehouse: &Warehouse,
    known: Option<&Head>,
    continued: bool,
    reached: &ChainHead,
    known_hash: Option<String>,
) -> Result<(), WarehouseError> {
    let Some(known) = known else { return Ok(()) };
    let (seq, export, here) = match known_hash {
        Some(hash) => (known.seq, hash, Some(known.entry_hash.clone())),
        // It follows on the head without repeating it: the first link has been compared.
        None if continued && reached.seq > known.seq => return Ok(()),
        None if !continued => (known.seq, "nothing".to_owned(), Some(known.entry_hash.clone())),
        None => (reached.seq, reached.entry_hash.clone(), entry_hash_at(warehouse, reached.seq)?),
    };
    match here {
        Some(here) if here == export => Ok(()),
        here => Err(WarehouseError::Rewritten { seq, export, warehouse: here.unwrap_or_else(|| "nothing".to_owned()) }),
    }
}

fn furthest(a: Option<Head>, b: Option<Head>) -> Option<Head> {
    [a, b].into_iter().flatten().max_by_key(|head| head.seq)
}

fn read_all(
    export: &Export,
    start: Start,
    mut writers: Vec<TableWriter>,
    options: &LoadOptions<'_>,
) -> Result<(u64, ChainHead, Option<String>), WarehouseError> {
    let (kept, known) = (start.kept, start.known.map_or(0, |head| head.seq));
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

        let mut chain = Chain::new(start.head);
        let mut known_hash = None;
        let mut faults = Vec::new();
        let mut entries = 0;
        let mut unread = None;
        while faults.len() < FAULT_LIMIT && unread.is_none() {
            let some = take(&blocks, width, &mut unread);
            if some.is_empty() {
                break;
            }
            let parsed: Vec<_> = some
                .into_par_iter()
                .map_init(|| Parser::new(Literals::Export), |parser, block| parse_block(parser, block, kept, known))
                .collect();
            for block in parsed {
                let block = block?;
                entries += block.entries;
                known_hash = known_hash.or(block.known_hash);
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
        Ok((entries, head, known_hash))
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

/// Parses a block. Entries up to `kept` make no rows; the hash of the one at `known` is told.
fn parse_block(parser: &mut Parser, block: Block, kept: i64, known: i64) -> Result<Parsed, WarehouseError> {
    let mut tables = Tables::new();
    let mut segment = Segment::new(block.file.clone());
    let mut faults = Vec::new();
    let mut bytes = Vec::new();
    let mut entries = 0;
    let mut known_hash = None;
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
        let Some(seq) = entry.seq else { continue };
        if seq == known {
            known_hash = entry.entry_hash.map(str::to_owned);
        }
        if seq > kept {
            tables.push(&entry, seq, &bytes);
        }
    }
    let batches = tables.finish().map_err(|fault| WarehouseError::parquet(Path::new(&*block.file), fault.into()))?;
    Ok(Parsed { known_hash, segment, batches, faults, bytes: block.bytes, entries })
}
