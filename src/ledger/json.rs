//! The strict parser of one line: one JSON object in, a flat tape out (profile 1.2, RFC 8259).
//!
//! Refused, with the byte where it shows: whatever is not one JSON object on the line; a member name that stands twice in
//! one object, compared after unescaping; lone surrogates; invalid UTF-8; control characters in strings; numbers
//! outside the range of a double, be they too large or, though not zero, too small for any double but zero; integer
//! literals beyond ±(2^53 − 1); more than 128 objects and arrays inside each other; more than [`MAX_VALUES`] values.
//!
//! The tape holds one slot a value and one a member name, in the order of the line. A string without escapes is
//! a range of the line; one with escapes is a range of the arena. Tape, arena and stack belong to the [`Parser`] and are used
//! again for the next line, so that a line costs no allocation once they have grown.
//!
//! Memory of a line is bounded: a slot has 40 bytes, so the tape grows to 160 MiB at the most (2^22 slots), what orders
//! the names of objects to 24 bytes a name (2,000,000 names; twice that while it grows), and the arena, shorter than
//! the line, to twice the line's length, which `export::MAX_LINE_BYTES` bounds.
//!
//! While parsing, the parser counts *blemishes*: spellings that RFC 8785 writes otherwise (white space, a member
//! out of order, a needless escape, a number that is no plain integer). An object or array without one is its own
//! canonical form, and `canonical` copies it.

pub use super::fault::{JsonError, JsonFault};
pub use super::node::{Items, Kind, Members, Node};
pub use super::tape::Document;

use super::canonical::{cmp_utf16, utf16_prefix};
use super::cursor::Cursor;
use super::tape::{RISING, Slot, Tag, Tape};
use std::cmp::Ordering;
use std::ops::Range;

/// How many objects and arrays may be inside each other, the line's own object counted.
pub const MAX_DEPTH: usize = 128;

/// How many values a line may have, every member name counted as one: the slots of its tape.
pub const MAX_VALUES: usize = 4_000_000;

/// What a line beyond [`MAX_VALUES`] breaks.
const TOO_MANY: JsonError = JsonError::TooManyValues;

/// The largest integer literal, 2^53 − 1; its negative is the smallest.
pub const MAX_INTEGER: i64 = (1 << 53) - 1;

/// Which integer literals are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literals {
    /// Those of an export's line: within ±(2^53 − 1).
    Export,
    /// Those of canonical bytes: any, since RFC 8785 writes a double such as 1e20 as an integer literal.
    Canonical,
}

/// An object or array that is not closed yet.
#[derive(Debug, Clone, Copy)]
struct Frame {
    slot: usize,
    blemishes: u64,
    /// Slot of the last name; before the first, the frame's own.
    last_name: usize,
    members: usize,
    rising: bool,
}

/// The parser with its buffers.
#[derive(Debug)]
pub struct Parser {
    literals: Literals,
    tape: Tape,
    stack: Vec<Frame>,
    /// The names of one object while they are ordered: the first eight bytes, the slot.
    names: Vec<(u64, usize)>,
}

/// A parsed line with buffers of its own, for where speed is no matter.
#[derive(Debug)]
pub struct Owned<'a> {
    parser: Parser,
    line: &'a str,
}

impl Owned<'_> {
    /// The line's object.
    pub fn root(&self) -> Node<'_> {
        self.parser.document(self.line).root()
    }
}

/// Parses one line of an export, [`Literals::Export`], with buffers of its own.
///
/// # Errors
/// As [`Parser::parse`].
pub fn parse(line: &[u8]) -> Result<Owned<'_>, JsonFault> {
    let mut parser = Parser::new(Literals::Export);
    let line = utf8(line)?;
    parser.run(line)?;
    Ok(Owned { parser, line })
}

impl Parser {
    /// A parser with empty buffers.
    pub fn new(literals: Literals) -> Parser {
        Parser { literals, tape: Tape::default(), stack: Vec::new(), names: Vec::new() }
    }

    /// Parses one line, white space around its object allowed. Nothing is given out unless the whole line is well-formed.
    ///
    /// # Errors
    /// Invalid UTF-8 wherever it stands, otherwise the first fault of the line; a duplicate name may show only at the end of
    /// its object.
    pub fn parse<'a>(&'a mut self, line: &'a [u8]) -> Result<Document<'a>, JsonFault> {
        let line = utf8(line)?;
        self.run(line)?;
        Ok(self.document(line))
    }

    fn document<'a>(&'a self, line: &'a str) -> Document<'a> {
        Document { tape: &self.tape, line }
    }

    fn run(&mut self, line: &str) -> Result<(), JsonFault> {
        self.tape.slots.clear();
        self.tape.arena.clear();
        self.tape.order.clear();
        self.stack.clear();
        let mut cursor = Cursor { line, at: 0, blemishes: 0 };
        cursor.skip_white();
        match cursor.peek() {
            Some(b'{') => {}
            Some(_) => return cursor.fault(JsonError::NotAnObject),
            None => return cursor.fault(JsonError::Empty),
        }
        self.value(&mut cursor)?;
        while let Some(frame) = self.stack.last().copied() {
            match self.tape.slots.get(frame.slot).map(|s| s.tag) {
                Some(Tag::Object) => self.member(&mut cursor, frame)?,
                _ => self.item(&mut cursor, frame)?,
            }
            // A step adds two slots at the most.
            if self.tape.slots.len() > MAX_VALUES {
                return cursor.fault(TOO_MANY);
            }
        }
        cursor.skip_white();
        match cursor.peek() {
            Some(_) => cursor.fault(JsonError::Trailing),
            None => Ok(()),
        }
    }

    /// The next member of the object on top of the stack, or its end.
    fn member(&mut self, cursor: &mut Cursor<'_>, frame: Frame) -> Result<(), JsonFault> {
        cursor.skip_white();
        match cursor.peek() {
            Some(b'}') => return self.close(cursor),
            Some(b',') if frame.members > 0 => {
                cursor.at += 1;
                cursor.skip_white();
            }
            None => return cursor.fault(JsonError::Truncated),
            Some(_) if frame.members > 0 => return cursor.fault(JsonError::Syntax("',' or '}'")),
            Some(_) => {}
        }
        if cursor.peek() != Some(b'"') {
            return cursor.expected("a member name");
        }
        let (name, from) = (self.tape.slots.len(), cursor.at);
        self.string(cursor)?;
        if frame.members > 0 && frame.rising {
            match cmp_utf16(self.name(cursor.line, frame.last_name), self.name(cursor.line, name)) {
                Ordering::Less => {}
                Ordering::Equal => {
                    return Err(JsonFault { byte: from, what: JsonError::Duplicate });
                }
                Ordering::Greater => {
                    cursor.blemishes += 1;
                    if let Some(top) = self.stack.last_mut() {
                        top.rising = false;
                    }
                }
            }
        }
        if let Some(top) = self.stack.last_mut() {
            top.last_name = name;
            top.members += 1;
        }
        cursor.skip_white();
        if cursor.peek() != Some(b':') {
            return cursor.expected("':'");
        }
        cursor.at += 1;
        cursor.skip_white();
        self.value(cursor)
    }

    /// The next item of the array on top of the stack, or its end.
    fn item(&mut self, cursor: &mut Cursor<'_>, frame: Frame) -> Result<(), JsonFault> {
        cursor.skip_white();
        match cursor.peek() {
            Some(b']') => return self.close(cursor),
            Some(b',') if frame.members > 0 => {
                cursor.at += 1;
                cursor.skip_white();
            }
            None => return cursor.fault(JsonError::Truncated),
            Some(_) if frame.members > 0 => return cursor.fault(JsonError::Syntax("',' or ']'")),
            Some(_) => {}
        }
        if let Some(top) = self.stack.last_mut() {
            top.members += 1;
        }
        self.value(cursor)
    }

    /// A value: whole, or, of an object or array, its opening.
    fn value(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonFault> {
        match cursor.peek() {
            Some(b'"') => self.string(cursor),
            Some(b'{') => self.open(cursor, Tag::Object),
            Some(b'[') => self.open(cursor, Tag::Array),
            Some(b'-' | b'0'..=b'9') => self.number(cursor),
            Some(b't') => self.word(cursor, "true", Tag::True),
            Some(b'f') => self.word(cursor, "false", Tag::False),
            Some(b'n') => self.word(cursor, "null", Tag::Null),
            _ => cursor.expected("a value"),
        }
    }

    fn push(&mut self, tag: Tag, range: Range<usize>) {
        let next = self.tape.slots.len() + 1;
        self.tape.slots.push(Slot { tag, canonical: true, order: RISING, start: range.start, end: range.end, next });
    }

    fn open(&mut self, cursor: &mut Cursor<'_>, tag: Tag) -> Result<(), JsonFault> {
        if self.stack.len() == MAX_DEPTH {
            return cursor.fault(JsonError::Depth);
        }
        let slot = self.tape.slots.len();
        self.stack.push(Frame { slot, blemishes: cursor.blemishes, last_name: slot, members: 0, rising: true });
        self.push(tag, cursor.at..cursor.at);
        cursor.at += 1;
        Ok(())
    }

    fn close(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonFault> {
        cursor.at += 1;
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let order = if frame.rising { RISING } else { self.put_in_order(cursor.line, frame)? };
        let next = self.tape.slots.len();
        if let Some(slot) = self.tape.slots.get_mut(frame.slot) {
            slot.end = cursor.at;
            slot.next = next;
            slot.order = order;
            slot.canonical = frame.blemishes == cursor.blemishes;
        }
        Ok(())
    }

    fn word(&mut self, cursor: &mut Cursor<'_>, word: &str, tag: Tag) -> Result<(), JsonFault> {
        let start = cursor.at;
        for byte in word.bytes() {
            match cursor.peek() {
                Some(found) if found == byte => cursor.at += 1,
                _ => return cursor.expected("a value"),
            }
        }
        self.push(tag, start..cursor.at);
        Ok(())
    }

    fn number(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonFault> {
        let start = cursor.at;
        let negative = cursor.take(b'-');
        let (whole, value) = cursor.digits();
        let leading_zero = whole > 1 && cursor.line.as_bytes().get(cursor.at - whole) == Some(&b'0');
        if whole == 0 || leading_zero {
            return Err(JsonFault { byte: start, what: JsonError::Number });
        }
        let mut integer = true;
        if cursor.take(b'.') {
            integer = false;
            if cursor.digits().0 == 0 {
                return cursor.expected_number(start);
            }
        }
        if cursor.take(b'e') || cursor.take(b'E') {
            integer = false;
            let _sign = cursor.take(b'-') || cursor.take(b'+');
            if cursor.digits().0 == 0 {
                return cursor.expected_number(start);
            }
        }
        let range = start..cursor.at;
        if integer && value.is_some_and(|v| v <= MAX_INTEGER as u64) && !(negative && value == Some(0)) {
            self.push(Tag::Integer, range);
            return Ok(());
        }
        if integer && value != Some(0) && self.literals == Literals::Export {
            return Err(JsonFault { byte: start, what: JsonError::Integer });
        }
        let text = cursor.line.get(range.clone()).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(double) if double.is_finite() && (double != 0.0 || is_zero(text)) => {
                cursor.blemishes += 1;
                self.push(Tag::Float, range);
                Ok(())
            }
            _ => Err(JsonFault { byte: start, what: JsonError::Range }),
        }
    }

    fn string(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonFault> {
        cursor.at += 1;
        let start = cursor.at;
        cursor.skip_plain();
        match cursor.peek() {
            Some(b'"') => {
                self.push(Tag::Plain, start..cursor.at);
                cursor.at += 1;
                Ok(())
            }
            Some(b'\\') => {
                let from = self.tape.arena.len();
                cursor.unescape(start, &mut self.tape.arena)?;
                self.push(Tag::Unescaped, from..self.tape.arena.len());
                Ok(())
            }
            Some(_) => cursor.fault(JsonError::Control),
            None => cursor.fault(JsonError::Truncated),
        }
    }

    fn name<'b>(&'b self, line: &'b str, slot: usize) -> &'b str {
        self.tape.slots.get(slot).map_or("", |s| self.document(line).text(s))
    }

    /// Orders the names of an object that do not rise, and refuses it where two are equal. Gives where the order starts.
    ///
    /// Sorting costs an object of 100,000 members no 5·10^9 comparisons, and most names differ in their first eight bytes.
    fn put_in_order(&mut self, line: &str, frame: Frame) -> Result<usize, JsonFault> {
        let mut names = std::mem::take(&mut self.names);
        names.clear();
        let mut at = frame.slot + 1;
        while at < self.tape.slots.len() {
            names.push((utf16_prefix(self.name(line, at)), at));
            at = self.tape.slots.get(at + 1).map_or(usize::MAX, |value| value.next);
        }
        let compare = |a: &(u64, usize), b: &(u64, usize)| {
            a.0.cmp(&b.0).then_with(|| cmp_utf16(self.name(line, a.1), self.name(line, b.1)))
        };
        names.sort_unstable_by(compare);
        let twice = names.windows(2).filter_map(|pair| match pair {
            [a, b] if compare(a, b).is_eq() => Some(a.1.max(b.1)),
            _ => None,
        });
        let twice = twice.min();
        let start = self.tape.order.len();
        self.tape.order.push(names.len());
        self.tape.order.extend(names.iter().map(|name| name.1));
        self.names = names;
        match twice.and_then(|slot| self.tape.slots.get(slot)) {
            None => Ok(start),
            // A name in the arena has lost its place: then the place is the object's.
            Some(name) if name.tag == Tag::Plain => Err(JsonFault { byte: name.start - 1, what: JsonError::Duplicate }),
            Some(_) => Err(JsonFault {
                byte: self.tape.slots.get(frame.slot).map_or(0, |s| s.start),
                what: JsonError::Duplicate,
            }),
        }
    }
}

fn utf8(line: &[u8]) -> Result<&str, JsonFault> {
    std::str::from_utf8(line).map_err(|fault| JsonFault { byte: fault.valid_up_to(), what: JsonError::Utf8 })
}

/// Whether a number's literal is zero: no digit but 0 before an exponent.
fn is_zero(text: &str) -> bool {
    text.bytes().take_while(|b| !matches!(b, b'e' | b'E')).all(|b| matches!(b, b'0' | b'.' | b'-'))
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
