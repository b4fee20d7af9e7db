//! The members of an object in its canonical bytes, as they stand there.
//!
//! What is signed as a document is JCS, and JCS of a part is a part of the JCS: a body is put together from slices of
//! the canonical entry, with nothing written anew. The input is what our own writer made, so the walk only has to find
//! where a value ends; on anything else it stops and yields nothing more.

use std::borrow::Cow;

/// A value in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Raw<'a>(pub(super) &'a [u8]);

impl<'a> Raw<'a> {
    /// The text of a string, or `None` of any other value.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        if inner.contains(&b'\\') {
            serde_json::from_slice(self.0).ok().map(Cow::Owned)
        } else {
            std::str::from_utf8(inner).ok().map(Cow::Borrowed)
        }
    }

    pub(super) fn is_null(self) -> bool {
        self.0 == b"null"
    }

    /// The members of an object: none of any other value.
    pub(super) fn members(self) -> Members<'a> {
        Members { rest: self.0.strip_prefix(b"{").unwrap_or_default() }
    }

    /// The member `name`, which no escape may be needed to write.
    pub(super) fn get(self, name: &str) -> Option<Raw<'a>> {
        self.members().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }

    /// Writes an object without one of its members.
    pub(super) fn write_without(self, name: &str, out: &mut Vec<u8>) {
        let mut before = b'{';
        for (found, value) in self.members().filter(|(found, _)| *found != name.as_bytes()) {
            out.push(before);
            before = b',';
            for part in [b"\"", found, b"\":", value.0] {
                out.extend_from_slice(part);
            }
        }
        if before == b'{' {
            out.push(before);
        }
        out.push(b'}');
    }
}

/// Name (between its quotes, as written) and value of each member, in order.
pub(super) struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let name_length = string_length(self.rest)?;
        let (name, rest) = self.rest.split_at_checked(name_length)?;
        let name = name.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let rest = rest.strip_prefix(b":")?;
        let (value, rest) = rest.split_at_checked(value_length(rest)?)?;
        self.rest = match rest.split_first()? {
            (b',', rest) => rest,
            _ => &[],
        };
        Some((name, Raw(value)))
    }
}

/// The length of the string, quotes included, that `bytes` begin with.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes.iter().enumerate();
    rest.next().filter(|(_, first)| **first == b'"')?;
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => drop(rest.next()),
            _ => {}
        }
    }
    None
}

/// The length of the value that `bytes` begin with.
fn value_length(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at += string_length(bytes.get(at..)?)?;
                if depth == 0 {
                    return Some(at);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return Some(at).filter(|&at| at > 0),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b',' if depth == 0 => return Some(at).filter(|&at| at > 0),
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str =
        r#"{"a":{"b":[1,{"c":"}\""}],"d":"x"},"e\"":"\\","f":null,"g":-1.5e+30,"h":[],"i":{},"j":"ü\n"}"#;

    #[test]
    fn values_as_they_stand() {
        let root = Raw(OBJECT.as_bytes());
        let pairs: Vec<_> = root
            .members()
            .map(|(n, v)| (String::from_utf8_lossy(n).into_owned(), String::from_utf8_lossy(v.0).into_owned()))
            .collect();
        let expected = [
            ("a", r#"{"b":[1,{"c":"}\""}],"d":"x"}"#),
            (r#"e\""#, r#""\\""#),
            ("f", "null"),
            ("g", "-1.5e+30"),
            ("h", "[]"),
            ("i", "{}"),
            ("j", r#""ü\n""#),
        ];
        assert_eq!(pairs, expected.map(|(n, v)| (n.to_owned(), v.to_owned())));
        assert_eq!(root.get("j").unwrap().text().unwrap(), "ü\n");
        assert_eq!(root.get("a").unwrap().get("d").unwrap().text().unwrap(), "x");
        assert!(root.get("f").unwrap().is_null());
        assert_eq!(root.get("g").unwrap().text(), None);
        assert_eq!(root.get("c"), None, "only its own members");
    }

    #[test]
    fn left_out_members() {
        let without = |object: &str, name| {
            let mut out = Vec::new();
            Raw(object.as_bytes()).write_without(name, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(without(OBJECT, "none"), OBJECT);
        assert_eq!(without(r#"{"a":1,"b":2,"c":3}"#, "a"), r#"{"b":2,"c":3}"#);
        assert_eq!(without(r#"{"a":1,"b":2,"c":3}"#, "b"), r#"{"a":1,"c":3}"#);
        assert_eq!(without(r#"{"a":1,"b":2,"c":3}"#, "c"), r#"{"a":1,"b":2}"#);
        assert_eq!(without(r#"{"a":1}"#, "a"), "{}");
        assert_eq!(without("{}", "a"), "{}");
    }

    #[test]
    fn broken_bytes_end_the_walk() {
        for end in 0..OBJECT.len() {
            if OBJECT.is_char_boundary(end) {
                assert!(Raw(&OBJECT.as_bytes()[..end]).members().count() <= 7);
            }
        }
        for bytes in ["", "{", "[1]", "null", "{,}", r#"{"a"}"#, r#"{"a":}"#, r#"{"a":,"b":1}"#, r#"{"a":""#] {
            assert_eq!(Raw(bytes.as_bytes()).members().count(), 0, "{bytes}");
        }
    }
}
