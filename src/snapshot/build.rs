//! Writes the folder of a snapshot, every file synced, beside the place where it will stand (3.3).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::mpsc::sync_channel;

use super::document::{self, Identity, Kind};
use super::files::{Compressed, Digesting, Lines};
use super::fsys::Disk;
use super::history::KeySet;
use super::keys::BureauKey;
use super::manifest::{FileEntry, KEYS, MANIFEST, METHOD, Manifest, POLICY, RunFacts, SUMS};
use super::previous::{Comparison, Documents, Standing};
use super::publish::Draft;
use super::{SnapshotError, tables};
use crate::instant;

const JSON: &str = "application/json";
const JWKS: &str = "application/jwk-set+json";
const ZSTD: &str = "application/zstd";
const PARQUET: &str = "application/vnd.apache.parquet";

/// What was written.
pub(super) struct Built {
    pub(super) documents: BTreeMap<&'static str, u64>,
    pub(super) gave_way: u64,
}

/// The path of a table in the snapshot.
pub(super) fn table_path(name: &str) -> String {
    format!("tables/{name}.parquet")
}

/// Writes and syncs the whole folder `to`, which must not exist. With a `last` snapshot, its reports and ratings must all be
/// there again.
pub(super) fn write(
    disk: Disk<'_>,
    to: &Path,
    draft: &Draft,
    key: &BureauKey,
    keys: &KeySet,
    last: Option<&Standing>,
) -> Result<Built, SnapshotError> {
    disk.create_folder(to)?;
    let policy = plain(disk, to, POLICY, JSON, &draft.policy_json)?;
    let policy_digest = policy.sha256.clone();
    let mut files = vec![policy, plain(disk, to, KEYS, JWKS, &keys.to_json())?];
    if let Some(method) = &draft.method_json {
        files.push(plain(disk, to, METHOD, JSON, method)?);
    }
    let mut built = Built { documents: BTreeMap::new(), gave_way: 0 };

    for kind in Kind::ALL {
        let mut comparison = match last.filter(|_| matches!(kind, Kind::Report | Kind::Rating)) {
            Some(last) => Documents::open(last, kind)?.map(Comparison::new).transpose()?,
            None => None,
        };
        if let Some((_, source)) = draft.documents.iter().find(|(given, _)| *given == kind) {
            let entry = documents(disk, to, kind, source, &draft.facts, key, comparison.as_mut())?;
            built.documents.insert(kind.name(), entry.rows.unwrap_or_default());
            files.push(entry);
        }
        if let Some(comparison) = comparison {
            built.gave_way += comparison.finish()?;
        }
    }

    if !draft.tables.is_empty() {
        let folder = to.join("tables");
        disk.create_folder(&folder)?;
        for (name, source) in &draft.tables {
            files.push(table(disk, to, name, source)?);
        }
        disk.sync_folder(&folder)?;
    }

    let manifest = Manifest::new(&draft.facts, policy_digest, files);
    let entry = plain(disk, to, MANIFEST, JSON, &manifest.signed(key))?;
    plain(disk, to, SUMS, "text/plain", manifest.sums(&entry.sha256).as_bytes())?;
    disk.sync_folder(to)?;
    Ok(built)
}

fn plain(disk: Disk<'_>, to: &Path, path: &str, media_type: &str, bytes: &[u8]) -> Result<FileEntry, SnapshotError> {
    let target = to.join(path);
    let mut out = Digesting::new(disk.create(&target)?);
    out.write_all(bytes).map_err(SnapshotError::io("write", &target))?;
    let (file, sha256, bytes) = out.finish();
    file.sync()?;
    Ok(FileEntry {
        path: path.to_owned(),
        sha256,
        bytes,
        rows: None,
        media_type: media_type.to_owned(),
        content_sha256: None,
    })
}

fn table(disk: Disk<'_>, to: &Path, name: &str, source: &Path) -> Result<FileEntry, SnapshotError> {
    let rows = tables::rows_if_public(source)?;
    let path = table_path(name);
    let target = to.join(&path);
    let mut input = File::open(source).map_err(SnapshotError::io("read", source))?;
    let mut out = Digesting::new(disk.create(&target)?);
    let mut piece = vec![0; 1 << 20];
    loop {
        let read = input.read(&mut piece).map_err(SnapshotError::io("read", source))?;
        if read == 0 {
            break;
        }
        out.write_all(piece.get(..read).unwrap_or_default()).map_err(SnapshotError::io("write", &target))?;
    }
    let (file, sha256, bytes) = out.finish();
    file.sync()?;
    Ok(FileEntry { path, sha256, bytes, rows: Some(rows), media_type: PARQUET.to_owned(), content_sha256: None })
}

/// Signs the inner objects of `source`, which must be canonical, sorted, and none twice.
fn documents(
    disk: Disk<'_>,
    to: &Path,
    kind: Kind,
    source: &Path,
    facts: &RunFacts,
    key: &BureauKey,
    mut comparison: Option<&mut Comparison>,
) -> Result<FileEntry, SnapshotError> {
    let fault = |line: u64, reason: String| SnapshotError::Document { path: source.to_path_buf(), line, reason };
    let content_bytes = signed_length(source, document::overhead(key, kind.member()) as u64)
        .map_err(SnapshotError::io("read", source))?;
    let as_of = instant::format(facts.as_of);
    let target = to.join(kind.file_name());
    let mut out = Compressed::new(disk.create(&target)?, content_bytes).map_err(SnapshotError::io("write", &target))?;
    let input = File::open(source).map_err(SnapshotError::io("read", source))?;
    let mut before: Option<Identity> = None;
    let mut count = 0;
    // While one block is compressed, the next is signed.
    std::thread::scope(|scope| {
        let (send, blocks) = sync_channel(1);
        scope.spawn(move || {
            let mut lines = Lines::new(BufReader::with_capacity(1 << 20, input));
            loop {
                let (block, end) = lines.next_block();
                let last = block.is_empty() || end.is_err();
                let signed = document::sign_block(key, kind, &as_of, &facts.bureau, &block);
                if send.send((signed, end)).is_err() || last {
                    break;
                }
            }
        });
        for (block, end) in blocks {
            for signed in block {
                count += 1;
                let (identity, bytes) = signed.map_err(|reason| fault(count, reason))?;
                if before.as_ref().is_some_and(|before| *before >= identity) {
                    return Err(fault(count, "is not sorted, or stands twice".to_owned()));
                }
                if let Some(comparison) = comparison.as_deref_mut() {
                    comparison.pass(&identity)?;
                }
                out.line(&bytes).map_err(SnapshotError::io("write", &target))?;
                before = Some(identity);
            }
            match end {
                Err(reason) if reason.kind() == io::ErrorKind::InvalidData => {
                    return Err(fault(count + 1, reason.to_string()));
                }
                other => other.map_err(SnapshotError::io("read", source))?,
            }
        }
        Ok(())
    })?;
    let (file, digests) = out.finish().map_err(SnapshotError::io("write", &target))?;
    file.sync()?;
    Ok(FileEntry {
        path: kind.file_name().to_owned(),
        sha256: digests.sha256,
        bytes: digests.bytes,
        rows: Some(count),
        media_type: ZSTD.to_owned(),
        content_sha256: Some(digests.content_sha256),
    })
}

/// How long the signed lines of a file will be altogether: zstd states the content's size in its frame header.
fn signed_length(source: &Path, overhead: u64) -> io::Result<u64> {
    let mut input = File::open(source)?;
    let mut piece = vec![0; 1 << 20];
    let (mut bytes, mut lines) = (0, 0);
    loop {
        let read = input.read(&mut piece)?;
        if read == 0 {
            return Ok(bytes + lines * overhead);
        }
        bytes += read as u64;
        lines += piece.get(..read).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count() as u64;
    }
}
