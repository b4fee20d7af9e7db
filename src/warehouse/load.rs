//! The load: an export in, typed Parquet out, every hash and link of the chain checked on the way ([`super::pipeline`] does the work).

use super::known::{self, KnownFile};
use super::lookup::entry_hash_at;
use super::schema::{self, Table};
use super::state::{Head, Warehouse};
use super::writer::TableWriter;
use super::{WarehouseError, pipeline};
use crate::export::{Blocks, Export};
use crate::ledger::Head as ChainHead;
use crate::ledger::json::{Literals, Parser};

/// Faults of lines that are reported together, at most.
pub const FAULT_LIMIT: usize = 100;

/// What a load is told, beyond the export.
pub struct LoadOptions<'a> {
    /// Files of the run's inputs to keep beside the ledger, by name: content, or a file to copy.
    pub inputs: &'a [(String, Input)],
    /// Whether a ledger may take the place of another one that does not begin it.
    pub new_ledger: bool,
    /// Whether every file is read, those too that an earlier load read.
    pub anew: bool,
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
    /// The export's first files that were known by their bytes, and not read.
    pub known_files: usize,
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

/// Loads the ledger of an export into a warehouse. An export that begins at `seq` 1 takes the place of what is there, which must be
/// its beginning; one that begins later follows on what is there, and may repeat some of it (profile 1.2). Files at its beginning that
/// an earlier load read are known by their bytes, and not read again. On any fault the warehouse stays as it was.
pub fn load(export: &Export, warehouse: &mut Warehouse, options: &LoadOptions<'_>) -> Result<Loaded, WarehouseError> {
    let tables: Vec<&Table> = [&schema::LEDGER].into_iter().chain(&schema::ACTIONS).collect();
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    warehouse.sweep(&names)?;
    let number = warehouse.number() + 1;
    let known = match options.anew || options.new_ledger {
        true => Vec::new(),
        false => known::files(export, warehouse.state())?,
    };
    let ledger = export.ledger.get(known.len()..).unwrap_or_default().to_vec();
    let export = &Export { ledger, ..export.clone() };
    for name in &names {
        let folder = warehouse.join(name);
        std::fs::create_dir_all(&folder).map_err(|source| WarehouseError::io(&folder, source))?;
    }
    let writers = tables
        .iter()
        .map(|table| TableWriter::create(table, &warehouse.part(table.name, number)))
        .collect::<Result<Vec<_>, _>>()?;
    let start = start_of(export, warehouse, options, known.last())?;
    // An export from the first entry on follows on the warehouse too, where it begins with files that were read already.
    let (follows, continued) = (start.head.seq > 0, start.head.seq > 0 && known.is_empty());
    let held = start.known.clone();
    let (begun, was) = (start.head.seq, warehouse.state().head.as_ref().map_or(0, |head| head.seq));
    let order = pipeline::Order {
        export,
        start: start.head,
        kept: start.kept,
        known: start.known.map_or(0, |head| head.seq),
        progress: options.progress,
    };
    let result = pipeline::run(&order, writers).and_then(|done| {
        let unread = known.last().filter(|file| held.as_ref().is_some_and(|head| file.last_seq == head.seq));
        if unread.is_none() {
            same_history(warehouse, held.as_ref(), continued, &done.head, done.known_hash)?;
        }
        Ok((done.entries, done.head, done.files))
    });
    let (entries, head, files) = match result {
        Ok(done) => done,
        Err(fault) => {
            // The parts of a failed load are no part of the warehouse; what cannot be removed now is removed by the next load.
            let _ = warehouse.sweep(&names);
            return Err(fault);
        }
    };
    let head = (head.seq > 0).then_some(Head { seq: head.seq, entry_hash: head.entry_hash });
    let head = if follows { furthest(warehouse.state().head.clone(), head) } else { head };
    warehouse.keep_inputs(number, options.inputs)?;
    let (known_files, read) = (known.len(), !export.ledger.is_empty());
    let before = if continued { warehouse.state().files.clone() } else { known };
    // What is known is one ledger from its first entry on, with no gap and no entry twice.
    let joined = before.last().map_or(0, |file| file.last_seq) == begun;
    let files = if continued && !(joined && begun == was) { before } else { [before, files].concat() };
    let state = warehouse.state().after(number, head.clone(), follows, read, files);
    warehouse.commit(state, &names)?;
    let reached = head.as_ref().map_or(0, |head| head.seq.unsigned_abs());
    Ok(Loaded { entries: if known_files > 0 { reached } else { entries }, head, continued, known_files })
}

/// Where this export's ledger begins. One whose first entry comes later than `seq` 1 follows on an entry of the warehouse: its head, or
/// an earlier one where the export repeats some.
fn start_of(
    export: &Export,
    warehouse: &Warehouse,
    options: &LoadOptions<'_>,
    known: Option<&KnownFile>,
) -> Result<Start, WarehouseError> {
    let Some(head) = warehouse.state().head.clone() else {
        return Ok(Start { head: ChainHead::start(), kept: 0, known: None });
    };
    if let Some(file) = known {
        let entry_hash = entry_hash_at(warehouse, file.last_seq)?.unwrap_or_default();
        return Ok(Start { head: ChainHead { seq: file.last_seq, entry_hash }, kept: head.seq, known: Some(head) });
    }
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
