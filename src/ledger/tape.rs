//! The tape: a line's values and member names one behind the other.

use super::node::Node;
use std::ops::Range;

/// What a slot of the tape is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Null,
    True,
    False,
    /// An integer literal within ±(2^53 − 1), not `-0`: canonical as it stands.
    Integer,
    /// Any other number.
    Float,
    /// A string without escapes, a range of the line: canonical as it stands.
    Plain,
    /// A string that had escapes, a range of the arena.
    Unescaped,
    Array,
    Object,
}

/// One value or member name. In an object each name's slot is followed by its value's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub tag: Tag,
    /// For objects and arrays: the range of the line is the canonical form.
    pub canonical: bool,
    /// For objects whose names do not rise: where their order starts in the document's. Otherwise [`RISING`].
    pub order: usize,
    /// Range of the line, brackets included and quotes not; of the arena for `Unescaped`.
    pub start: usize,
    pub end: usize,
    /// Index of the slot behind this value and all inside it.
    pub next: usize,
}

/// The order of an object whose names rise by UTF-16 code units as they stand.
pub(super) const RISING: usize = usize::MAX;

impl Slot {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// What a line was parsed into. A parser fills it again for the next line.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub slots: Vec<Slot>,
    /// The strings that had escapes, one behind the other.
    pub arena: String,
    /// Of each object whose names do not rise: their number, then their slots in order.
    pub order: Vec<usize>,
}

/// A parsed line, borrowed from the parser and the line: small, for every value that is read holds one.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    pub(super) tape: &'a Tape,
    pub(super) line: &'a str,
}

impl<'a> Document<'a> {
    /// The line's object.
    pub fn root(&self) -> Node<'a> {
        Node::new(*self, 0)
    }

    pub(super) fn text(&self, slot: &Slot) -> &'a str {
        self.source(slot).get(slot.range()).unwrap_or_default()
    }

    pub(super) fn bytes(&self, slot: &Slot) -> &'a [u8] {
        self.source(slot).as_bytes().get(slot.range()).unwrap_or_default()
    }

    fn source(&self, slot: &Slot) -> &'a str {
        if slot.tag == Tag::Unescaped { &self.tape.arena } else { self.line }
    }

    /// The name slots of an object in canonical order; none where they rise as they stand.
    pub(super) fn order(&self, slot: &Slot) -> Option<&'a [usize]> {
        let (count, names) = self.tape.order.get(slot.order..)?.split_first()?;
        names.get(..*count)
    }
}
