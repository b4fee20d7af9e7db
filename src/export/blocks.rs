//! The lines of files, read once and handed out in blocks.

use super::source::Source;
use super::{Block, ExportError, ExportFile, FileDigest};
use memchr::{memchr_iter, memrchr};
use std::sync::Arc;

/// The size that a block has where no line is longer, in bytes.
pub const BLOCK_BYTES: usize = 2 * 1024 * 1024;

/// The most bytes that a line may have, its newline not counted: 64 MiB.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// The most bytes that a file may have that is read whole: 1 GiB.
pub const MAX_WHOLE_BYTES: usize = 1 << 30;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads files one after another as blocks of whole lines. A block never spans two files, and a line longer than the
/// block size makes a block of its own length, up to the limit of a line, [`MAX_LINE_BYTES`].
pub struct Blocks {
    files: std::vec::IntoIter<ExportFile>,
    size: usize,
    max_line: usize,
    open: Option<OpenFile>,
    hashed: bool,
    digests: Vec<(Arc<str>, FileDigest)>,
}

struct OpenFile {
    name: Arc<str>,
    source: Source,
    /// Read already, not handed out: from the start of a line on.
    carry: Vec<u8>,
    /// Place of `carry` in the file.
    line: u64,
    byte: u64,
}

impl Blocks {
    /// Blocks of [`BLOCK_BYTES`] over `files` in the order given.
    pub fn new(files: &[ExportFile]) -> Blocks {
        Blocks::with_size(files, BLOCK_BYTES)
    }

    /// Blocks of about `bytes` each (at least one byte).
    pub fn with_size(files: &[ExportFile], bytes: usize) -> Blocks {
        Blocks {
            files: Vec::from(files).into_iter(),
            size: bytes.max(1),
            max_line: MAX_LINE_BYTES,
            open: None,
            hashed: false,
            digests: Vec::new(),
        }
    }

    /// Hashes the files on the way: see [`Blocks::digests`].
    pub fn hashed(self) -> Blocks {
        Blocks { hashed: true, ..self }
    }

    /// The files that have been read to their end, by name and in order, where they are hashed.
    pub fn digests(self) -> Vec<(Arc<str>, FileDigest)> {
        self.digests
    }

    /// The next block, written into `buffer`: the `bytes` of a block that is done with may be given back here.
    ///
    /// # Errors
    /// A file that cannot be opened or read, a damaged or truncated frame, a byte order mark, a line that is too long, no
    /// regular file. After an error the file is left, and the next call goes on with the one after it.
    pub fn next_block(&mut self, mut buffer: Vec<u8>) -> Result<Option<Block>, ExportError> {
        loop {
            if self.open.is_none() {
                let Some(file) = self.files.next() else {
                    return Ok(None);
                };
                self.open = Some(OpenFile::open(&file, self.hashed)?);
            }
            let Some(mut file) = self.open.take() else {
                return Ok(None);
            };
            buffer.clear();
            let more =
                file.read(Until { size: self.size, max_line: self.max_line, max_total: usize::MAX }, &mut buffer)?;
            let block = file.cut(buffer, more);
            if more {
                self.open = Some(file);
            } else {
                self.digests.extend(file.digest()?);
            }
            if !block.bytes.is_empty() {
                return Ok(Some(block));
            }
            buffer = block.bytes;
        }
    }
}

impl Iterator for Blocks {
    type Item = Result<Block, ExportError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_block(Vec::new()).transpose()
    }
}

/// How far a read goes.
#[derive(Clone, Copy)]
struct Until {
    /// Enough for a block.
    size: usize,
    /// Too much for a line where it is passed.
    max_line: usize,
    /// Too much for a block where it is passed.
    max_total: usize,
}

impl OpenFile {
    fn open(file: &ExportFile, hashed: bool) -> Result<OpenFile, ExportError> {
        Ok(OpenFile {
            name: file.name.clone(),
            source: Source::open(file, hashed)?,
            carry: Vec::new(),
            line: 1,
            byte: 0,
        })
    }

    /// What the file was, where that is asked.
    fn digest(self) -> Result<Option<(Arc<str>, FileDigest)>, ExportError> {
        let (line, byte) = (self.line, self.byte);
        match self.source.digest() {
            Ok(digest) => Ok(digest.map(|digest| (self.name, digest))),
            Err(source) => Err(ExportError::Read { file: self.name, line, byte, source }),
        }
    }

    /// Fills `buffer` until it holds `size` bytes and a newline with something behind it; true where the file goes on.
    /// No line is read further than one byte past its limit, nor the whole.
    fn read(&mut self, until: Until, buffer: &mut Vec<u8>) -> Result<bool, ExportError> {
        buffer.append(&mut self.carry);
        // Where the line starts that has no newline yet. What is carried over is one line.
        let mut open_line = if buffer.ends_with(b"\n") { buffer.len() } else { 0 };
        loop {
            let had = buffer.len();
            // A line that outgrows the block is read in growing steps, so that its cost stays linear.
            let want = until.size.saturating_sub(had).max(had).max(1);
            let line_left = until.max_line.saturating_sub(had - open_line).saturating_add(1);
            let want = want.min(line_left).min(until.max_total.saturating_sub(had).saturating_add(1));
            let got = self.source.fill(buffer, want).map_err(|fault| {
                self.source.fault(self.line + count_lines(buffer), self.byte + buffer.len() as u64, fault)
            })?;
            if self.byte == 0 && buffer.starts_with(BYTE_ORDER_MARK) {
                return Err(ExportError::ByteOrderMark { file: self.name.clone() });
            }
            let read = buffer.get(had..).unwrap_or_default();
            if let Some(at) = memrchr(b'\n', read) {
                open_line = had + at + 1;
            }
            // A line that begins in this step has no room in it to be too long.
            if buffer.len() - open_line > until.max_line {
                let line = self.line + count_lines(buffer.get(..open_line).unwrap_or_default());
                let byte = self.byte + (open_line + until.max_line) as u64;
                return Err(ExportError::LineTooLong { file: self.name.clone(), line, byte });
            }
            if buffer.len() > until.max_total {
                let line = self.line + count_lines(buffer.get(..until.max_total).unwrap_or_default());
                let byte = self.byte + until.max_total as u64;
                return Err(ExportError::FileTooLong { file: self.name.clone(), line, byte });
            }
            if got < want {
                return Ok(false);
            }
            if buffer.len() >= until.size && open_line > 0 && last_line_start(buffer) > 0 {
                return Ok(true);
            }
        }
    }

    /// Cuts `buffer` behind its last whole line, keeps the rest for the next block, and moves the place on.
    ///
    /// While the file goes on the cut leaves at least one byte, so that the last line is known as the last when it comes.
    fn cut(&mut self, mut buffer: Vec<u8>, more: bool) -> Block {
        if more {
            let end = last_line_start(&buffer);
            self.carry.extend_from_slice(buffer.get(end..).unwrap_or_default());
            buffer.truncate(end);
        }
        let (line, byte) = (self.line, self.byte);
        self.line += count_lines(&buffer);
        self.byte += buffer.len() as u64;
        if !more {
            drop_empty_last_line(&mut buffer);
        }
        Block { file: self.name.clone(), first_line: line, byte, bytes: buffer }
    }
}

/// Where the last line starts that has at least one byte in `buffer`; 0 where there is one line only.
fn last_line_start(buffer: &[u8]) -> usize {
    let inner = buffer.split_last().map_or(buffer, |(_, inner)| inner);
    memrchr(b'\n', inner).map_or(0, |at| at + 1)
}

/// 1.1: an empty last line is fine, be it ended or not; a carriage return alone leaves a line empty.
fn drop_empty_last_line(buffer: &mut Vec<u8>) {
    let ended = buffer.strip_suffix(b"\n").unwrap_or(buffer);
    let ended = ended.strip_suffix(b"\r").unwrap_or(ended);
    if ended.is_empty() || ended.ends_with(b"\n") {
        buffer.truncate(ended.len());
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Reads a file whole, as one block; empty where the file has no line.
///
/// # Errors
/// As [`Blocks::next_block`], and a file of more than [`MAX_WHOLE_BYTES`].
pub fn read_whole(file: &ExportFile) -> Result<Block, ExportError> {
    whole(file, MAX_LINE_BYTES, MAX_WHOLE_BYTES)
}

fn whole(file: &ExportFile, max_line: usize, max_total: usize) -> Result<Block, ExportError> {
    let mut open = OpenFile::open(file, false)?;
    let mut bytes = Vec::new();
    // No block is cut at this size, so the first is the whole file.
    let more = open.read(Until { size: usize::MAX, max_line, max_total }, &mut bytes)?;
    Ok(open.cut(bytes, more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    fn file(dir: &Path, name: &str, content: &[u8]) -> ExportFile {
        let path = dir.join(name);
        fs::write(&path, content).unwrap();
        ExportFile { path, name: name.into() }
    }

    fn zstd_frames(parts: &[&[u8]]) -> Vec<u8> {
        parts.iter().flat_map(|p| zstd::encode_all(*p, 3).unwrap()).collect()
    }

    fn gzip_members(parts: &[&[u8]]) -> Vec<u8> {
        let member = |p: &&[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(p).unwrap();
            encoder.finish().unwrap()
        };
        parts.iter().flat_map(member).collect()
    }

    /// Every line with its place, checked against the content.
    fn lines(files: &[ExportFile], size: usize) -> Vec<(String, u64, u64, Vec<u8>)> {
        let mut seen = Vec::new();
        for block in Blocks::with_size(files, size) {
            let block = block.unwrap();
            assert!(!block.bytes.is_empty());
            seen.extend(block.lines().map(|l| (block.file.to_string(), l.number, l.byte, l.bytes.to_vec())));
        }
        seen
    }

    #[test]
    fn every_block_size_and_compression_gives_the_same_lines() {
        let dir = tempfile::tempdir().unwrap();
        let content = b"{\"a\":1}\n\n{\"b\":22}\r\n{\"c\":[]}\n{}\n\n";
        let (head, tail) = content.split_at(11);
        let spellings = [
            file(dir.path(), "x.jsonl", content),
            file(dir.path(), "x.jsonl.zst", &zstd_frames(&[head, b"", tail])),
            file(dir.path(), "x.jsonl.gz", &gzip_members(&[head, b"", tail])),
        ];
        for spelling in &spellings {
            let name = spelling.name.to_string();
            let want: Vec<_> = [
                (1, 0, &b"{\"a\":1}"[..]),
                (2, 8, b""),
                (3, 9, b"{\"b\":22}\r"),
                (4, 19, b"{\"c\":[]}"),
                (5, 28, b"{}"),
            ]
            .map(|(n, b, l)| (name.clone(), n, b, l.to_vec()))
            .to_vec();
            for size in 1..40 {
                assert_eq!(lines(std::slice::from_ref(spelling), size), want, "{name} {size}");
            }
            let whole = read_whole(spelling).unwrap();
            assert_eq!(
                whole.lines().map(|l| (l.number, l.byte)).collect::<Vec<_>>(),
                want.iter().map(|w| (w.1, w.2)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn only_one_empty_line_is_dropped_and_only_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        for (content, want) in [
            (&b""[..], &[][..]),
            (b"\n", &[]),
            (b"\r\n", &[]),
            (b"a", &["a"]),
            (b"a\n", &["a"]),
            (b"a\n\n", &["a"]),
            (b"a\r\n\r\n", &["a\r"]),
            (b"a\n\n\n", &["a", ""]),
            (b"\na", &["", "a"]),
            (b"a\n \n", &["a", " "]),
            (b"a\n\nb", &["a", "", "b"]),
        ] {
            let one = [file(dir.path(), "x.jsonl", content)];
            for size in [1, 2, 3, 100] {
                let seen: Vec<_> = lines(&one, size).into_iter().map(|l| String::from_utf8(l.3).unwrap()).collect();
                assert_eq!(seen, want, "{content:?} {size}");
            }
        }
    }

    #[test]
    fn an_11_mb_line_is_read_and_files_do_not_run_together() {
        let dir = tempfile::tempdir().unwrap();
        let long = vec![b'x'; 11_000_000];
        let files =
            [file(dir.path(), "1.jsonl", &[b"short\n", &long[..]].concat()), file(dir.path(), "2.jsonl", b"next")];
        let seen = lines(&files, 4096);
        assert_eq!(
            seen.iter().map(|l| (l.0.as_str(), l.1, l.2, l.3.len())).collect::<Vec<_>>(),
            [("1.jsonl", 1, 0, 5), ("1.jsonl", 2, 6, 11_000_000), ("2.jsonl", 1, 0, 4)]
        );
    }

    #[test]
    fn a_buffer_given_back_is_emptied_first() {
        let dir = tempfile::tempdir().unwrap();
        let mut blocks = Blocks::with_size(&[file(dir.path(), "x.jsonl", b"one\ntwo\nthree\n")], 5);
        let first = blocks.next_block(b"rubbish".to_vec()).unwrap().unwrap();
        assert_eq!((&*first.bytes, first.first_line), (&b"one\n"[..], 1));
        let second = blocks.next_block(first.bytes).unwrap().unwrap();
        assert_eq!((&*second.bytes, second.first_line, second.byte), (&b"two\n"[..], 2, 4));
    }

    #[test]
    fn what_is_cut_off_or_marked_is_refused_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let noise: Vec<u8> =
            (0..400_000u32).flat_map(|i| format!("{:x}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect();
        let refusal = |name: &str, content: &[u8]| {
            let file = file(dir.path(), name, content);
            let whole = read_whole(&file).map(|_| ()).unwrap_err().to_string();
            let last = Blocks::with_size(&[file], 100_000).last().unwrap().unwrap_err().to_string();
            assert_eq!(whole, last, "the place does not depend on the block size");
            whole
        };
        let (zst, gz) = (zstd_frames(&[&noise]), gzip_members(&[&noise]));
        for (name, bytes) in [("t.jsonl.zst", &zst), ("t.jsonl.gz", &gz)] {
            for keep in [0, 3, bytes.len() / 2, bytes.len() - 1] {
                let text = refusal(name, &bytes[..keep]);
                assert!(text.contains("the compressed data is truncated or damaged"), "{text}");
                assert!(text.starts_with(name) && text.contains("line ") && text.contains("byte "), "{text}");
            }
            assert!(refusal(name, &[bytes, &b"trailing"[..]].concat()).contains("truncated or damaged"));
        }
        assert_eq!(
            refusal("b.jsonl", b"\xef\xbb\xbf{}\n"),
            "b.jsonl: line 1, byte 0: a byte order mark, which no file of an export may have"
        );
        assert!(refusal("b.jsonl.zst", &zstd_frames(&[b"\xef\xbb\xbf{}\n"])).contains("byte order mark"));
        let missing = ExportFile { path: dir.path().join("none"), name: "none".into() };
        assert!(matches!(read_whole(&missing), Err(ExportError::Read { line: 1, byte: 0, .. })));
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_with_its_place_at_every_block_size() {
        let dir = tempfile::tempdir().unwrap();
        let refusal = |content: &[u8], max_total: usize, size: usize| {
            let file = file(dir.path(), "x.jsonl.zst", &zstd_frames(&[content]));
            let mut blocks = Blocks::with_size(std::slice::from_ref(&file), size);
            blocks.max_line = 10;
            let in_blocks = blocks.find_map(Result::err).map(|fault| fault.to_string());
            let in_whole = whole(&file, 10, max_total).err().map(|fault| fault.to_string());
            (in_blocks, in_whole)
        };
        let long = Some("x.jsonl.zst: line 3, byte 15: a line is longer than 64 MiB".to_owned());
        let large = Some("x.jsonl.zst: line 2, byte 10: the file is longer than 1 GiB".to_owned());
        for size in 1..60 {
            for content in
                [&b"abc\n\nelevenbytes\nx\n"[..], b"abc\n\nelevenbytes", b"abc\n\nmuch more than ten bytes\n"]
            {
                assert_eq!(refusal(content, 99, size), (long.clone(), long.clone()), "{size}");
            }
            for content in [&b"ten bytes!\nten bytes!\n\nten bytes!"[..], b"", b"\n\n"] {
                assert_eq!(refusal(content, 99, size), (None, None), "{size}");
                assert_eq!(refusal(content, content.len(), size), (None, None), "{size}");
            }
            assert_eq!(refusal(b"1234567\n9\n", 10, size), (None, None), "{size}");
            assert_eq!(refusal(b"1234567\n9ab\n", 10, size), (None, large.clone()), "{size}");
        }
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.jsonl");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let fifo = ExportFile { path, name: "x.jsonl".into() };
        let zero = ExportFile { path: "/dev/zero".into(), name: "z.jsonl".into() };
        let folder = ExportFile { path: dir.path().into(), name: "d.jsonl".into() };
        for (file, found) in [(fifo, "a fifo"), (zero, "a device"), (folder, "a directory")] {
            let want = format!("{}: {found}, where a regular file should be", file.name);
            assert_eq!(read_whole(&file).unwrap_err().to_string(), want);
            assert_eq!(Blocks::new(&[file]).next_block(Vec::new()).unwrap_err().to_string(), want);
        }
    }
}
