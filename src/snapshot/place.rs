//! Names in the snapshots directory: putting a finished folder into its place, moving `latest`, and putting right what
//! an earlier run left. The order of calls and what it promises stand in [`publish`](super::publish).

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::SnapshotError;
use super::fsys::Disk;
use super::previous::{instant_of, standing};
use super::publish::Outcome;

const PARTIAL: &str = ".partial-";
const STANDIN: &str = ".standin-";
const REPLACED: &str = ".replaced-";
const LATEST_PARTIAL: &str = ".latest-partial";
const LATEST: &str = "latest";

/// The place of one snapshot. The directory's lock is held.
pub(super) struct Place<'a> {
    pub(super) disk: Disk<'a>,
    pub(super) snapshots: &'a Path,
    pub(super) name: &'a str,
}

impl Place<'_> {
    fn at(&self, prefix: &str) -> PathBuf {
        self.snapshots.join(format!("{prefix}{}", self.name))
    }

    /// Where the snapshot is made.
    pub(super) fn partial(&self) -> PathBuf {
        self.at(PARTIAL)
    }

    /// Puts right what runs that died left behind.
    pub(super) fn recover(&self) -> Result<(), SnapshotError> {
        let left = self.left_behind()?;
        for (prefix, name) in &left {
            let home = self.snapshots.join(name);
            if *prefix == REPLACED && !exists(&home)? {
                self.disk.rename(&self.snapshots.join(format!("{REPLACED}{name}")), &home)?;
                self.disk.sync_folder(self.snapshots)?;
            }
        }
        latest_is_free(self.snapshots)?;
        if let Some(name) = self.latest_target().as_deref().and_then(|target| target.strip_prefix(STANDIN))
            && exists(&self.snapshots.join(name))?
        {
            self.point_latest(name)?;
        }
        let named = self.latest_target();
        for entry in left.iter().map(|(prefix, name)| format!("{prefix}{name}")) {
            let path = self.snapshots.join(&entry);
            if named.as_ref() != Some(&entry) && exists(&path)? {
                self.disk.remove_folder(&path)?;
            }
        }
        Ok(())
    }

    /// The folders that only this room makes: a prefix of its own before the name of a snapshot.
    fn left_behind(&self) -> Result<Vec<(&'static str, String)>, SnapshotError> {
        let listing = fs::read_dir(self.snapshots).map_err(SnapshotError::io("list", self.snapshots))?;
        let mut left = Vec::new();
        for entry in listing {
            let entry = entry.map_err(SnapshotError::io("list", self.snapshots))?;
            let is_folder = entry.file_type().map_err(SnapshotError::io("list", self.snapshots))?.is_dir();
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|_| is_folder) else {
                continue;
            };
            for prefix in [REPLACED, STANDIN, PARTIAL] {
                if let Some(name) = name.strip_prefix(prefix).filter(|name| instant_of(name).is_some()) {
                    left.push((prefix, name.to_owned()));
                }
            }
        }
        left.sort();
        Ok(left)
    }

    /// Puts the finished folder into its place.
    pub(super) fn settle(&self, replace: bool) -> Result<Outcome, SnapshotError> {
        let home = self.snapshots.join(self.name);
        let partial = self.partial();
        if !exists(&home)? {
            self.disk.rename(&partial, &home)?;
            self.disk.sync_folder(self.snapshots)?;
            return Ok(Outcome::New);
        }
        if !fs::symlink_metadata(&home).map_err(SnapshotError::io("read", &home))?.is_dir() {
            return Err(SnapshotError::InTheWay { path: home, reason: "is no folder; move it aside".to_owned() });
        }
        let differing = differing(&partial, &home)?;
        if differing.is_empty() {
            // The earlier run may have died before its name was durable.
            self.disk.sync_folder(self.snapshots)?;
            self.disk.remove_folder(&partial)?;
            return Ok(Outcome::Unchanged);
        }
        if !replace {
            let more = if differing.len() > 5 { ", …" } else { "" };
            let differing = differing.iter().take(5).cloned().collect::<Vec<_>>().join(", ") + more;
            return Err(SnapshotError::Exists { path: home, differing });
        }
        self.replace(&home, &partial)?;
        Ok(Outcome::Replaced)
    }

    fn replace(&self, home: &Path, partial: &Path) -> Result<(), SnapshotError> {
        let (standin, aside) = (self.at(STANDIN), self.at(REPLACED));
        let is_latest = self.latest_target().as_deref() == Some(self.name);
        let swapped = (|| {
            if is_latest {
                self.link_all(partial, &standin)?;
                self.point_latest(&format!("{STANDIN}{}", self.name))?;
            }
            self.disk.rename(home, &aside)?;
            self.disk.rename(partial, home)?;
            self.disk.sync_folder(self.snapshots)
        })();
        if swapped.is_err() && matches!(exists(home), Ok(false)) {
            // Told is the first fault; where undoing fails too, the next run brings the old snapshot back.
            let _ = self.disk.rename(&aside, home);
        }
        let back = if is_latest && matches!(exists(home), Ok(true)) { self.point_latest(self.name) } else { Ok(()) };
        self.sweep();
        swapped.and(back)
    }

    /// A second folder of the same files.
    fn link_all(&self, from: &Path, to: &Path) -> Result<(), SnapshotError> {
        self.disk.create_folder(to)?;
        for path in files_of(from)? {
            let target = to.join(&path);
            if let Some(parent) = target.parent().filter(|parent| !parent.is_dir()) {
                self.disk.create_folder(parent)?;
            }
            self.disk.hard_link(&from.join(&path), &target)?;
        }
        for folder in folders_of(to)? {
            self.disk.sync_folder(&folder)?;
        }
        self.disk.sync_folder(to)
    }

    /// Removes the folders of a replacement that is done. What cannot be removed is in no one's way, and the next run removes it.
    pub(super) fn sweep(&self) {
        let named = self.latest_target();
        for prefix in [STANDIN, REPLACED] {
            let path = self.at(prefix);
            let needed = named == Some(format!("{prefix}{}", self.name))
                || (prefix == REPLACED && !matches!(exists(&self.snapshots.join(self.name)), Ok(true)));
            if !needed && matches!(exists(&path), Ok(true)) {
                let _ = self.disk.remove_folder(&path);
            }
        }
    }

    fn latest_target(&self) -> Option<String> {
        fs::read_link(self.snapshots.join(LATEST)).ok()?.to_str().map(|target| target.trim_end_matches('/').to_owned())
    }

    /// Moves `latest` to this snapshot, unless it names a later one; gives the snapshot that it names.
    pub(super) fn move_latest(&self, as_of: i64) -> Result<PathBuf, SnapshotError> {
        let current = self.latest_target().filter(|name| self.snapshots.join(name).is_dir());
        let target = match current.as_deref().and_then(instant_of) {
            Some(later) if later > as_of => current.unwrap_or_default(),
            Some(_) => self.name.to_owned(),
            None => {
                let newest = standing(self.snapshots)?
                    .pop()
                    .and_then(|newest| newest.path.file_name()?.to_str().map(str::to_owned));
                newest.unwrap_or_else(|| self.name.to_owned())
            }
        };
        if self.latest_target().as_deref() != Some(&target) {
            self.point_latest(&target)?;
        }
        Ok(self.snapshots.join(target))
    }

    /// `latest` swapped in one step.
    fn point_latest(&self, target: &str) -> Result<(), SnapshotError> {
        let beside = self.snapshots.join(LATEST_PARTIAL);
        if fs::symlink_metadata(&beside).is_ok_and(|found| found.is_symlink()) {
            self.disk.remove_file(&beside)?;
        }
        self.disk.symlink(Path::new(target), &beside)?;
        let moved = self.disk.rename(&beside, &self.snapshots.join(LATEST));
        if moved.is_err() {
            let _ = self.disk.remove_file(&beside);
        }
        moved?;
        self.disk.sync_folder(self.snapshots)
    }
}

/// That `latest` is a link or nothing: anything else is not this room's own, and is left alone.
pub(super) fn latest_is_free(snapshots: &Path) -> Result<(), SnapshotError> {
    let path = snapshots.join(LATEST);
    match fs::symlink_metadata(&path) {
        Ok(found) if !found.is_symlink() => {
            Err(SnapshotError::InTheWay { path, reason: "is no symbolic link; move it aside".to_owned() })
        }
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(SnapshotError::io("read", &path)(fault)),
        _ => Ok(()),
    }
}

fn exists(path: &Path) -> Result<bool, SnapshotError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(fault) => Err(SnapshotError::io("read", path)(fault)),
    }
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, SnapshotError> {
    let listing = fs::read_dir(folder).map_err(SnapshotError::io("list", folder))?;
    let mut entries = listing.collect::<Result<Vec<_>, _>>().map_err(SnapshotError::io("list", folder))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries)
}

/// The folders directly in a snapshot; there are none deeper.
fn folders_of(folder: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    Ok(entries(folder)?
        .iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(fs::DirEntry::path)
        .collect())
}

/// Everything in a snapshot that is no folder, and what is in its folders, by relative path.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    let inner = folders_of(folder)?;
    let all = [folder.to_path_buf()].into_iter().chain(inner.clone());
    let mut files = Vec::new();
    for place in all {
        let paths = entries(&place)?.into_iter().map(|entry| entry.path()).filter(|path| !inner.contains(path));
        files.extend(paths.filter_map(|path| path.strip_prefix(folder).ok().map(Path::to_path_buf)));
    }
    files.sort();
    Ok(files)
}

/// The relative paths whose bytes are not the same in both folders.
fn differing(new: &Path, old: &Path) -> Result<Vec<String>, SnapshotError> {
    let mut all = files_of(new)?;
    let new_files = all.clone();
    let old_files = files_of(old)?;
    all.extend(old_files.iter().filter(|path| !new_files.contains(path)).cloned());
    let mut found = Vec::new();
    for path in all {
        let both = new_files.contains(&path) && old_files.contains(&path);
        if !both || !equal(&new.join(&path), &old.join(&path))? {
            found.push(path.display().to_string());
        }
    }
    found.sort();
    Ok(found)
}

fn equal(one: &Path, other: &Path) -> Result<bool, SnapshotError> {
    if !fs::symlink_metadata(other).map_err(SnapshotError::io("read", other))?.is_file() {
        return Ok(false);
    }
    let open = |path: &Path| {
        File::open(path).map(|file| BufReader::with_capacity(1 << 16, file)).map_err(SnapshotError::io("read", path))
    };
    let (mut a, mut b) = (open(one)?, open(other)?);
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let n = full(&mut a, &mut left).map_err(SnapshotError::io("read", one))?;
        let m = full(&mut b, &mut right).map_err(SnapshotError::io("read", other))?;
        if left.get(..n) != right.get(..m) {
            return Ok(false);
        }
        if n == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the end.
fn full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest)? {
            0 => break,
            read => done += read,
        }
    }
    Ok(done)
}
