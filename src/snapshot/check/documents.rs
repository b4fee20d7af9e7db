//! The lines of one compressed file: digests, form, signatures, order, instants.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use rayon::prelude::*;

use super::super::canonical;
use super::super::document::{self, Identity, Kind};
use super::super::files::{Digesting, Lines};
use super::super::history::{KeySet, KeyTerm};
use super::super::keys;
use super::super::manifest::{FileEntry, Manifest};
use super::faults::Faults;
use super::shown;
use crate::instant;

/// What every document of a snapshot is held against.
pub(super) struct Context<'a> {
    pub(super) manifest: &'a Manifest,
    /// None where `keys.json` is unusable, which is told already; documents are then not verified.
    pub(super) keys: Option<&'a KeySet>,
    pub(super) at: Option<i64>,
    pub(super) as_of: i64,
}

type Content = Digesting<zstd::Decoder<'static, BufReader<Digesting<File>>>>;

impl Context<'_> {
    /// Checks a file, and gives how many documents were verified.
    pub(super) fn check(&self, file: File, entry: &FileEntry, kind: Kind, faults: &mut Faults) -> u64 {
        let path = entry.path.as_str();
        let decoder = match zstd::Decoder::with_buffer(BufReader::with_capacity(1 << 17, Digesting::new(file))) {
            Ok(decoder) => decoder,
            Err(fault) => {
                faults.read(path, None, &fault);
                return 0;
            }
        };
        let mut lines = Lines::new(BufReader::with_capacity(1 << 17, Digesting::new(decoder)));
        let (verified, whole) = self.lines(&mut lines, entry, kind, faults);
        let rows = lines.count();
        let (decoder, content_sha256, _) = lines.into_inner().into_inner().finish();
        if whole {
            if Some(rows) != entry.rows {
                faults.add(path, None, format!("{rows} rows, the manifest says {}", shown(entry.rows)));
            }
            if Some(&content_sha256) != entry.content_sha256.as_ref() {
                faults.add(path, None, "its content_sha256 is not the manifest's");
            }
        }
        let mut rest = decoder.finish();
        if let Err(fault) = drain(&mut rest) {
            faults.read(path, None, &fault);
            return verified;
        }
        let (_, sha256, _) = rest.into_inner().finish();
        if sha256 != entry.sha256 {
            faults.differs(path, &entry.sha256, &sha256);
        }
        verified
    }

    /// Reads the lines; gives the documents verified, and whether the file was read to its end.
    fn lines(
        &self,
        lines: &mut Lines<BufReader<Content>>,
        entry: &FileEntry,
        kind: Kind,
        faults: &mut Faults,
    ) -> (u64, bool) {
        let path = entry.path.as_str();
        let keys: HashMap<&str, (&KeyTerm, String)> =
            self.keys.iter().flat_map(|keys| keys.iter()).map(|(kid, term)| (kid, (term, term.key.base64()))).collect();
        let (mut verified, mut before) = (0, None::<Identity>);
        loop {
            let first = lines.count() + 1;
            let (block, end) = lines.next_block();
            if self.keys.is_some() {
                let found: Vec<_> = block.par_iter().map(|line| self.document(line, kind, &keys)).collect();
                for (line, found) in (first..).zip(found) {
                    match found {
                        Ok(identity) => {
                            verified += 1;
                            if before.as_ref().is_some_and(|before| *before >= identity) {
                                faults.add(path, Some(line), "is not sorted, or stands twice");
                            }
                            before = Some(identity);
                        }
                        Err(message) => faults.add(path, Some(line), message),
                    }
                }
            }
            if let Err(fault) = end {
                faults.read(path, Some(lines.count() + 1), &fault);
                return (verified, false);
            }
            if block.is_empty() {
                return (verified, true);
            }
            if lines.count() > entry.rows.unwrap_or_default() {
                faults.add(
                    path,
                    entry.rows.map(|rows| rows + 1),
                    format!("more rows than the manifest says, {}", shown(entry.rows)),
                );
                return (verified, false);
            }
            if faults.full() {
                return (verified, false);
            }
        }
    }

    /// One signed document; its signature comes before its parsing.
    fn document(&self, line: &[u8], kind: Kind, keys: &HashMap<&str, (&KeyTerm, String)>) -> Result<Identity, String> {
        let parts = document::split(line, kind.member())
            .ok_or_else(|| format!("is not a signed document around {} in canonical form", kind.member()))?;
        let (term, base64) = keys.get(parts.kid).ok_or("bureau_kid is not in keys.json")?;
        if parts.key != base64 {
            return Err("bureau_key is not the key of bureau_kid in keys.json".to_owned());
        }
        if !term.covers(self.as_of) {
            return Err(format!("bureau_key is not valid at {}", self.manifest.as_of));
        }
        let signature = keys::decode(parts.signature).ok_or("bureau_sig is not canonical base64")?;
        if !term.key.verify(kind.tag(), parts.inner, &signature) {
            return Err("bureau_sig does not verify".to_owned());
        }
        canonical::read(parts.inner, |inner| {
            let expires = kind.of_run(inner, &self.manifest.as_of, &self.manifest.bureau)?;
            match expires.filter(|expires| self.at.is_some_and(|at| at >= *expires)) {
                Some(expires) => Err(format!("expired at {}", instant::format(expires))),
                None => kind.identity(inner),
            }
        })
    }
}

/// Reads what the decoder left, so that the digest is of the whole file.
fn drain(rest: &mut impl BufRead) -> io::Result<()> {
    io::copy(&mut rest.take(u64::MAX), &mut io::sink()).map(drop)
}
