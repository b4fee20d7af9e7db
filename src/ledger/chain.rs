//! The chain: every hash recomputed, every link and `seq` compared, across the borders of blocks too (1.2, 1.7).
//!
//! An entry's hash needs nothing but the entry and the `prev_hash` that it states, so blocks are checked apart, each into a
//! [`Segment`], on any thread. [`Chain::join`] then takes the segments in order and compares the entries that meet at their borders.
//!
//! An entry is compared with the one before it as that one stands: a wrong hash in the middle is one break and does not make
//! all that follows one. An entry without a readable `prev_hash` breaks its link, one without a readable `entry_hash` breaks its hash and
//! the link behind it, one without a readable `seq` breaks the order.

use super::entry::{NO_HASH, encode_hash};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

/// How many breaks are kept with their place; the others are counted.
pub const REPORTED_BREAKS: usize = 100;

/// How many characters a break repeats of what stands where a hash should.
const SHOWN: usize = 100;

/// What the chain reads of one entry.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Its `seq`, where it can be read.
    pub seq: Option<i64>,
    /// Its `prev_hash` as it stands.
    pub prev_hash: Option<&'a str>,
    /// Its `entry_hash` as it stands.
    pub entry_hash: Option<&'a str>,
    /// The hash recomputed from its canonical form and its `prev_hash`.
    pub computed: [u8; 32],
}

/// A place where the chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {file}: line {line}: {}: expected {expected}, found {found}", seq_text(*.seq))]
pub struct ChainBreak {
    /// The entry's `seq` as it stands.
    pub seq: Option<i64>,
    /// The file that the entry is in.
    pub file: Arc<str>,
    /// Its line there, from 1.
    pub line: u64,
    /// `chain.hash`, `chain.link` or `chain.seq`.
    pub rule: &'static str,
    /// What should stand there; cut where an entry before states a hash that is none.
    pub expected: String,
    /// What stands there, its first characters where it is longer than any hash.
    pub found: String,
}

/// The chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the chain is broken: {first}; {following} more {} after it", if *.following == 1 { "break comes" } else { "breaks come" })]
pub struct BrokenChain {
    /// The first break in the order of the ledger.
    pub first: ChainBreak,
    /// How many breaks come after it.
    pub following: u64,
}

/// Where a chain stands: its last entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The last entry's `seq`; 0 before the first.
    pub seq: i64,
    /// The last entry's hash; [`NO_HASH`] before the first.
    pub entry_hash: String,
}

impl Head {
    /// The head before the first entry.
    pub fn start() -> Head {
        Head { seq: 0, entry_hash: NO_HASH.to_owned() }
    }
}

/// What an entry shows its neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edge {
    seq: Option<i64>,
    prev_hash: Option<String>,
    line: u64,
}

/// The entries of one block, compared with each other.
#[derive(Debug, Clone)]
pub struct Segment {
    file: Arc<str>,
    first: Option<Edge>,
    /// The last entry's `seq` and stated hash.
    seq: Option<i64>,
    entry_hash: Option<String>,
    entries: u64,
    breaks: Breaks,
}

#[derive(Debug, Clone, Default)]
struct Breaks {
    kept: Vec<ChainBreak>,
    count: u64,
    /// Breaks of the segment's first entry, which stand before those found at the border.
    at_first: usize,
}

impl Breaks {
    fn push(&mut self, found: ChainBreak) {
        self.count += 1;
        if self.kept.len() < REPORTED_BREAKS {
            self.kept.push(found);
        }
    }
}

impl Segment {
    /// No entries yet, of `file`.
    pub fn new(file: Arc<str>) -> Segment {
        Segment { file, first: None, seq: None, entry_hash: None, entries: 0, breaks: Breaks::default() }
    }

    /// The next entry, which stands in `line`.
    pub fn push(&mut self, line: u64, link: &Link<'_>) {
        let place = Place { file: &self.file, line, seq: link.seq };
        let mut computed = [0; 44];
        let computed = match STANDARD.encode_slice(link.computed, &mut computed) {
            Ok(44) => std::str::from_utf8(&computed).unwrap_or_default(),
            _ => "",
        };
        // Without a `prev_hash` there is nothing to recompute, and the link tells.
        if link.prev_hash.is_some() && link.entry_hash != Some(computed) {
            self.breaks.push(place.hash("chain.hash", &encode_hash(&link.computed), link.entry_hash));
        }
        if self.first.is_none() {
            self.first = Some(Edge { seq: link.seq, prev_hash: link.prev_hash.map(str::to_owned), line });
            self.breaks.at_first = self.breaks.kept.len();
        } else {
            place.compare(self.seq, self.entry_hash.as_deref(), link.prev_hash, &mut self.breaks);
        }
        self.entries += 1;
        self.seq = link.seq;
        let last = self.entry_hash.get_or_insert_default();
        last.clear();
        match link.entry_hash {
            Some(hash) => last.push_str(hash),
            None => self.entry_hash = None,
        }
    }
}

/// Where an entry stands, for its breaks.
struct Place<'p> {
    file: &'p Arc<str>,
    line: u64,
    seq: Option<i64>,
}

impl Place<'_> {
    fn found(&self, rule: &'static str, expected: String, found: String) -> ChainBreak {
        ChainBreak { seq: self.seq, file: self.file.clone(), line: self.line, rule, expected, found }
    }

    fn hash(&self, rule: &'static str, expected: &str, found: Option<&str>) -> ChainBreak {
        self.found(rule, cut(expected), cut(found.unwrap_or("none that can be read")))
    }

    /// Compares an entry with the one before it.
    fn compare(&self, before: Option<i64>, hash_before: Option<&str>, prev_hash: Option<&str>, breaks: &mut Breaks) {
        if hash_before.is_none() || prev_hash != hash_before {
            breaks.push(self.hash(
                "chain.link",
                hash_before.unwrap_or("the entry_hash before, which cannot be read"),
                prev_hash,
            ));
        }
        let expected = before.and_then(|seq| seq.checked_add(1));
        // Where the seq before cannot be read, that entry has the break.
        if self.seq.is_none() || (expected.is_some() && self.seq != expected) {
            let expected = expected.map_or_else(|| "a seq".to_owned(), |seq| seq.to_string());
            breaks.push(self.found("chain.seq", expected, seq_text(self.seq)));
        }
    }
}

/// What stands where a hash should, which can be any text: its first [`SHOWN`] characters.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn seq_text(seq: Option<i64>) -> String {
    seq.map_or_else(|| "no seq that can be read".to_owned(), |seq| format!("seq {seq}"))
}

/// A chain from a head over the segments joined so far.
#[derive(Debug, Clone)]
pub struct Chain {
    seq: Option<i64>,
    entry_hash: Option<String>,
    head: Head,
    entries: u64,
    breaks: Breaks,
}

impl Chain {
    /// A chain that goes on from `from`.
    pub fn new(from: Head) -> Chain {
        Chain {
            seq: Some(from.seq),
            entry_hash: Some(from.entry_hash.clone()),
            head: from,
            entries: 0,
            breaks: Breaks::default(),
        }
    }

    /// The next segment in the order of the ledger.
    pub fn join(&mut self, segment: Segment) {
        let Some(first) = segment.first else { return };
        let place = Place { file: &segment.file, line: first.line, seq: first.seq };
        let mut kept = segment.breaks.kept.into_iter();
        let inner = segment.breaks.count - segment.breaks.at_first as u64;
        for found in kept.by_ref().take(segment.breaks.at_first) {
            self.breaks.push(found);
        }
        place.compare(self.seq, self.entry_hash.as_deref(), first.prev_hash.as_deref(), &mut self.breaks);
        let room = REPORTED_BREAKS.saturating_sub(self.breaks.kept.len());
        self.breaks.kept.extend(kept.take(room));
        self.breaks.count += inner;
        self.entries += segment.entries;
        self.seq = segment.seq;
        self.entry_hash = segment.entry_hash;
        if let (Some(seq), Some(entry_hash)) = (self.seq, &self.entry_hash) {
            self.head = Head { seq, entry_hash: entry_hash.clone() };
        }
    }

    /// The last entry joined that states both a `seq` and an `entry_hash`; true only where nothing broke.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// How many entries were joined.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The first breaks in order, at most [`REPORTED_BREAKS`].
    pub fn breaks(&self) -> &[ChainBreak] {
        &self.breaks.kept
    }

    /// How many breaks there are.
    pub fn broken(&self) -> u64 {
        self.breaks.count
    }

    /// The new head.
    ///
    /// # Errors
    /// The first break and how many follow.
    pub fn finish(self) -> Result<Head, BrokenChain> {
        match self.breaks.kept.into_iter().next() {
            Some(first) => Err(BrokenChain { first, following: self.breaks.count.saturating_sub(1) }),
            None => Ok(self.head),
        }
    }
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
