//! One file's uncompressed content as a stream.

use super::{ExportError, ExportFile};
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;

/// Bytes asked of the file at a time.
const FILE_BUFFER: usize = 256 * 1024;

/// The content of a file, decompressed as its name says: `.zst` of one or more frames, `.gz` of one or more members.
pub(super) struct Source {
    file: Arc<str>,
    stream: Stream,
}

enum Stream {
    Plain(Raw),
    Zstd(Box<zstd::Decoder<'static, BufReader<Raw>>>),
    Gzip(Box<MultiGzDecoder<BufReader<Raw>>>),
}

/// The bytes of a file as they stand, counted, and hashed where that is asked.
struct Raw {
    file: File,
    bytes: u64,
    hash: Option<Box<blake3::Hasher>>,
}

impl Raw {
    fn open(path: &Path, hashed: bool) -> io::Result<Raw> {
        Ok(Raw { file: File::open(path)?, bytes: 0, hash: hashed.then(Box::default) })
    }

    /// What the file was, read to its end; none where it is not hashed.
    fn digest(mut self) -> io::Result<Option<FileDigest>> {
        if self.hash.is_some() {
            io::copy(&mut self, &mut io::sink())?;
        }
        Ok(self.hash.map(|hash| FileDigest { bytes: self.bytes, blake3: hash.finalize().to_hex().to_string() }))
    }
}

impl Read for Raw {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read(into)?;
        self.bytes += got as u64;
        if let Some(hash) = &mut self.hash {
            hash.update(into.get(..got).unwrap_or_default());
        }
        Ok(got)
    }
}

impl Source {
    /// Opens a file, and hashes what is read of it where `hashed`.
    pub(super) fn open(file: &ExportFile, hashed: bool) -> Result<Source, ExportError> {
        let fault = |source| ExportError::Read { file: file.name.clone(), line: 1, byte: 0, source };
        // Before the file is opened: a fifo would wait for its writer.
        if let Some(found) = irregular(&fs::metadata(&file.path).map_err(fault)?) {
            return Err(ExportError::NotRegular { file: file.name.clone(), found });
        }
        let plain = Raw::open(&file.path, hashed).map_err(fault)?;
        let stream = if file.name.ends_with(".zst") {
            Stream::Zstd(Box::new(zstd::Decoder::with_buffer(compressed(file, plain)?).map_err(fault)?))
        } else if file.name.ends_with(".gz") {
            Stream::Gzip(Box::new(MultiGzDecoder::new(compressed(file, plain)?)))
        } else {
            Stream::Plain(plain)
        };
        Ok(Source { file: file.name.clone(), stream })
    }

    /// Appends up to `want` bytes to `into`; fewer only at the end of the content. What came out before an error is in `into`.
    pub(super) fn fill(&mut self, into: &mut Vec<u8>, want: usize) -> io::Result<usize> {
        let limit = want as u64;
        match &mut self.stream {
            Stream::Plain(file) => file.take(limit).read_to_end(into),
            Stream::Zstd(decoder) => decoder.take(limit).read_to_end(into),
            Stream::Gzip(decoder) => decoder.take(limit).read_to_end(into),
        }
    }

    /// What the file was, once its content has been read to the end; none where it was not hashed.
    pub(super) fn digest(self) -> io::Result<Option<FileDigest>> {
        let raw = match self.stream {
            Stream::Plain(raw) => raw,
            Stream::Zstd(decoder) => decoder.finish().into_inner(),
            Stream::Gzip(decoder) => decoder.into_inner().into_inner(),
        };
        raw.digest()
    }

    /// The error of a read that failed at a place in the content.
    pub(super) fn fault(&self, line: u64, byte: u64, source: io::Error) -> ExportError {
        let file = self.file.clone();
        match self.stream {
            Stream::Plain(_) => ExportError::Read { file, line, byte, source },
            _ => ExportError::Compressed { file, line, byte, source },
        }
    }
}

/// A file by its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// How many.
    pub bytes: u64,
    /// BLAKE3, in lower-case hexadecimal digits: every night hashes every file that it knows, and SHA-256 takes four times as long.
    pub blake3: String,
}

impl FileDigest {
    /// That of a file as it stands.
    pub fn of(file: &ExportFile) -> io::Result<FileDigest> {
        let mut raw = BufReader::with_capacity(FILE_BUFFER, Raw::open(&file.path, true)?);
        io::copy(&mut raw, &mut io::sink())?;
        Ok(raw.into_inner().digest()?.unwrap_or_default())
    }
}

/// What a path leads to, where that is no regular file.
pub(crate) fn irregular(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return None;
    }
    Some(if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a fifo"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "something else"
    })
}

/// Opens a file that the command line names; the inner error says what stands there instead of one.
pub(crate) fn open_regular(path: &Path) -> io::Result<Result<File, String>> {
    // Before the file is opened: a fifo would wait for its writer.
    match irregular(&fs::metadata(path)?) {
        Some(found) => Ok(Err(format!("{found}, where a regular file should be"))),
        None => File::open(path).map(Ok),
    }
}

/// A compressed file has a frame at least: no bytes at all is a file cut off at its start.
fn compressed(file: &ExportFile, plain: Raw) -> Result<BufReader<Raw>, ExportError> {
    let at = |source| ExportError::Read { file: file.name.clone(), line: 1, byte: 0, source };
    let mut reader = BufReader::with_capacity(FILE_BUFFER, plain);
    if reader.fill_buf().map_err(at)?.is_empty() {
        let source = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty");
        return Err(ExportError::Compressed { file: file.name.clone(), line: 1, byte: 0, source });
    }
    Ok(reader)
}
