//! A block of whole lines and its walk.

use memchr::memchr;
use std::sync::Arc;

/// Whole lines of one file, uncompressed, with their place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The file's name inside the export directory.
    pub file: Arc<str>,
    /// Number of the first line, from 1.
    pub first_line: u64,
    /// Where `bytes` starts in the file's uncompressed content.
    pub byte: u64,
    /// The lines, each with its newline; only the file's last may lack it.
    pub bytes: Vec<u8>,
}

impl Block {
    /// The lines in order. A file's empty last line never appears; any other empty line does.
    pub fn lines(&self) -> Lines<'_> {
        Lines { rest: &self.bytes, number: self.first_line, byte: self.byte }
    }
}

/// One line without its newline. A carriage return before it stays: to JSON that is white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Number of the line in its file, from 1.
    pub number: u64,
    /// Where the line starts in the file's uncompressed content.
    pub byte: u64,
    /// The line's bytes.
    pub bytes: &'a [u8],
}

/// The lines of a [`Block`].
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
    byte: u64,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (bytes, taken, rest) = match memchr(b'\n', self.rest) {
            Some(end) => {
                let (line, rest) = self.rest.split_at(end);
                (line, end + 1, rest.get(1..).unwrap_or_default())
            }
            None => (self.rest, self.rest.len(), <&[u8]>::default()),
        };
        let line = Line { number: self.number, byte: self.byte, bytes };
        self.rest = rest;
        self.number += 1;
        self.byte += taken as u64;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_number_and_byte() {
        let block = Block { file: "x".into(), first_line: 7, byte: 100, bytes: b"ab\n\ncd\r\nrest".to_vec() };
        let seen: Vec<_> = block.lines().map(|l| (l.number, l.byte, l.bytes.to_vec())).collect();
        let want: [(u64, u64, &[u8]); 4] = [(7, 100, b"ab"), (8, 103, b""), (9, 104, b"cd\r"), (10, 108, b"rest")];
        assert_eq!(seen, want.map(|(n, b, l)| (n, b, l.to_vec())));
    }
}
