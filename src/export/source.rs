//! One file's uncompressed content as a stream.

use super::{ExportError, ExportFile};
use flate2::read::MultiGzDecoder;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;

/// Bytes asked of the file at a time.
const FILE_BUFFER: usize = 256 * 1024;

/// The content of a file, decompressed as its name says: `.zst` of one or more frames, `.gz` of one or more members.
pub(super) struct Source {
    file: Arc<str>,
    stream: Stream,
}

enum Stream {
    Plain(File),
    Zstd(Box<zstd::Decoder<'static, BufReader<File>>>),
    Gzip(Box<MultiGzDecoder<BufReader<File>>>),
}

impl Source {
    pub(super) fn open(file: &ExportFile) -> Result<Source, ExportError> {
        let fault = |source| ExportError::Read { file: file.name.clone(), line: 1, byte: 0, source };
        // Before the file is opened: a fifo would wait for its writer.
        if let Some(found) = irregular(&fs::metadata(&file.path).map_err(fault)?) {
            return Err(ExportError::NotRegular { file: file.name.clone(), found });
        }
        let plain = File::open(&file.path).map_err(fault)?;
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

    /// The error of a read that failed at a place in the content.
    pub(super) fn fault(&self, line: u64, byte: u64, source: io::Error) -> ExportError {
        let file = self.file.clone();
        match self.stream {
            Stream::Plain(_) => ExportError::Read { file, line, byte, source },
            _ => ExportError::Compressed { file, line, byte, source },
        }
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

/// A compressed file has a frame at least: no bytes at all is a file cut off at its start.
fn compressed(file: &ExportFile, plain: File) -> Result<BufReader<File>, ExportError> {
    let at = |source| ExportError::Read { file: file.name.clone(), line: 1, byte: 0, source };
    let mut reader = BufReader::with_capacity(FILE_BUFFER, plain);
    if reader.fill_buf().map_err(at)?.is_empty() {
        let source = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty");
        return Err(ExportError::Compressed { file: file.name.clone(), line: 1, byte: 0, source });
    }
    Ok(reader)
}
