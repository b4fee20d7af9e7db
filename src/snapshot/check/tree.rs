//! The files of a snapshot's folder, read without following a link out of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::faults::Faults;
use crate::export::irregular;

/// More files than any snapshot has.
const MAX_FILES: usize = 10_000;

/// The regular files of a snapshot and of the folders directly in it, by relative path and sorted. Anything else there, a
/// link, a deeper folder, an empty one, is a fault.
pub(super) fn files(root: &Path, faults: &mut Faults) -> Vec<String> {
    let mut found = Vec::new();
    list(root, "", &mut found, faults);
    found.sort();
    found
}

fn list(root: &Path, folder: &str, found: &mut Vec<String>, faults: &mut Faults) {
    let shown = if folder.is_empty() { "snapshot" } else { folder };
    let listing = match fs::read_dir(root.join(folder)) {
        Ok(listing) => listing,
        Err(fault) => return faults.read(shown, None, &fault),
    };
    let before = found.len();
    for entry in listing {
        let (entry, kind) = match entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind))) {
            Ok(both) => both,
            Err(fault) => return faults.read(shown, None, &fault),
        };
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            faults.add(
                shown,
                None,
                format!("holds a file whose name is not text: {}", name.to_string_lossy().escape_debug()),
            );
            continue;
        };
        let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        if kind.is_file() {
            found.push(path);
        } else if kind.is_dir() && folder.is_empty() {
            list(root, &path, found, faults);
        } else {
            faults.add(&path, None, "is neither a file nor a folder of the layout");
        }
        if found.len() > MAX_FILES {
            return faults.add(shown, None, format!("holds more than {MAX_FILES} files"));
        }
    }
    if !folder.is_empty() && found.len() == before {
        faults.add(folder, None, "is an empty folder, which the manifest does not list");
    }
}

/// Whether a path of a manifest stays in the snapshot: one or two plain names, none hidden.
pub(super) fn plain(path: &str) -> bool {
    let plain_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with('.')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
    };
    path.split('/').count() <= 2 && path.split('/').all(plain_name)
}

/// Opens a file of the snapshot; a link or anything else in its place is an error.
pub(super) fn open(root: &Path, path: &str) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(root.join(path))?;
    match irregular(&file.metadata()?) {
        Some(found) => Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is {found}"))),
        None => Ok(file),
    }
}

/// A small file of the snapshot, whole.
pub(super) fn whole(root: &Path, path: &str, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(root, path)?.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, "it is too long")),
        false => Ok(bytes),
    }
}
