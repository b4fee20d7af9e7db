//! Checks a snapshot, someone else's above all: it trusts nothing but the bytes it reads and the key that is pinned.
//!
//! In this order: the manifest's form and signature (nothing else is looked at when they fail), the pin, `keys.json`,
//! every listed file with its length, digest, rows and content digest, every document's form, signature, key, order and instants,
//! the rows of every table, `SHA256SUMS`, and that nothing is there which is not listed. A byte that was changed anywhere
//! is found, and its file named with both digests; in a file of documents its first line too, where the change reaches a line.
//! What else follows from that change is counted and not told line by line.
//!
//! A stranger's snapshot may be made to do harm. Files are read as streams; a line has a bound, and reading a file stops
//! at the first line beyond the manifest's count, so a small file that expands to a large one costs neither memory nor
//! much time; a signature is verified before a line is parsed; no path of a manifest leaves the folder, and no link is followed.

mod documents;
mod faults;
mod pin;
mod tree;
mod trusted;

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::file::metadata::ParquetMetaDataReader;
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use self::faults::{CheckFault, exit_code};
pub use self::pin::Pin;

use self::faults::{ANEW, Faults};
use self::trusted::{MAX_MANIFEST, Stop, Trusted};
use super::document::Kind;
use super::files::Digesting;
use super::history::{KeySet, MAX_KEYS_FILE};
use super::manifest::{FileEntry, KEYS, MANIFEST, Manifest, POLICY, SUMS};
use super::tables;
use crate::hex::hex;
use crate::instant;

/// What was checked, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckSummary {
    /// The bureau of the manifest.
    pub bureau: String,
    /// *T*, RFC 3339.
    pub as_of: String,
    /// The key that signed the manifest.
    pub kid: String,
    /// Whether that key was pinned.
    pub pinned: bool,
    /// Keys in `keys.json`.
    pub keys: u64,
    /// Files, the manifest and `SHA256SUMS` included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Documents by the name of their file.
    pub documents: BTreeMap<String, u64>,
    /// Signatures verified, the manifest's included.
    pub signatures: u64,
    /// Public tables.
    pub tables: u64,
    /// Their rows.
    pub table_rows: u64,
}

/// Checks the snapshot in `root`. With `at` (milliseconds since 1970 UTC), a document that has expired by then is a fault too.
pub fn check(root: &Path, pin: Option<&Pin>, at: Option<i64>) -> Result<CheckSummary, Vec<CheckFault>> {
    let mut faults = Faults::default();
    let summary = Checker { root, at }.run(pin, &mut faults);
    match (summary, faults.finish()) {
        (Some(summary), faults) if faults.is_empty() => Ok(summary),
        (_, faults) => Err(faults),
    }
}

struct Checker<'a> {
    root: &'a Path,
    at: Option<i64>,
}

impl Checker<'_> {
    fn run(&self, pin: Option<&Pin>, faults: &mut Faults) -> Option<CheckSummary> {
        let trusted = match trusted::read(self.root) {
            Ok(trusted) => trusted,
            Err(Stop::Read(fault)) => {
                faults.read(MANIFEST, None, &fault);
                return None;
            }
            Err(Stop::Wrong(message)) => {
                faults.add(MANIFEST, None, message);
                return None;
            }
        };
        let Trusted { manifest, as_of, key, .. } = &trusted;
        if pin.is_some_and(|pin| !pin.accepts(key)) {
            faults.add(MANIFEST, None, format!("is signed by {}, which is not the pinned key", key.kid()));
        }
        if let Some(at) = self.at.filter(|at| at < as_of) {
            faults.add(MANIFEST, None, format!("is as of {}, later than {}", manifest.as_of, instant::format(at)));
        }
        let present = tree::files(self.root, faults);
        self.listing(manifest, &present, faults);
        let keys = self.keys(&trusted, faults);
        let mut summary = CheckSummary {
            bureau: manifest.bureau.clone(),
            as_of: manifest.as_of.clone(),
            kid: key.kid(),
            pinned: pin.is_some(),
            keys: keys.as_ref().map_or(0, |keys| keys.iter().count() as u64),
            files: present.len() as u64,
            bytes: trusted.bytes,
            documents: BTreeMap::new(),
            signatures: 1,
            tables: 0,
            table_rows: 0,
        };
        for entry in
            manifest.files.iter().filter(|entry| listable(&entry.path) && present.binary_search(&entry.path).is_ok())
        {
            let mut own = Faults::default();
            self.file(&trusted, keys.as_ref(), entry, &mut summary, &mut own);
            faults.join(own);
        }
        self.sums(&trusted, &mut summary, faults);
        // Without keys no document was verified: should the file have become right while it was read, that is no proof.
        if keys.is_none() && faults.none() {
            faults.add(KEYS, None, "was changed during the check");
        }
        Some(summary)
    }

    /// That the manifest lists what is there, and nothing else.
    fn listing(&self, manifest: &Manifest, present: &[String], faults: &mut Faults) {
        for pair in manifest.files.windows(2) {
            if let [a, b] = pair
                && a.path >= b.path
            {
                faults.add(MANIFEST, None, format!("lists {:?} out of order or twice", b.path));
            }
        }
        for entry in &manifest.files {
            if !listable(&entry.path) {
                faults.add(
                    MANIFEST,
                    None,
                    format!("lists {:?}, which is no path of a file that it may list", entry.path),
                );
            } else if present.binary_search(&entry.path).is_err() {
                faults.add(&entry.path, None, "is in the manifest and not in the snapshot");
            }
        }
        for path in present.iter().filter(|path| *path != MANIFEST && *path != SUMS && manifest.file(path).is_none()) {
            faults.add(path, None, "is in the snapshot and not in the manifest");
        }
        match manifest.file(POLICY) {
            Some(policy) if policy.sha256 == manifest.policy_digest => {}
            Some(_) => faults.add(MANIFEST, None, "policy_digest is not the digest of policy.json"),
            None => faults.add(MANIFEST, None, "lists no policy.json"),
        }
    }

    /// The key set, which the manifest's key must stand in. Its digest is checked with the other files'.
    fn keys(&self, trusted: &Trusted, faults: &mut Faults) -> Option<KeySet> {
        let Some(entry) = trusted.manifest.file(KEYS) else {
            faults.add(MANIFEST, None, "lists no keys.json");
            return None;
        };
        let bytes = match tree::whole(self.root, KEYS, MAX_KEYS_FILE) {
            Ok(bytes) => bytes,
            Err(fault) => {
                faults.read(KEYS, None, &fault);
                return None;
            }
        };
        // Keys that are not the listed ones say nothing of any document, and would condemn every one.
        if hex(&Sha256::digest(&bytes)) != entry.sha256 {
            return None;
        }
        let keys = match KeySet::parse(&bytes) {
            Ok(keys) => keys,
            Err(fault) => {
                faults.add(KEYS, None, fault);
                return None;
            }
        };
        if keys.to_json() != bytes {
            faults.add(KEYS, None, "is not in canonical form, sorted by key id");
        }
        match keys.get(&trusted.key.kid()) {
            Some(term) if term.covers(trusted.as_of) => {}
            Some(_) => faults.add(
                KEYS,
                None,
                format!("the manifest's key {} is not valid at {}", trusted.key.kid(), trusted.manifest.as_of),
            ),
            None => faults.add(KEYS, None, format!("does not hold the manifest's key {}", trusted.key.kid())),
        }
        Some(keys)
    }

    fn file(
        &self,
        trusted: &Trusted,
        keys: Option<&KeySet>,
        entry: &FileEntry,
        summary: &mut CheckSummary,
        faults: &mut Faults,
    ) {
        let path = entry.path.as_str();
        let file = match tree::open(self.root, path) {
            Ok(file) => file,
            Err(fault) => return faults.read(path, None, &fault),
        };
        match file.metadata() {
            Ok(metadata) if metadata.len() != entry.bytes => {
                let lengths = format!("has {} bytes, the manifest says {}", metadata.len(), entry.bytes);
                // A file that grew is not read further than that: its length alone condemns it.
                if metadata.len() > entry.bytes {
                    return faults.add(path, None, format!("{lengths}: it was changed; {ANEW}"));
                }
                faults.add(path, None, lengths);
            }
            Ok(_) => {}
            Err(fault) => return faults.read(path, None, &fault),
        }
        summary.bytes = summary.bytes.saturating_add(entry.bytes);
        if path.ends_with(".zst") {
            let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.file_name() == path) else {
                return faults.add(path, None, "is compressed, and no file of the layout");
            };
            let context = documents::Context { manifest: &trusted.manifest, keys, at: self.at, as_of: trusted.as_of };
            let found = context.check(file, entry, kind, faults);
            summary.documents.insert(kind.name().to_owned(), found);
            summary.signatures += found;
            return;
        }
        let mut input = Digesting::new(file);
        if let Err(fault) = io::copy(&mut input, &mut io::sink()) {
            return faults.read(path, None, &fault);
        }
        let (mut file, sha256, _) = input.finish();
        if sha256 != entry.sha256 {
            faults.differs(path, &entry.sha256, &sha256);
        } else if path.ends_with(".parquet") {
            if let Err(fault) = io::Seek::rewind(&mut file) {
                return faults.read(path, None, &fault);
            }
            match table_rows(&file) {
                Ok(rows) if Some(rows) == entry.rows => {
                    summary.tables += 1;
                    summary.table_rows = summary.table_rows.saturating_add(rows);
                }
                Ok(rows) => faults.add(path, None, format!("{rows} rows, the manifest says {}", shown(entry.rows))),
                Err(reason) => faults.add(path, None, reason),
            }
        } else if entry.rows.is_some() || entry.content_sha256.is_some() {
            faults.add(MANIFEST, None, format!("gives rows or a content digest of {path}, which has neither"));
        }
    }

    fn sums(&self, trusted: &Trusted, summary: &mut CheckSummary, faults: &mut Faults) {
        let bytes = match tree::whole(self.root, SUMS, MAX_MANIFEST) {
            Ok(bytes) => bytes,
            Err(fault) => return faults.read(SUMS, None, &fault),
        };
        summary.bytes = summary.bytes.saturating_add(bytes.len() as u64);
        let expected = trusted.manifest.sums(&trusted.sha256);
        if bytes != expected.as_bytes() {
            let same = bytes
                .split(|byte| *byte == b'\n')
                .zip(expected.as_bytes().split(|byte| *byte == b'\n'))
                .take_while(|(is, should)| is == should);
            faults.add(SUMS, Some(same.count() as u64 + 1), "is not what the manifest says");
        }
    }
}

/// Whether a manifest may list this path.
fn listable(path: &str) -> bool {
    tree::plain(path) && path != MANIFEST && path != SUMS
}

fn shown(rows: Option<u64>) -> String {
    rows.map_or_else(|| "none".to_owned(), |rows| rows.to_string())
}

/// The rows that a Parquet footer states. The footer is a stranger's, and its reader is not ours: should it panic, the
/// file is at fault and not this process.
fn table_rows(file: &std::fs::File) -> Result<u64, String> {
    let read = catch_unwind(AssertUnwindSafe(|| ParquetMetaDataReader::new().parse_and_finish(file)));
    let metadata = match read {
        Ok(metadata) => metadata.map_err(|fault| format!("is not Parquet: {fault}"))?,
        Err(_) => return Err("is not Parquet: its footer cannot be read".to_owned()),
    };
    tables::counted(metadata.file_metadata().num_rows(), metadata.row_groups().iter().map(|group| group.num_rows()))
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod tests;
