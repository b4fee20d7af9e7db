//! One line of an input file, read member by member. A line has all its faults reported, a file up to [`FAULT_LIMIT`] of them.

use crate::instant;
use crate::ledger::json::{self, JsonFault, Kind, Node};

use super::{KeyPeriod, Period};

/// How many faults of one file are reported; the rest of the file is not read then.
pub const FAULT_LIMIT: usize = 100;

/// What is wrong with an input file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct Fault {
    /// The file's name as given.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// The fault in words; with the byte, from 0 in the uncompressed file, where the line is no JSON object.
    pub what: String,
}

/// Reads every line with `record`, which returns what it could read; the faults of all lines come back together. The lines are
/// those of the whole file from its first, each without its newline and nothing else, so that bytes can be counted.
pub(super) fn read<'a, R>(
    file: &str,
    lines: impl Iterator<Item = (u64, &'a [u8])>,
    mut record: impl FnMut(&mut Record<'_, '_>) -> Option<R>,
) -> Result<Vec<R>, Vec<Fault>> {
    let (mut records, mut faults) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (line, bytes) in lines {
        match json::parse(bytes) {
            Err(fault) => {
                let fault = JsonFault { byte: start + fault.byte, ..fault };
                faults.push(Fault { file: file.to_owned(), line, what: fault.to_string() });
            }
            Ok(document) => {
                let mut fields = Record { file, line, node: document.root(), path: String::new(), faults: &mut faults };
                records.extend(record(&mut fields));
            }
        }
        start += bytes.len() + 1;
        if faults.len() >= FAULT_LIMIT {
            faults.truncate(FAULT_LIMIT);
            break;
        }
    }
    if faults.is_empty() { Ok(records) } else { Err(faults) }
}

/// An object of a line, which notes what is wrong with its members.
pub(super) struct Record<'n, 'f> {
    file: &'f str,
    line: u64,
    node: Node<'n>,
    /// Where the object stands in the line, such as `keys[1].`.
    path: String,
    faults: &'f mut Vec<Fault>,
}

impl<'n> Record<'n, '_> {
    /// Notes a fault of a member.
    pub(super) fn fault(&mut self, name: &str, what: &str) {
        self.faults.push(Fault {
            file: self.file.to_owned(),
            line: self.line,
            what: format!("`{}{name}` {what}", self.path),
        });
    }

    /// A member that is there and not null.
    fn present(&self, name: &str) -> Option<Node<'n>> {
        self.node.get(name).filter(|node| !node.is_null())
    }

    fn required(&mut self, name: &str) -> Option<Node<'n>> {
        let node = self.present(name);
        if node.is_none() {
            self.fault(name, "is missing");
        }
        node
    }

    fn as_text(&mut self, name: &str, node: Node<'n>) -> Option<&'n str> {
        let text = node.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.fault(name, "is no text, or an empty one");
        }
        text
    }

    /// Text that must be there.
    pub(super) fn text(&mut self, name: &str) -> Option<&'n str> {
        let node = self.required(name)?;
        self.as_text(name, node)
    }

    /// Text that may be absent or null: `Some(None)`. `None` is a fault.
    pub(super) fn maybe_text(&mut self, name: &str) -> Option<Option<&'n str>> {
        match self.present(name) {
            None => Some(None),
            Some(node) => self.as_text(name, node).map(Some),
        }
    }

    /// An anchor, operator, account or domain, which is lower case already (1.6).
    pub(super) fn lower(&mut self, name: &str) -> Option<&'n str> {
        let text = self.text(name)?;
        self.check_lower(name, text)
    }

    /// The same, where it may be absent or null.
    pub(super) fn maybe_lower(&mut self, name: &str) -> Option<Option<&'n str>> {
        match self.maybe_text(name)? {
            None => Some(None),
            Some(text) => self.check_lower(name, text).map(Some),
        }
    }

    fn check_lower(&mut self, name: &str, text: &'n str) -> Option<&'n str> {
        if text.to_lowercase() == text {
            return Some(text);
        }
        self.fault(name, "is not lower case");
        None
    }

    fn as_instant(&mut self, name: &str, node: Node<'n>) -> Option<i64> {
        let instant = node.as_str().and_then(|text| instant::parse(text).ok());
        if instant.is_none() {
            self.fault(name, "is no RFC 3339 instant with Z or an offset");
        }
        instant
    }

    /// The period of two members; the second may be absent or null.
    pub(super) fn period(&mut self, from: &str, to: &str) -> Option<Period> {
        let start = self.required(from).and_then(|node| self.as_instant(from, node));
        let end = match self.present(to) {
            None => Some(None),
            Some(node) => self.as_instant(to, node).map(Some),
        };
        let period = Period { from: start?, to: end? };
        if period.to.is_some_and(|end| end < period.from) {
            self.fault(to, &format!("is before `{from}`"));
            return None;
        }
        Some(period)
    }

    /// Each object of an array. Where the array may be absent or null, it is then empty.
    pub(super) fn each<R>(
        &mut self,
        name: &str,
        optional: bool,
        mut read: impl FnMut(&mut Record<'n, '_>) -> Option<R>,
    ) -> Option<Vec<R>> {
        let array = match self.present(name) {
            None if optional => return Some(Vec::new()),
            None => {
                self.fault(name, "is missing");
                return None;
            }
            Some(node) if matches!(node.kind(), Kind::Array) => node,
            Some(_) => {
                self.fault(name, "is no array");
                return None;
            }
        };
        let before = self.faults.len();
        let mut records = Vec::new();
        for (i, node) in array.items().enumerate() {
            if !node.is_object() {
                self.fault(&format!("{name}[{i}]"), "is no object");
                continue;
            }
            let path = format!("{}{name}[{i}].", self.path);
            let mut item = Record { file: self.file, line: self.line, node, path, faults: self.faults };
            records.extend(read(&mut item));
        }
        (self.faults.len() == before).then_some(records)
    }

    /// Keys with their periods.
    pub(super) fn keys(&mut self, name: &str, optional: bool) -> Option<Vec<KeyPeriod>> {
        self.each(name, optional, |item| {
            let (key, period) = (item.text("key"), item.period("from", "to"));
            Some(KeyPeriod { key: key?.to_owned(), period: period? })
        })
    }

    /// Notes that this name stands on an earlier line already.
    pub(super) fn repeated(&mut self, name: &str, value: &str) {
        self.fault(name, &format!("is on an earlier line already: {value}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_counted_from_the_start_of_the_file() {
        let lines: [&[u8]; 3] = [b"{}\r", b"[]", b"{\"a\":1,x}"];
        let faults = read("f", (1..).zip(lines), |_| Some(())).unwrap_err();
        let alone = json::parse(lines[2]).unwrap_err();
        assert_eq!(faults.len(), 2);
        assert_eq!((faults[1].line, faults[1].what.clone()), (3, format!("byte {}: {}", 7 + alone.byte, alone.what)));
    }
}
