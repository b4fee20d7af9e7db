//! What can go wrong in this room, each with its place and with what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// A refusal or a failure of the snapshot room.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A key file that others than its owner may read or write (3.4).
    #[error("{path}: the signing key may be read or written by others (mode {mode:04o}); run: chmod 600 {path}", path = path.display())]
    KeyMode {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A key that is none: not PKCS#8 PEM, not Ed25519, or too long.
    #[error("{place}: {reason}")]
    Key {
        /// The file or the environment variable.
        place: String,
        /// What is wrong with it; never a part of the key.
        reason: String,
    },
    /// `keygen` onto a file that exists already.
    #[error("{}: exists already; a key is never overwritten", .0.display())]
    KeyExists(PathBuf),
    /// A key history that cannot be used (3.4).
    #[error("{path}: {reason}", path = path.display())]
    History {
        /// The history file, or `keys.json` of a snapshot.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A draft that no snapshot can be made of: an instant without a name, a file given twice, a current key that is not valid at *T*.
    #[error("{0}")]
    Draft(String),
    /// A line handed over for signing that is not what 3.2 and 3.3 ask for.
    #[error("{path}:{line}: {reason}", path = path.display())]
    Document {
        /// The file of inner objects.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A table that may not leave the house, or is no Parquet (3.3).
    #[error("{path}: {reason}", path = path.display())]
    Table {
        /// The Parquet file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A second run for the same *T* with other bytes (3.3).
    #[error("{path} exists with other bytes ({differing}); to replace it pass --replace", path = path.display())]
    Exists {
        /// The snapshot that is there.
        path: PathBuf,
        /// The files that differ.
        differing: String,
    },
    /// Reports or ratings that the last snapshot has and this one has not (3.3).
    #[error("{what}, which {last} has: a report never disappears; to publish all the same pass --allow-fewer", last = last.display())]
    Fewer {
        /// The last snapshot.
        last: PathBuf,
        /// How many, and the first of them.
        what: String,
    },
    /// The last snapshot of the directory cannot be compared with.
    #[error("{path}: {reason}; run `bureau check` on it and move it aside if it is damaged", path = path.display())]
    Previous {
        /// The file of the last snapshot.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Something in the snapshots directory stands where this room's own names belong.
    #[error("{path}: {reason}", path = path.display())]
    InTheWay {
        /// What stands there.
        path: PathBuf,
        /// Why it is left alone.
        reason: String,
    },
    /// Another process is publishing into the same directory.
    #[error("{}: another run is publishing here", .0.display())]
    Busy(PathBuf),
    /// The environment: a disk that is full, a permission, a file that is not there.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What is done with a file that the command line names: where it is missing, the input is at fault.
const NAMED: [&str; 3] = ["read the signing key", "read the key history", "read the key"];

impl SnapshotError {
    /// The exit code of a command that ends with this: 3 where the environment is at fault, 1 where the input is, as it is where a key,
    /// a public key or a key history is missing.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Io { action, source, .. } if source.kind() == io::ErrorKind::NotFound && NAMED.contains(action) => 1,
            Self::Io { .. } | Self::Busy(_) => 3,
            _ => 1,
        }
    }

    /// For `map_err`: an I/O error with its place.
    pub(super) fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }
}
