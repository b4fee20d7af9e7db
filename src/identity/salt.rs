//! Hashed anchors (profile 1.3) and the secret that they are hashed with.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::Identities;
use crate::export::irregular;

/// The most bytes that a salt's file may have: 64 KiB.
pub const MAX_SALT_BYTES: u64 = 64 << 10;

/// The bureau's secret salt. It is never printed and reaches no output.
#[derive(Clone, PartialEq, Eq)]
pub struct Salt(Vec<u8>);

/// Why there is no salt.
#[derive(Debug, thiserror::Error)]
pub enum SaltFault {
    /// The file could not be read.
    #[error("{file}: cannot read the salt: {cause}")]
    Unreadable {
        /// The file as given.
        file: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// What stands there is no regular file; it was not opened.
    #[error("{file}: {found}, where the salt's regular file should be")]
    NotRegular {
        /// The file as given.
        file: String,
        /// What it is.
        found: &'static str,
    },
    /// It has more than [`MAX_SALT_BYTES`].
    #[error("{file}: the salt is longer than 64 KiB")]
    TooLong {
        /// The file as given.
        file: String,
    },
    /// There is nothing in it but a newline.
    #[error("{file}: the salt is empty")]
    Empty {
        /// The file as given.
        file: String,
    },
}

impl Salt {
    /// The bytes of a regular file of at most [`MAX_SALT_BYTES`], without one final newline (2.10).
    pub fn read(path: &Path) -> Result<Salt, SaltFault> {
        let file = path.display().to_string();
        let unreadable = |cause| SaltFault::Unreadable { file: file.clone(), cause };
        // Before the file is opened: a fifo would wait for its writer.
        if let Some(found) = irregular(&fs::metadata(path).map_err(unreadable)?) {
            return Err(SaltFault::NotRegular { file, found });
        }
        let mut bytes = Vec::new();
        let opened = File::open(path).map_err(unreadable)?;
        let got = opened.take(MAX_SALT_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if got as u64 > MAX_SALT_BYTES {
            return Err(SaltFault::TooLong { file });
        }
        let salt = Salt::of_bytes(bytes);
        if salt.0.is_empty() { Err(SaltFault::Empty { file }) } else { Ok(salt) }
    }

    /// The same from bytes at hand, such as an environment variable's.
    pub fn of_bytes(mut bytes: Vec<u8>) -> Salt {
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Salt(bytes)
    }

    /// The secret itself, for hashing alone.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(secret)")
    }
}

/// The hash of every anchor and operator of an export: what a run needs of the salt, without the salt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnchorHashes(BTreeMap<String, String>);

impl AnchorHashes {
    /// Hashes them all.
    pub fn of(identities: &Identities, salt: &Salt) -> AnchorHashes {
        let names: BTreeSet<&str> =
            identities.iter().flat_map(|identity| [identity.anchor.as_str(), identity.operator.as_str()]).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let hash = |name: &str| (name.to_owned(), anchor_hash(salt.as_bytes(), name));
        let hashes: Vec<(String, String)> = names.into_par_iter().map(hash).collect();
        AnchorHashes(hashes.into_iter().collect())
    }

    /// The hash of an anchor or operator, or an empty text, which is nobody's hash, where the export had none of that name.
    pub fn hash(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// One JSON object: the hash by name.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(&self.0).unwrap_or_default()
    }

    /// The same read back, or none where it is none.
    pub fn from_json(text: &[u8]) -> Option<AnchorHashes> {
        serde_json::from_slice(text).ok().map(AnchorHashes)
    }
}

/// `sha256:` and the lower-case hex of SHA-256 of the salt, a colon and the lower-cased anchor.
pub fn anchor_hash(salt: &[u8], anchor: &str) -> String {
    let digest = Sha256::new().chain_update(salt).chain_update(b":").chain_update(anchor.to_lowercase()).finalize();
    let mut text = String::with_capacity(71);
    text.push_str("sha256:");
    for byte in digest {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from(if half < 10 { b'0' + half } else { b'a' + half - 10 }));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_final_newline_is_no_part_of_the_salt() {
        assert_eq!(Salt::of_bytes(b"ab\n\n".to_vec()).as_bytes(), b"ab\n");
        assert_eq!(Salt::of_bytes(b"ab".to_vec()).as_bytes(), b"ab");
        assert_eq!(format!("{:?}", Salt::of_bytes(b"ab".to_vec())), "Salt(secret)");
    }

    #[test]
    fn an_empty_file_holds_no_salt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("anchor.salt");
        assert!(matches!(Salt::read(&path), Err(SaltFault::Unreadable { .. })));
        std::fs::write(&path, "\n").unwrap();
        assert!(matches!(Salt::read(&path), Err(SaltFault::Empty { .. })));
        std::fs::write(&path, "pepper\n").unwrap();
        assert_eq!(Salt::read(&path).unwrap().as_bytes(), b"pepper");
    }

    #[test]
    fn a_salt_is_a_regular_file_of_at_most_64_kib() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("anchor.salt");
        fs::write(&path, vec![b'x'; 64 << 10]).unwrap();
        assert_eq!(Salt::read(&path).unwrap().as_bytes().len(), 64 << 10);
        fs::write(&path, vec![b'x'; (64 << 10) + 1]).unwrap();
        assert!(matches!(Salt::read(&path), Err(SaltFault::TooLong { .. })));
        let refused = |path: &Path| match Salt::read(path) {
            Err(SaltFault::NotRegular { found, .. }) => found,
            other => panic!("{other:?}"),
        };
        assert_eq!([Path::new("/dev/zero"), folder.path()].map(refused), ["a device", "a directory"]);
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(refused(&path), "a fifo");
    }

    #[test]
    fn an_anchor_is_lower_cased_and_hashed_behind_the_salt() {
        // printf 'pepper:ana@example.org' | sha256sum
        let hash = "sha256:acd18151b871e35263120a65711b6e9f8a02f07ca7ef5e185f21020b17394522";
        assert_eq!(anchor_hash(b"pepper", "ana@example.org"), hash);
        assert_eq!(anchor_hash(b"pepper", "Ana@Example.ORG"), hash);
    }
}
