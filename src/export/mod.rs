//! The export directory: which files it holds, how they are compressed, in which order and lines they read (profile 1.1).
//!
//! [`Export::open`] looks at names only. [`Blocks`] reads the ledger's files one after another as blocks of whole lines,
//! each with its place; [`read_whole`] reads one small file. Both give uncompressed content and know nothing of what a
//! line means. Every error names the file, and the line and byte where there is one.
//!
//! Only regular files are read, a link to one too: a directory, fifo, socket or device under the name of a file of the
//! export is refused unopened. Inside `ledger/` a name with a leading dot is ignored, as the shell's `*.jsonl` ignores
//! it. A line has at most [`MAX_LINE_BYTES`], a file that is read whole at most [`MAX_WHOLE_BYTES`], both counted
//! uncompressed, so that no file, however small, can ask for memory without end.

mod blocks;
mod directory;
mod line;
mod source;

pub use blocks::{BLOCK_BYTES, Blocks, MAX_LINE_BYTES, MAX_WHOLE_BYTES, read_whole};
pub use directory::{Export, ExportFile};
pub use line::{Block, Line, Lines};
pub use source::FileDigest;
pub(crate) use source::{irregular, open_regular};

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why an export cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The directory, or one that it should hold, cannot be listed.
    #[error("cannot read the directory {}: {source}", path.display())]
    Directory {
        /// The directory as it was given.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file of 1.1 that is not optional here is not there.
    #[error("{} holds no {what}", path.display())]
    Missing {
        /// The export directory.
        path: PathBuf,
        /// The file or files looked for.
        what: &'static str,
    },
    /// One content under two names, so that nobody can say which one counts.
    #[error("{first} and {second} are two spellings of one file; the export may hold one of them")]
    TwoSpellings {
        /// The name that sorts first.
        first: Arc<str>,
        /// The other name.
        second: Arc<str>,
    },
    /// A file cannot be opened or read.
    #[error("{file}: line {line}, byte {byte}: {source}")]
    Read {
        /// Name inside the export directory.
        file: Arc<str>,
        /// The line that could not be read to its end, from 1.
        line: u64,
        /// How many uncompressed bytes of the file were read before it failed.
        byte: u64,
        /// What the operating system said.
        source: io::Error,
    },
    /// A zstd or gzip frame is damaged or ends before its content does.
    #[error("{file}: line {line}, byte {byte}: the compressed data is truncated or damaged ({source})")]
    Compressed {
        /// Name inside the export directory.
        file: Arc<str>,
        /// The line in which the content stops, from 1.
        line: u64,
        /// How many uncompressed bytes came out before it failed.
        byte: u64,
        /// What the decompressor said.
        source: io::Error,
    },
    /// What stands under a file's name is none.
    #[error("{file}: {found}, where a regular file should be")]
    NotRegular {
        /// Name inside the export directory.
        file: Arc<str>,
        /// What it is, as [`irregular`] says.
        found: &'static str,
    },
    /// A line has more than [`MAX_LINE_BYTES`].
    #[error("{file}: line {line}, byte {byte}: a line is longer than 64 MiB")]
    LineTooLong {
        /// Name inside the export directory.
        file: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The first uncompressed byte of the file that is too much.
        byte: u64,
    },
    /// A file that is read whole has more than [`MAX_WHOLE_BYTES`].
    #[error("{file}: line {line}, byte {byte}: the file is longer than 1 GiB")]
    FileTooLong {
        /// Name inside the export directory.
        file: Arc<str>,
        /// The line with the first byte that is too much, from 1.
        line: u64,
        /// The first uncompressed byte of the file that is too much.
        byte: u64,
    },
    /// The content starts with a byte order mark.
    #[error("{file}: line 1, byte 0: a byte order mark, which no file of an export may have")]
    ByteOrderMark {
        /// Name inside the export directory.
        file: Arc<str>,
    },
}
