//! What is already in the snapshots directory, and what a new snapshot must not lose of it (3.3).
//!
//! A report never disappears. Yet 2.4 lets a report give way: the facts-only report of a subject to its reports by
//! capability once it enrolls, and the report of a capability that was declared, never used, and is declared no longer.
//! So these are refused: fewer reports than the last snapshot has; a subject that had a report and has none; and a report
//! gone whose pool had held an event, since that event stands in the ledger for ever. A rating is an agent's only one,
//! and none may go.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::document::{Identity, Kind};
use super::files::Lines;
use super::history::{KeySet, MAX_KEYS_FILE};
use super::manifest::{KEYS, MANIFEST, Manifest};
use super::{SnapshotError, canonical, publish};
use crate::instant;

/// A snapshot that stands in the directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Standing {
    /// Its *T*.
    pub(super) as_of: i64,
    /// Its folder.
    pub(super) path: PathBuf,
}

/// The instant that a snapshot's folder is named after.
pub(super) fn instant_of(name: &str) -> Option<i64> {
    let (date, time) = name.split_once('T')?;
    let as_of = instant::parse(&format!("{date}T{}", time.replacen('-', ":", 2))).ok()?;
    (publish::directory_name(as_of)? == name).then_some(as_of)
}

/// The snapshots of a directory, the earliest first. Links and files are none.
pub(super) fn standing(snapshots: &Path) -> Result<Vec<Standing>, SnapshotError> {
    let listing = fs::read_dir(snapshots).map_err(SnapshotError::io("list", snapshots))?;
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry.map_err(SnapshotError::io("list", snapshots))?;
        let is_folder = entry.file_type().map_err(SnapshotError::io("list", snapshots))?.is_dir();
        if let Some(as_of) = entry.file_name().to_str().and_then(instant_of).filter(|_| is_folder) {
            found.push(Standing { as_of, path: entry.path() });
        }
    }
    found.sort();
    Ok(found)
}

fn damaged(path: &Path, reason: impl ToString) -> SnapshotError {
    SnapshotError::Previous { path: path.to_path_buf(), reason: reason.to_string() }
}

/// The keys that have signed in a standing snapshot must be known to the new one, with their ends (3.4).
pub(super) fn keys_continue(last: &Standing, keys: &KeySet) -> Result<(), SnapshotError> {
    let path = last.path.join(KEYS);
    let length = fs::metadata(&path).map_err(|fault| damaged(&path, fault))?.len();
    if length > MAX_KEYS_FILE {
        return Err(damaged(&path, "is too long"));
    }
    let text = fs::read(&path).map_err(|fault| damaged(&path, fault))?;
    let was = KeySet::parse(&text).map_err(|fault| damaged(&path, fault))?;
    keys.follows(&was).map_err(|reason| SnapshotError::History { path, reason })
}

/// The documents of one kind in a standing snapshot, in their order.
pub(super) struct Documents {
    kind: Kind,
    path: PathBuf,
    lines: Lines<BufReader<zstd::Decoder<'static, BufReader<File>>>>,
    rows: u64,
    last: Option<Identity>,
}

/// A document that stood: which it is, and whether events were behind it.
type Stood = (Identity, bool);

impl Documents {
    /// Opens the documents of a kind; none where the snapshot has no such file.
    pub(super) fn open(last: &Standing, kind: Kind) -> Result<Option<Self>, SnapshotError> {
        let manifest_path = last.path.join(MANIFEST);
        let text = fs::read(&manifest_path).map_err(|fault| damaged(&manifest_path, fault))?;
        let manifest = Manifest::unverified(&text).map_err(|fault| damaged(&manifest_path, fault))?;
        let Some(entry) = manifest.file(kind.file_name()) else {
            return Ok(None);
        };
        let path = last.path.join(kind.file_name());
        let decoder = File::open(&path).and_then(zstd::Decoder::new).map_err(|fault| damaged(&path, fault))?;
        let lines = Lines::new(BufReader::with_capacity(1 << 17, decoder));
        Ok(Some(Self { kind, path, lines, rows: entry.rows.unwrap_or_default(), last: None }))
    }

    fn next(&mut self) -> Result<Option<Stood>, SnapshotError> {
        let Some(line) = self.lines.next_line().map_err(|fault| damaged(&self.path, fault))? else {
            return match self.lines.count() == self.rows {
                true => Ok(None),
                false => {
                    Err(damaged(&self.path, format!("{} lines, its manifest says {}", self.lines.count(), self.rows)))
                }
            };
        };
        let read = canonical::read(&line, |document| {
            let inner = document.get(self.kind.member()).ok_or("is not a signed document of its kind")?;
            let events = inner
                .get("evidence")
                .and_then(|evidence| evidence.get("newest"))
                .is_some_and(|newest| newest.as_str().is_some());
            Ok((self.kind.identity(inner)?, events || self.kind == Kind::Rating))
        });
        let (identity, events) = read.map_err(|fault| damaged(&self.path, fault))?;
        if self.last.as_ref().is_some_and(|last| *last >= identity) {
            return Err(damaged(&self.path, "is not sorted"));
        }
        self.last = Some(identity.clone());
        Ok(Some((identity, events)))
    }
}

/// Holds the documents of a new snapshot, as they come by, against those of the last.
pub(super) struct Comparison {
    last: Documents,
    head: Option<Stood>,
    /// Gone, no event behind them, and their subject not seen yet.
    pending: Vec<Identity>,
    seen: Option<String>,
    had: u64,
    has: u64,
    lost: u64,
    first_lost: Vec<String>,
    gave_way: u64,
}

impl Comparison {
    pub(super) fn new(mut last: Documents) -> Result<Self, SnapshotError> {
        let head = last.next()?;
        let had = last.rows;
        Ok(Self {
            last,
            head,
            pending: Vec::new(),
            seen: None,
            had,
            has: 0,
            lost: 0,
            first_lost: Vec::new(),
            gave_way: 0,
        })
    }

    /// The next document of the new snapshot, in the order of 3.3.
    pub(super) fn pass(&mut self, identity: &Identity) -> Result<(), SnapshotError> {
        self.has += 1;
        while let Some((stood, events)) = self.head.take() {
            match stood.cmp(identity) {
                Ordering::Less => self.gone(stood, events),
                Ordering::Equal => {}
                Ordering::Greater => {
                    self.head = Some((stood, events));
                    break;
                }
            }
            self.head = self.last.next()?;
        }
        self.seen = Some(identity.0.clone());
        self.settle();
        Ok(())
    }

    fn gone(&mut self, stood: Identity, events: bool) {
        if events {
            self.lose(&stood);
        } else if self.seen.as_ref() == Some(&stood.0) {
            self.gave_way += 1;
        } else {
            self.pending.push(stood);
        }
    }

    /// Of the pending: a subject that has a report after all gave way; one that the order has passed by is lost.
    fn settle(&mut self) {
        for stood in std::mem::take(&mut self.pending) {
            if self.seen.as_ref() == Some(&stood.0) {
                self.gave_way += 1;
            } else {
                self.lose(&stood);
            }
        }
    }

    fn lose(&mut self, (subject, capability): &Identity) {
        self.lost += 1;
        if self.first_lost.len() < 5 {
            self.first_lost.push(
                capability.as_ref().map_or_else(|| subject.clone(), |capability| format!("{subject} / {capability}")),
            );
        }
    }

    /// After the last document: how many gave way, or what was lost.
    pub(super) fn finish(mut self) -> Result<u64, SnapshotError> {
        while let Some((stood, events)) = self.head.take() {
            self.gone(stood, events);
            self.settle();
            self.head = self.last.next()?;
        }
        self.settle();
        let name = self.last.kind.name();
        let last = self.last.path.parent().unwrap_or(&self.last.path).to_path_buf();
        if self.lost > 0 {
            let what = format!("{} {name} would disappear ({})", self.lost, self.first_lost.join(", "));
            return Err(SnapshotError::Fewer { last, what });
        }
        if self.has < self.had {
            return Err(SnapshotError::Fewer {
                last,
                what: format!("{} {name} would be fewer than the {}", self.has, self.had),
            });
        }
        Ok(self.gave_way)
    }
}
