//! RFC 8785, the JSON Canonicalization Scheme: the one spelling of a value that is hashed and signed.
//!
//! No white space; members ordered by the UTF-16 code units of their names; numbers as ECMAScript writes a double; in
//! strings only the escapes that JSON requires, the short ones where there is one, `\u00xx` in lower case otherwise.
//!
//! What a line spells canonically already is copied: a string without escapes, a plain integer, and any object or array
//! that the parser found without blemish.

use super::node::Node;
use super::tape::Tag;
use serde_json::Value;
use std::cmp::Ordering;
use std::io::Write;
use std::ops::Range;

/// Appends the canonical form of a parsed value.
pub fn write(node: Node<'_>, out: &mut Vec<u8>) {
    let slot = node.slot();
    let document = node.document;
    match slot.tag {
        Tag::Null => out.extend_from_slice(b"null"),
        Tag::True => out.extend_from_slice(b"true"),
        Tag::False => out.extend_from_slice(b"false"),
        Tag::Integer => out.extend_from_slice(document.text(slot).as_bytes()),
        Tag::Float => double(node.as_f64().unwrap_or_default(), out),
        Tag::Plain => {
            out.push(b'"');
            out.extend_from_slice(document.text(slot).as_bytes());
            out.push(b'"');
        }
        Tag::Unescaped => string(document.text(slot), out),
        Tag::Array | Tag::Object if slot.canonical => out.extend_from_slice(document.text(slot).as_bytes()),
        Tag::Array => {
            out.push(b'[');
            for (i, item) in node.items().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Tag::Object => write_without(node, &[], out),
    }
}

/// Appends the canonical form of an object without those of its own members that `names` lists. Members of the same name
/// further inside stay. A value that is no object is written as it is.
pub fn write_without(node: Node<'_>, names: &[&str], out: &mut Vec<u8>) {
    if !node.is_object() {
        return write(node, out);
    }
    if cut(node, names, out).is_some() {
        return;
    }
    let mut writer = Members { names, first: true };
    out.push(b'{');
    match node.document.order(node.slot()) {
        None => {
            let mut members = node.members();
            while let Some((name, value)) = members.step() {
                writer.member(name, value, out);
            }
        }
        Some(order) => {
            for name in order {
                // A value's slot follows its name's.
                let at = |slot| Node::new(node.document, slot);
                writer.member(at(*name), at(*name + 1), out);
            }
        }
    }
    out.push(b'}');
}

/// [`write_without`] for an object that is canonical as it stands: its line in as few pieces as the omissions leave. None, and nothing
/// written, where it is not, or where a member's place in the line is not known.
fn cut(node: Node<'_>, names: &[&str], out: &mut Vec<u8>) -> Option<()> {
    if !node.slot().canonical {
        return None;
    }
    let (document, begun) = (node.document, out.len());
    let mut kept: Option<Range<usize>> = None;
    let mut put = |piece: Option<Range<usize>>| {
        if let Some(piece) = piece {
            out.push(if out.len() == begun { b'{' } else { b',' });
            out.extend_from_slice(document.line.get(piece).unwrap_or_default().as_bytes());
        }
    };
    let mut members = node.members();
    while let Some((name, value)) = members.step() {
        let (name, value) = (name.slot(), value.slot());
        let end = match value.tag {
            Tag::Unescaped => None,
            Tag::Plain => Some(value.end + 1),
            _ => Some(value.end),
        };
        let (Tag::Plain, Some(end)) = (name.tag, end) else {
            out.truncate(begun);
            return None;
        };
        if names.contains(&document.text(name)) {
            put(kept.take());
        } else {
            kept = Some(kept.map_or(name.start - 1, |piece| piece.start)..end);
        }
    }
    put(kept);
    if out.len() == begun {
        out.push(b'{');
    }
    out.push(b'}');
    Some(())
}

struct Members<'n> {
    names: &'n [&'n str],
    first: bool,
}

impl Members<'_> {
    fn member(&mut self, name: Node<'_>, value: Node<'_>, out: &mut Vec<u8>) {
        if !self.names.is_empty() && self.names.contains(&name.document.text(name.slot())) {
            return;
        }
        if !std::mem::take(&mut self.first) {
            out.push(b',');
        }
        write(name, out);
        out.push(b':');
        write(value, out);
    }
}

/// The canonical form of a document that we make ourselves. Its numbers are doubles, as RFC 8785 has it: an integer beyond
/// ±(2^53 − 1) is written as the double nearest to it.
pub fn to_vec(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => double(number.as_f64().unwrap_or_default(), out),
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_value(item, out);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let mut order: Vec<_> = members.iter().collect();
            order.sort_unstable_by(|a, b| cmp_utf16(a.0, b.0));
            out.push(b'{');
            for (i, (name, value)) in order.into_iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                string(name, out);
                out.push(b':');
                write_value(value, out);
            }
            out.push(b'}');
        }
    }
}

/// Orders two names as their UTF-16 code units do (RFC 8785 3.2.3).
///
/// That is the order of the UTF-8 bytes but for one case: a character beyond U+FFFF has a lead byte from F0 on, yet its first code
/// unit is a surrogate, below U+E000 to U+FFFF with lead bytes EE and EF. Up to the first difference both texts
/// are at the same place of the same character, so that byte decides.
pub fn cmp_utf16(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        Some((x, y)) => rank(x).cmp(&rank(y)),
        None => a.len().cmp(&b.len()),
    }
}

/// A byte's place in the order of [`cmp_utf16`].
fn rank(byte: u8) -> u8 {
    if matches!(byte, 0xee | 0xef) { byte + 0x10 } else { byte }
}

/// The first eight bytes as one number: where two names' numbers differ, [`cmp_utf16`] orders the names as the numbers.
pub(super) fn utf16_prefix(name: &str) -> u64 {
    let mut prefix = [0; 8];
    for (to, from) in prefix.iter_mut().zip(name.bytes()) {
        *to = rank(from);
    }
    u64::from_be_bytes(prefix)
}

/// Appends a double as ECMAScript's `Number.prototype.toString` writes it (RFC 8785 3.2.2.3); -0 is 0.
fn double(value: f64, out: &mut Vec<u8>) {
    let mut buffer = ryu_js::Buffer::new();
    out.extend_from_slice(buffer.format_finite(value).as_bytes());
}

/// Appends a string with its quotes, runs without escapes in one piece.
fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte >= 0x20 && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
        from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x0a => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x0d => out.extend_from_slice(b"\\r"),
            _ => {
                // Writing to a Vec cannot fail.
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out.push(b'"');
}

#[cfg(test)]
#[path = "canonical_tests.rs"]
mod tests;
