//! Makes a ledger export of any size: signed, chained, without an error finding, the same bytes for the same arguments.
//!
//! It shares no code with the library, so that a fault of the canonical form, the hash or a signature shows when the library reads
//! what is made here. Entries are planned one after the other, written and signed in parallel, then chained:
//!
//! ```text
//! planner ─▶ clerk (all threads) ─▶ chain ─▶ ledger/*.jsonl.zst
//! ```

mod act;
mod claims;
mod detail;
mod draw;
mod entry;
mod files;
mod json;
mod planner;
mod queue;
mod random;
mod sign;
mod standing;
mod time;
mod words;
mod world;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Instant;

use clap::Parser;
use rayon::prelude::*;

use entry::{Clerk, Draft, NO_HASH, Spelling};
use files::Ledger;
use planner::Planner;
use queue::Extent;
use world::{Size, World};

/// A synthetic export, up to 2026-11-30T00:00:00Z.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many ledger entries
    #[arg(long)]
    entries: u64,
    /// What the export is made from: another seed, another export
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A directory that has no ledger yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Subjects [default: one for 400 entries, 60 to 5000]
    #[arg(long)]
    subjects: Option<usize>,
    /// Evaluators that are no subjects [default: one for 100 entries, 200 to 10000]
    #[arg(long)]
    evaluators: Option<usize>,
    /// Configured reporters
    #[arg(long, default_value_t = 36)]
    reporters: usize,
    /// Days from the first entry to the last
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(i64).range(1..=3650))]
    days: i64,
    /// How lines are spelt
    #[arg(long, value_enum, default_value = "canonical")]
    spelling: Spelling,
    /// Spoil the signature of one entry in so many; 0 spoils none
    #[arg(long, value_name = "K", default_value_t = 0)]
    spoil_signatures: u64,
    /// Threads; the bytes do not depend on it [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

/// Entries that are written together.
const BLOCK: u64 = 4096;
/// Entries of a file of the ledger, at most.
const FILE: u64 = 25 * BLOCK;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let begun = Instant::now();
    let entries = arguments.entries;
    let size = Size {
        subjects: arguments.subjects.unwrap_or((entries / 400).clamp(60, 5000) as usize),
        evaluators: arguments.evaluators.unwrap_or((entries / 100).clamp(200, 10_000) as usize),
        reporters: arguments.reporters,
    };
    let extent = Extent { entries, start: time::END - arguments.days * time::DAY, end: time::END };
    let world = World::new(arguments.seed, size, extent.start, extent.end);
    std::fs::create_dir_all(&arguments.out)?;
    // A small ledger is of several files, too.
    let every = (entries.div_ceil(3).div_ceil(BLOCK) * BLOCK).clamp(BLOCK, FILE);
    let ledger = Ledger::new(arguments.out.join("ledger"), every)?;
    files::surroundings(&world, &arguments.out, extent.start)?;
    let clerk =
        Clerk { world: &world, seed: arguments.seed, spelling: arguments.spelling, spoil: arguments.spoil_signatures };
    let planner = Planner::new(&world, arguments.seed, extent, arguments.spelling == Spelling::Mixed);
    let (counts, bytes) = write(&clerk, planner, ledger)?;
    let seconds = begun.elapsed().as_secs_f64();
    for (action, count) in &counts {
        println!("{action:24}{count:>12}");
    }
    println!(
        "{entries} entries, {bytes} bytes of JSON, {seconds:.2} s, {:.0} entries a second",
        entries as f64 / seconds
    );
    Ok(())
}

/// Writes the ledger. Three stages run at once, each a few blocks ahead of the next, so memory does not grow with the ledger.
fn write(
    clerk: &Clerk<'_>,
    mut planner: Planner<'_>,
    mut ledger: Ledger,
) -> std::io::Result<(BTreeMap<&'static str, u64>, u64)> {
    let (planned, plans) = sync_channel(2);
    let (chained, blocks) = sync_channel::<(u64, Vec<u8>)>(2);
    thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                let block: Vec<_> = planner.by_ref().take(BLOCK as usize).collect();
                if block.is_empty() || planned.send(block).is_err() {
                    break;
                }
            }
        });
        let writer = scope.spawn(move || {
            for (entries, lines) in blocks {
                ledger.write(entries, &lines)?;
            }
            ledger.finish()?;
            Ok(ledger.bytes)
        });
        let (mut counts, mut hash) = (BTreeMap::new(), NO_HASH);
        for block in plans {
            let drafts: Vec<Draft> = block.par_iter().map(|act| clerk.draft(act)).collect();
            let mut lines = Vec::with_capacity(BLOCK as usize * 1024);
            for (act, draft) in block.iter().zip(drafts) {
                *counts.entry(act.kind.action()).or_insert(0) += 1;
                hash = draft.finish(&hash, &mut lines);
            }
            // A writer that stopped has its own error to tell.
            if chained.send((block.len() as u64, lines)).is_err() {
                break;
            }
        }
        drop(chained);
        let bytes = writer.join().unwrap_or_else(|_| Err(std::io::Error::other("the writer panicked")))?;
        Ok((counts, bytes))
    })
}
