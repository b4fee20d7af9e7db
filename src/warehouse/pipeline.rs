//! The load's work: blocks of lines read, parsed on all cores, put in order, and encoded on all cores, in bounded memory.
//!
//! One thread reads and decompresses. Each block becomes a task that parses, canonicalises, hashes and types its lines. One thread takes the
//! results in the file's order, joins the chain, and gives the rows to the lanes, one a table, each of which encodes what it
//! is given in that order. A block carries a permit from its reading until a lane has taken the last of its rows, and there are only so
//! many, so that no stage runs away from another; a lane lets only so many rows wait before it encodes them. A block is cut by size and
//! holds whole lines, so that neither the number of threads nor their timing reaches the rows.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::known::{self, KnownFile};
use super::load::FAULT_LIMIT;
use super::tables::{Batch, Tables};
use super::writer::{Rows, TableWriter, Unsynced, Written};
use super::{LineFault, WarehouseError};
use crate::export::{Block, Blocks, Export, ExportError, FileDigest};
use crate::ledger::json::{Literals, Parser};
use crate::ledger::{self, Chain, Entry, Head as ChainHead, Link, Segment, canonical};

/// Bytes of a block of lines.
const BLOCK_BYTES: usize = 8 << 20;

/// What is read, and from where on it counts.
pub(super) struct Order<'a> {
    pub export: &'a Export,
    /// The chain's head before the first entry.
    pub start: ChainHead,
    /// Entries up to this one make no rows.
    pub kept: i64,
    /// The entry whose hash is told.
    pub known: i64,
    /// Called with the entries so far.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// What was read.
pub(super) struct Done {
    pub entries: u64,
    pub head: ChainHead,
    pub known_hash: Option<String>,
    /// The files, as they were read.
    pub files: Vec<KnownFile>,
}

/// Reads the whole ledger, checks it and writes its rows. The writers' files are finished only where nothing was wrong.
pub(super) fn run(order: &Order<'_>, writers: Vec<TableWriter>) -> Result<Done, WarehouseError> {
    tracing::debug!("load: begun to read");
    let gate = Gate::new(rayon::current_num_threads() * 2 + 2);
    // The disk is waited for beside the work on what comes after.
    let (disk, unsynced) = channel::<Unsynced>();
    let syncing = std::thread::spawn(|| unsynced.into_iter().try_for_each(Unsynced::sync));
    let lanes: Vec<Lane> = writers.into_iter().map(|writer| Lane::new(writer, disk.clone())).collect();
    drop(disk);
    let bench = Bench { order, tools: Mutex::new(Vec::new()) };
    let (send, events) = channel();
    let (give_back, buffers) = channel();
    let collected = std::thread::scope(|threads| {
        let reading = send.clone();
        threads.spawn(|| read(order, &gate, buffers, reading));
        // The reader ends with the collector, however that ends.
        let _closing = Closing(&gate);
        rayon::in_place_scope(|tasks| {
            let mut collector = Collector::new(order, &lanes, give_back);
            collector.collect(tasks, &bench, &send, &events).map(|()| collector)
        })
    })?;
    tracing::debug!("load: every block parsed and encoded");
    let done = collected.finish(order)?;
    std::thread::scope(|threads| {
        let end = |lane: Lane| lane.finish().map(|written| threads.spawn(|| written.sync()));
        let ending = lanes.into_par_iter().map(end).collect::<Result<Vec<_>, _>>()?;
        ending.into_iter().try_for_each(|sync| sync.join().unwrap_or_else(|panic| resume_unwind(panic)).map(drop))
    })?;
    // The lanes are gone, and with them whoever could send.
    syncing.join().unwrap_or_else(|panic| resume_unwind(panic))?;
    Ok(done)
}

enum Event {
    Read(usize, Block, Permit),
    Parsed(usize, Result<Box<Parsed>, WarehouseError>, Permit),
    Panicked(Box<dyn Any + Send>),
    /// So many blocks were read, of which files, or why no more.
    End(usize, Result<Digests, ExportError>),
}

type Digests = Vec<(Arc<str>, FileDigest)>;

/// What became of one block.
struct Parsed {
    file: Arc<str>,
    last: Option<i64>,
    known_hash: Option<String>,
    segment: Segment,
    batches: Vec<Batch>,
    faults: Vec<LineFault>,
    bytes: Vec<u8>,
    entries: u64,
}

/// Reads blocks until the end, a fault, or the gate is closed.
fn read(order: &Order<'_>, gate: &Arc<Gate>, buffers: Receiver<Vec<u8>>, events: Sender<Event>) {
    let mut source = Blocks::with_size(&order.export.ledger, BLOCK_BYTES);
    // One file that holds all grows from night to night; of several the first ones stay.
    if order.export.ledger.len() > 1 || order.start.seq > 0 {
        source = source.hashed();
    }
    let mut count = 0;
    while let Some(permit) = gate.enter() {
        let end = match source.next_block(buffers.try_recv().unwrap_or_default()) {
            Ok(Some(block)) => {
                if events.send(Event::Read(count, block, permit)).is_err() {
                    return;
                }
                count += 1;
                continue;
            }
            Ok(None) => Ok(source.digests()),
            Err(fault) => Err(fault),
        };
        // Nobody listens any more where the load has failed.
        let _ = events.send(Event::End(count, end));
        return;
    }
}

/// What parses blocks, with the buffers that were used before.
struct Bench<'a> {
    order: &'a Order<'a>,
    tools: Mutex<Vec<(Parser, Tables)>>,
}

impl Bench<'_> {
    fn parse(&self, block: Block) -> Result<Box<Parsed>, WarehouseError> {
        let tools = lock(&self.tools).pop();
        let (mut parser, mut tables) = tools.unwrap_or_else(|| (Parser::new(Literals::Export), Tables::new()));
        let parsed = parse_block(&mut parser, &mut tables, block, self.order.kept, self.order.known);
        lock(&self.tools).push((parser, tables));
        parsed.map(Box::new)
    }
}

fn parse_block(
    parser: &mut Parser,
    tables: &mut Tables,
    block: Block,
    kept: i64,
    known: i64,
) -> Result<Parsed, WarehouseError> {
    let mut segment = Segment::new(block.file.clone());
    let mut faults = Vec::new();
    let broken = |fault| WarehouseError::parquet(Path::new(&*block.file), fault);
    let mut entries = 0;
    let (mut known_hash, mut last) = (None, None);
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
        canonical::write_without(document.root(), &ledger::HASH_MEMBERS, tables.canonical.begin());
        let entry = Entry::read(document.root());
        let computed = ledger::entry_hash(tables.canonical.value(), entry.prev_hash.unwrap_or_default());
        let link = Link { seq: entry.seq, prev_hash: entry.prev_hash, entry_hash: entry.entry_hash, computed };
        segment.push(line.number, &link);
        entries += 1;
        if entry.seq.is_some_and(|seq| seq == known) {
            known_hash = entry.entry_hash.map(str::to_owned);
        }
        last = entry.seq.or(last);
        match entry.seq {
            Some(seq) if seq > kept => tables.push(&entry, seq).map_err(broken)?,
            _ => tables.canonical.drop_value(),
        }
    }
    let batches = tables.finish().map_err(broken)?;
    Ok(Parsed { file: block.file, last, known_hash, segment, batches, faults, bytes: block.bytes, entries })
}

/// Takes the parsed blocks in the file's order.
struct Collector<'a> {
    lanes: &'a [Lane],
    progress: &'a (dyn Fn(u64) + Sync),
    give_back: Sender<Vec<u8>>,
    chain: Chain,
    faults: Vec<LineFault>,
    files: Result<Digests, ExportError>,
    /// The last entry of each file with one, in order.
    ends: Vec<(Arc<str>, i64)>,
    entries: u64,
    known_hash: Option<String>,
}

impl<'a> Collector<'a> {
    fn new(order: &Order<'a>, lanes: &'a [Lane], give_back: Sender<Vec<u8>>) -> Collector<'a> {
        Collector {
            lanes,
            progress: order.progress,
            give_back,
            chain: Chain::new(order.start.clone()),
            faults: Vec::new(),
            files: Ok(Vec::new()),
            ends: Vec::new(),
            entries: 0,
            known_hash: None,
        }
    }

    /// Until every block that was read has been taken, or there are faults enough, or a lane has failed.
    fn collect(
        &mut self,
        tasks: &rayon::Scope<'a>,
        bench: &'a Bench<'a>,
        send: &Sender<Event>,
        events: &Receiver<Event>,
    ) -> Result<(), WarehouseError> {
        let (mut early, mut next, mut end) = (BTreeMap::new(), 0, None);
        while end != Some(next) && self.faults.len() < FAULT_LIMIT && !self.lanes.iter().any(Lane::has_failed) {
            let Ok(event) = events.recv() else { break };
            match event {
                Event::Read(place, block, permit) => {
                    let send = send.clone();
                    tasks.spawn(move |_| {
                        let event = match catch_unwind(AssertUnwindSafe(|| bench.parse(block))) {
                            Ok(parsed) => Event::Parsed(place, parsed, permit),
                            Err(panic) => Event::Panicked(panic),
                        };
                        let _ = send.send(event);
                    });
                }
                Event::Parsed(place, parsed, permit) => {
                    early.insert(place, (parsed?, permit));
                    while let Some((parsed, permit)) = early.remove(&next) {
                        next += 1;
                        self.take(*parsed, permit, tasks);
                    }
                }
                Event::Panicked(panic) => resume_unwind(panic),
                Event::End(count, files) => {
                    end = Some(count);
                    self.files = files;
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, parsed: Parsed, permit: Permit, tasks: &rayon::Scope<'a>) {
        self.entries += parsed.entries;
        self.known_hash = self.known_hash.take().or(parsed.known_hash);
        self.chain.join(parsed.segment);
        match (self.ends.last_mut(), parsed.last) {
            (Some((file, end)), Some(last)) if *file == parsed.file => *end = last,
            (_, Some(last)) => self.ends.push((parsed.file, last)),
            (_, None) => {}
        }
        self.faults.extend(parsed.faults);
        let _ = self.give_back.send(parsed.bytes);
        if self.faults.is_empty() {
            let permit = Arc::new(permit);
            for batch in parsed.batches {
                if let Some(lane) = self.lanes.get(batch.table) {
                    lane.give(Work { run: batch.run, rows: batch.rows, _permit: Arc::clone(&permit) }, tasks);
                }
            }
        }
        (self.progress)(self.entries);
    }

    /// What was wrong, the lines first: an error of reading comes behind them, and the chain is judged only over what could be read.
    fn finish(mut self, order: &Order<'_>) -> Result<Done, WarehouseError> {
        if !self.faults.is_empty() {
            let more = self.faults.len() >= FAULT_LIMIT;
            self.faults.truncate(FAULT_LIMIT);
            return Err(WarehouseError::Lines { faults: self.faults, more });
        }
        let mut reached = order.start.seq;
        let mut ends = self.ends.into_iter().peekable();
        let files = self.files?.into_iter().map(|(name, digest)| {
            reached = ends.next_if(|(file, _)| *file == name).map_or(reached, |(_, end)| end);
            KnownFile { digest, compression: known::compression(&name).to_owned(), last_seq: reached }
        });
        let files = files.collect();
        self.lanes.iter().find_map(Lane::take_fault).map_or(Ok(()), Err)?;
        let head = self.chain.finish().map_err(|broken| WarehouseError::Chain(Box::new(broken)))?;
        if self.entries == 0 && order.start.seq == 0 && !order.export.ledger.is_empty() {
            return Err(WarehouseError::Empty { path: order.export.root.clone() });
        }
        Ok(Done { entries: self.entries, head, known_hash: self.known_hash, files })
    }
}

/// Rows for a lane.
struct Work {
    run: usize,
    rows: Rows,
    _permit: Arc<Permit>,
}

/// The writer of one table with the rows that wait for it. One task at a time is at work on a lane.
struct Lane {
    writer: Mutex<TableWriter>,
    queue: Mutex<Queue>,
    disk: Sender<Unsynced>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    busy: bool,
    fault: Option<WarehouseError>,
}

impl Lane {
    fn new(writer: TableWriter, disk: Sender<Unsynced>) -> Lane {
        Lane { writer: Mutex::new(writer), queue: Mutex::default(), disk }
    }

    fn give<'a>(&'a self, work: Work, tasks: &rayon::Scope<'a>) {
        let mut queue = lock(&self.queue);
        queue.waiting.push_back(work);
        if !std::mem::replace(&mut queue.busy, true) {
            tasks.spawn(move |_| self.drain());
        }
    }

    fn drain(&self) {
        let mut writer = lock(&self.writer);
        while let Some(work) = self.next() {
            if let Err(fault) = writer.push(work.run, work.rows) {
                let mut queue = lock(&self.queue);
                queue.fault.get_or_insert(fault);
            }
            if let Some(written) = writer.unsynced() {
                // Where a sync has failed nobody listens, and it is told at the end.
                let _ = self.disk.send(written);
            }
        }
    }

    /// The next work; none once the lane has failed.
    fn next(&self) -> Option<Work> {
        let mut queue = lock(&self.queue);
        if queue.fault.is_some() {
            queue.waiting.clear();
        }
        let work = queue.waiting.pop_front();
        queue.busy = work.is_some();
        work
    }

    fn has_failed(&self) -> bool {
        lock(&self.queue).fault.is_some()
    }

    fn take_fault(&self) -> Option<WarehouseError> {
        lock(&self.queue).fault.take()
    }

    fn finish(self) -> Result<Written, WarehouseError> {
        self.writer.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
    }
}

/// So many permits and no more.
struct Gate {
    free: Mutex<Option<usize>>,
    changed: Condvar,
}

impl Gate {
    fn new(permits: usize) -> Arc<Gate> {
        Arc::new(Gate { free: Mutex::new(Some(permits)), changed: Condvar::new() })
    }

    /// A permit, once there is one; none where the gate is closed.
    fn enter(self: &Arc<Gate>) -> Option<Permit> {
        let mut free = lock(&self.free);
        loop {
            match free.as_mut() {
                None => return None,
                Some(0) => free = self.changed.wait(free).unwrap_or_else(PoisonError::into_inner),
                Some(some) => {
                    *some -= 1;
                    return Some(Permit(Arc::clone(self)));
                }
            }
        }
    }
}

/// Closes a gate when it is dropped.
struct Closing<'a>(&'a Gate);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) = None;
        self.0.changed.notify_all();
    }
}

/// Leave to hold a block; given back when it is dropped.
struct Permit(Arc<Gate>);

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(free) = lock(&self.0.free).as_mut() {
            *free += 1;
        }
        self.0.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
