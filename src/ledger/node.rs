//! Reading a parsed line: one value at a time, without copying.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::Range;

use super::json::MAX_INTEGER;
use super::tape::{Document, RISING, Slot, Tag};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Where [`Node::get_next`] goes on in one object: the name slot behind the member found last, and that member's own; 0 before the first.
#[derive(Debug, Clone, Default)]
pub(super) struct Hint {
    next: Cell<usize>,
    last: Cell<usize>,
}

/// A value of a parsed line.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    pub(super) document: Document<'a>,
    pub(super) at: usize,
}

impl<'a> Node<'a> {
    pub(super) fn new(document: Document<'a>, at: usize) -> Node<'a> {
        Node { document, at }
    }

    /// The value's slot; every node was made from one.
    pub(super) fn slot(self) -> &'a Slot {
        const NOTHING: Slot = Slot { tag: Tag::Null, canonical: true, order: RISING, start: 0, end: 0, next: 0 };
        self.document.tape.slots.get(self.at).unwrap_or(&NOTHING)
    }

    /// What the value is.
    pub fn kind(self) -> Kind {
        match self.slot().tag {
            Tag::Null => Kind::Null,
            Tag::True | Tag::False => Kind::Bool,
            Tag::Integer | Tag::Float => Kind::Number,
            Tag::Plain | Tag::Unescaped => Kind::Text,
            Tag::Array => Kind::Array,
            Tag::Object => Kind::Object,
        }
    }

    /// The member `name` of an object; none where the value is no object.
    pub fn get(self, name: &str) -> Option<Node<'a>> {
        self.members().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// The same for members that are asked for one after another, by names in ASCII: the search begins behind the last one found, so that
    /// those asked for in the order of their names cost a step each in an object whose names rise, whether they are there or not.
    #[inline]
    pub(super) fn get_next(self, name: &str, hint: &Hint) -> Option<Node<'a>> {
        debug_assert!(name.is_ascii());
        let slot = self.slot();
        if slot.tag != Tag::Object {
            return None;
        }
        let (first, rising) = (self.at + 1, slot.order == RISING);
        let start = hint.next.get().max(first);
        let mut found = self.find(name, start..slot.next, rising);
        if found.is_none() && start > first && !(rising && self.compare(hint.last.get(), name).is_lt()) {
            found = self.find(name, first..start, rising);
        }
        let at = found?;
        let value = Node::new(self.document, at + 1);
        hint.last.set(at);
        hint.next.set(value.slot().next);
        Some(value)
    }

    /// The slot of a name among some of an object's name slots. Where they are `rising`, those behind a greater one are not looked at.
    #[inline]
    fn find(self, name: &str, among: Range<usize>, rising: bool) -> Option<usize> {
        let mut at = among.start;
        while at < among.end {
            match self.compare(at, name) {
                Ordering::Equal => return Some(at),
                Ordering::Greater if rising => return None,
                _ => at = Node::new(self.document, at + 1).slot().next,
            }
        }
        None
    }

    /// How the name of a slot stands to one in ASCII, for which the order of bytes is that of UTF-16 code units.
    #[inline]
    fn compare(self, at: usize, name: &str) -> Ordering {
        let found = self.document.tape.slots.get(at).map_or(&[][..], |slot| self.document.bytes(slot));
        // Most differ in their first byte.
        found.first().cmp(&name.as_bytes().first()).then_with(|| found.cmp(name.as_bytes()))
    }

    /// The members of an object in the order of the line; none where the value is no object.
    pub fn members(self) -> Members<'a> {
        Members(self.inside(Tag::Object))
    }

    /// The items of an array in order; none where the value is no array.
    pub fn items(self) -> Items<'a> {
        Items(self.inside(Tag::Array))
    }

    fn inside(self, tag: Tag) -> Inside<'a> {
        let slot = self.slot();
        let end = if slot.tag == tag { slot.next } else { self.at };
        Inside { document: self.document, at: self.at + 1, end }
    }

    /// A string's content, unescaped.
    pub fn as_str(self) -> Option<&'a str> {
        match self.slot().tag {
            Tag::Plain | Tag::Unescaped => Some(self.document.text(self.slot())),
            _ => None,
        }
    }

    /// A boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.slot().tag {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    /// A number that is an integer within ±(2^53 − 1), however it is written: `5`, `5.0` and `5e0` are one value.
    pub fn as_i64(self) -> Option<i64> {
        let text = self.document.text(self.slot());
        match self.slot().tag {
            Tag::Integer => text.parse().ok(),
            Tag::Float => {
                let double: f64 = text.parse().ok()?;
                // Both bounds are exact doubles, so the conversion is too.
                let whole = double.trunc() == double && double.abs() <= MAX_INTEGER as f64;
                whole.then_some(double as i64)
            }
            _ => None,
        }
    }

    /// A number as the double nearest to its literal.
    pub fn as_f64(self) -> Option<f64> {
        match self.slot().tag {
            Tag::Integer | Tag::Float => self.document.text(self.slot()).parse().ok(),
            _ => None,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.slot().tag == Tag::Null
    }

    /// Whether the value is an object.
    pub fn is_object(self) -> bool {
        self.slot().tag == Tag::Object
    }

    /// Whether the value is an array.
    pub fn is_array(self) -> bool {
        self.slot().tag == Tag::Array
    }
}

#[derive(Debug, Clone)]
struct Inside<'a> {
    document: Document<'a>,
    at: usize,
    end: usize,
}

impl<'a> Inside<'a> {
    fn step(&mut self) -> Option<Node<'a>> {
        if self.at >= self.end {
            return None;
        }
        let node = Node::new(self.document, self.at);
        self.at = node.slot().next;
        Some(node)
    }
}

/// The members of an object: name, value.
#[derive(Debug, Clone)]
pub struct Members<'a>(Inside<'a>);

impl<'a> Members<'a> {
    /// The next member as its two nodes.
    pub(super) fn step(&mut self) -> Option<(Node<'a>, Node<'a>)> {
        Some((self.0.step()?, self.0.step()?))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Node<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.step()?;
        Some((name.document.text(name.slot()), value))
    }
}

/// The items of an array.
#[derive(Debug, Clone)]
pub struct Items<'a>(Inside<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        self.0.step()
    }
}
