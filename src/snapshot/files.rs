//! Bytes on their way in and out: digests taken as they pass, zstd whose output depends on the content alone, and lines of bounded length.

use std::io::{self, BufRead, Read, Write};

use sha2::{Digest, Sha256};

use crate::hex::hex;

/// The zstd level of every compressed file. Signatures do not compress, so a higher one buys little.
const LEVEL: i32 = 6;

/// zstd is always fed pieces of this size, so that how lines were batched cannot reach its output.
const PIECE: usize = 1 << 20;

/// The longest line that is read, in bytes: an organization report of some hundred thousand members.
const MAX_LINE: u64 = 64 << 20;

/// SHA-256 of what passes, and its length, on the way into a writer or out of a reader.
pub(super) struct Digesting<T> {
    inner: T,
    sha: Sha256,
    bytes: u64,
}

impl<T> Digesting<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, sha: Sha256::new(), bytes: 0 }
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.sha.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// What was wrapped, the SHA-256 in hexadecimal, and how many bytes passed.
    pub(super) fn finish(self) -> (T, String, u64) {
        (self.inner, hex(&self.sha.finalize()), self.bytes)
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.pass(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.pass(bytes.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// A single zstd frame with its content size and a checksum.
pub(super) struct Compressed<W: Write> {
    encoder: zstd::Encoder<'static, Digesting<W>>,
    content: Sha256,
    pending: Vec<u8>,
}

/// The digests of a compressed file.
pub(super) struct Digests {
    pub(super) sha256: String,
    pub(super) bytes: u64,
    pub(super) content_sha256: String,
}

impl<W: Write> Compressed<W> {
    /// A frame of exactly `content_bytes` of content.
    pub(super) fn new(out: W, content_bytes: u64) -> io::Result<Self> {
        let mut encoder = zstd::Encoder::new(Digesting::new(out), LEVEL)?;
        encoder.include_checksum(true)?;
        encoder.set_pledged_src_size(Some(content_bytes))?;
        Ok(Self { encoder, content: Sha256::new(), pending: Vec::with_capacity(PIECE) })
    }

    /// Adds one line and its newline.
    pub(super) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.add(line)?;
        self.add(b"\n")
    }

    fn add(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.content.update(bytes);
        while let Some((now, later)) = bytes.split_at_checked(PIECE - self.pending.len()) {
            self.pending.extend_from_slice(now);
            self.encoder.write_all(&self.pending)?;
            self.pending.clear();
            bytes = later;
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// Ends the frame.
    pub(super) fn finish(mut self) -> io::Result<(W, Digests)> {
        self.encoder.write_all(&self.pending)?;
        let (out, sha256, bytes) = self.encoder.finish()?.finish();
        Ok((out, Digests { sha256, bytes, content_sha256: hex(&self.content.finalize()) }))
    }
}

/// Lines in blocks, none longer than a bound.
pub(super) struct Lines<R> {
    reader: R,
    read: u64,
    max_line: u64,
}

/// How many lines, and about how many bytes, make a block.
const BLOCK_LINES: usize = 2048;
const BLOCK_BYTES: usize = 4 << 20;

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, read: 0, max_line: MAX_LINE }
    }

    #[cfg(test)]
    pub(super) fn with_limit(reader: R, max_line: u64) -> Self {
        Self { reader, read: 0, max_line }
    }

    /// How many lines were read.
    pub(super) fn count(&self) -> u64 {
        self.read
    }

    /// The next line without its newline, or none at the end. A last line without a newline is one that was cut off.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let length = (&mut self.reader).take(self.max_line + 1).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(None);
        }
        if line.pop() != Some(b'\n') {
            let reason =
                if length as u64 > self.max_line { "the line is too long" } else { "the last line is cut off" };
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        self.read += 1;
        Ok(Some(line))
    }

    /// The next lines, not all too many, and what ended them early; an empty block without an error is the end.
    pub(super) fn next_block(&mut self) -> (Vec<Vec<u8>>, io::Result<()>) {
        let (mut block, mut bytes) = (Vec::new(), 0);
        while block.len() < BLOCK_LINES && bytes < BLOCK_BYTES {
            match self.next_line() {
                Ok(Some(line)) => {
                    bytes += line.len();
                    block.push(line);
                }
                Ok(None) => break,
                Err(fault) => return (block, Err(fault)),
            }
        }
        (block, Ok(()))
    }

    /// What the lines came from.
    pub(super) fn into_inner(self) -> R {
        self.reader
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_in_lower_case() {
        let (_, sha, bytes) = {
            let mut out = Digesting::new(Vec::new());
            out.write_all(b"abc").unwrap();
            out.finish()
        };
        assert_eq!((sha.as_str(), bytes), ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", 3));
    }

    #[test]
    fn compressed_bytes_depend_on_the_content_alone() {
        let lines: Vec<Vec<u8>> =
            (0..40_000u64).map(|n| format!("{} {}", n * n, "x".repeat((n % 211) as usize)).into_bytes()).collect();
        let total = lines.iter().map(|line| line.len() as u64 + 1).sum();
        let mut by_line = Compressed::new(Vec::new(), total).unwrap();
        lines.iter().for_each(|line| by_line.line(line).unwrap());
        let (one, digests) = by_line.finish().unwrap();
        let mut at_once = Compressed::new(Vec::new(), total).unwrap();
        at_once.add(&lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect::<Vec<_>>()).unwrap();
        let (other, _) = at_once.finish().unwrap();
        assert!(one == other);
        assert_eq!(digests.bytes, one.len() as u64);
        assert_eq!(zstd::zstd_safe::get_frame_content_size(&one).unwrap(), Some(total));
        assert_eq!(digests.content_sha256, hex(&Sha256::digest(zstd::decode_all(&one[..]).unwrap())));
    }

    #[test]
    fn lines_are_bounded_and_never_cut_off() {
        let mut lines = Lines::with_limit(&b"ab\n\nabc\nabcd\n"[..], 3);
        assert_eq!(lines.next_line().unwrap().unwrap(), b"ab");
        assert_eq!(lines.next_line().unwrap().unwrap(), b"");
        assert_eq!(lines.next_line().unwrap().unwrap(), b"abc");
        assert_eq!(lines.next_line().unwrap_err().to_string(), "the line is too long");
        let (block, end) = Lines::new(&b"a\nb"[..]).next_block();
        assert_eq!((block, end.unwrap_err().to_string().as_str()), (vec![b"a".to_vec()], "the last line is cut off"));
    }
}
