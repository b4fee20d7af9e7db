//! Publication: a snapshot appears whole or not at all (3.3).
//!
//! # The order of calls
//!
//! In `snapshots/`, for the snapshot named `N` (its *T* with dashes for colons; milliseconds only when there are any):
//!
//! 1. `mkdir -p` of the directory, each new parent synced; `flock` on `.lock`, held to the end, so that one run publishes at
//!    a time. The system drops the lock of a run that dies.
//! 2. What an earlier run left behind is put right: a `.replaced-M` whose `M` is missing is renamed back, a `latest` on
//!    a `.standin-M` is set to `M`, then `.partial-M`, `.standin-M`, `.replaced-M` and `.latest-partial` are removed. Whatever has
//!    another name is left alone. Under the lock none of these is in use.
//! 3. `mkdir .partial-N`. Each file: `open(O_CREAT|O_EXCL)`, `write`, `fsync`. Then `fsync` of `tables/` and of `.partial-N`.
//! 4. If `N` is there already: with equal bytes `.partial-N` is removed and nothing changes; with other bytes the run is
//!    refused, or `N` is replaced as below.
//! 5. `rename .partial-N N`, `fsync` of the directory.
//! 6. `symlink N .latest-partial`, `rename .latest-partial latest`, `fsync` of the directory.
//!
//! To replace `N`: where `latest` names it, `.standin-N` is made of hard links to the new files and synced, and `latest` moved to it;
//! then `rename N .replaced-N`, `rename .partial-N N`, `fsync`, `latest` back to `N`, and the two are removed. If the second
//! rename fails, the first is undone.
//!
//! # What holds
//!
//! Whenever the run stops, by an error or by a loss of power, every name in the directory that does not begin with a dot is
//! a whole snapshot or absent, and `latest` names a whole one from the first publication on. A run that fails removes what it
//! made. One that fails after step 5 has published `N`: the same run again finds equal bytes, syncs the directory
//! and moves `latest`.
//!
//! `latest` never moves to an earlier *T*: a rerun for an older night publishes that night and leaves `latest` where it is.
//! An operator who wants it elsewhere moves it by hand, and the next later night moves it on. A missing or dangling
//! `latest` is set to the latest snapshot there is.
//!
//! # What cannot be promised
//!
//! While `N` is being replaced, between its two renames, there is no `N`; a reader that opens `N` by its own name then finds
//! nothing, and one that opened it before reads on in the old files. A crash there leaves `N` absent until the next
//! run of `publish`, which brings the old one back. Replacing needs a file system with hard links. A failed `fsync` is
//! an error, and what it left on the disk is unknown; the files are written anew on the next run. A disk or a network
//! file system that acknowledges `fsync` without keeping the data is beyond this.
//!
//! # What is compared with the last snapshot
//!
//! Reports and ratings are held against the latest snapshot whose *T* is not after this one's, so that an older night
//! run again is not measured by a younger one. Keys are held against the latest snapshot of the directory.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::build::{self, Built};
use super::document::Kind;
use super::fsys::{Disk, Real, Seam};
use super::history::KeySet;
use super::keys::BureauKey;
use super::manifest::RunFacts;
use super::place::Place;
use super::{SnapshotError, previous};
use crate::instant;

/// What a run hands over to be published.
#[derive(Debug, Clone)]
pub struct Draft {
    /// What the manifest says of the run.
    pub facts: RunFacts,
    /// The bytes of `policy.json`.
    pub policy_json: Vec<u8>,
    /// The bytes of `method.json`, where ratings are published: the method that made them.
    pub method_json: Option<Vec<u8>>,
    /// For each kind the file of its inner objects: canonical JSON, one a line, sorted as 3.3 says.
    pub documents: Vec<(Kind, PathBuf)>,
    /// Public tables by name, each made by [`write_table`](super::tables::write_table); they become `tables/<name>.parquet`.
    pub tables: Vec<(String, PathBuf)>,
}

/// What the operator has told the run to do in spite of a rule.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Put these bytes in the place of others for the same *T*.
    pub replace: bool,
    /// Publish though reports or ratings of the last snapshot would disappear.
    pub allow_fewer: bool,
}

/// How a publication ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The snapshot is new.
    New,
    /// It was there, with the same bytes.
    Unchanged,
    /// It was there with other bytes, and was replaced.
    Replaced,
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The snapshot's folder.
    pub path: PathBuf,
    /// How it came there.
    pub outcome: Outcome,
    /// Documents by kind, as the files are named.
    pub documents: BTreeMap<&'static str, u64>,
    /// The snapshot that `latest` names.
    pub latest: PathBuf,
    /// Reports of the last snapshot that gave way to others of their subject (2.4).
    pub gave_way: u64,
}

/// The folder of a snapshot as of `as_of`: `2026-11-30T00-00-00Z`, and `2026-11-30T00-00-00.250Z` where there are milliseconds.
/// None for an instant outside the years 0 to 9999.
pub fn directory_name(as_of: i64) -> Option<String> {
    let text = instant::format(as_of);
    if instant::parse(&text) != Ok(as_of) {
        return None;
    }
    let text = text.replace(':', "-");
    Some(match text.strip_suffix(".000Z") {
        Some(seconds) => format!("{seconds}Z"),
        None => text,
    })
}

/// Signs, writes and publishes a draft in the directory `snapshots`.
pub fn publish(
    snapshots: &Path,
    draft: &Draft,
    key: &BureauKey,
    keys: &KeySet,
    options: Options,
) -> Result<Published, SnapshotError> {
    publish_through(&Real, snapshots, draft, key, keys, options)
}

pub(super) fn publish_through(
    seam: &dyn Seam,
    snapshots: &Path,
    draft: &Draft,
    key: &BureauKey,
    keys: &KeySet,
    options: Options,
) -> Result<Published, SnapshotError> {
    let as_of = draft.facts.as_of;
    let name = directory_name(as_of)
        .ok_or_else(|| SnapshotError::Draft(format!("no snapshot can be named after {}", instant::format(as_of))))?;
    sound(draft, key, keys)?;

    let disk = Disk(seam);
    disk.create_folders(snapshots)?;
    let _held_to_the_end = lock(snapshots)?;
    let place = Place { disk, snapshots, name: &name };
    place.recover()?;

    let standing = previous::standing(snapshots)?;
    if let Some(last) = standing.last() {
        previous::keys_continue(last, keys)?;
    }
    let last = standing.iter().rev().find(|snapshot| snapshot.as_of <= as_of).filter(|_| !options.allow_fewer);

    let partial = place.partial();
    let settled = build::write(disk, &partial, draft, key, keys, last)
        .and_then(|built| Ok((place.settle(options.replace)?, built)));
    let (outcome, Built { documents, gave_way }) = match settled {
        Ok(settled) => settled,
        Err(fault) => {
            // The fault that is told is the first one; what cannot be removed now, the next run removes.
            let _ = disk.remove_folder(&partial);
            return Err(fault);
        }
    };
    let latest = place.move_latest(as_of)?;
    place.sweep();
    Ok(Published { path: snapshots.join(&name), outcome, documents, latest, gave_way })
}

/// What can be refused before anything is written.
fn sound(draft: &Draft, key: &BureauKey, keys: &KeySet) -> Result<(), SnapshotError> {
    let as_of = draft.facts.as_of;
    let kid = key.public().kid();
    if !keys.get(&kid).is_some_and(|term| term.covers(as_of)) {
        return Err(SnapshotError::Draft(format!(
            "the signing key {kid} is not valid at {}: see its valid_from and valid_to in the key history",
            instant::format(as_of)
        )));
    }
    let mut paths: Vec<String> = draft.documents.iter().map(|(kind, _)| kind.file_name().to_owned()).collect();
    for (name, _) in &draft.tables {
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-')
        {
            return Err(SnapshotError::Draft(format!("{name:?} is no name for a table")));
        }
        paths.push(build::table_path(name));
    }
    paths.sort();
    match paths.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
        Some(pair) => Err(SnapshotError::Draft(format!("{} is given twice", pair.first().map_or("", String::as_str)))),
        None => Ok(()),
    }
}

/// The file that the run which publishes holds.
pub(super) const LOCK: &str = ".lock";

fn lock(snapshots: &Path) -> Result<File, SnapshotError> {
    let path = snapshots.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(SnapshotError::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SnapshotError::Busy(snapshots.to_path_buf())),
        Err(TryLockError::Error(fault)) => Err(SnapshotError::io("lock", &path)(fault)),
    }
}

#[cfg(test)]
#[path = "publish_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "publish_failures.rs"]
mod failures;
