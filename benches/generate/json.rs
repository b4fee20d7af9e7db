//! JSON values, written in canonical form (RFC 8785) or as some bureau might spell them.
//!
//! The canonical form is written here and not by the library, so that a fault of the library shows as a broken chain.

use std::borrow::Cow;

use super::random::Random;

/// A value. Member names are ASCII and sorted, so that their order by bytes is that by UTF-16 code units.
#[derive(Debug, Clone)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// A number in canonical form, and other spellings of it.
    Number(&'static str, &'static [&'static str]),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(&'static str, Json<'a>)>),
    /// A hash that is not known yet. The canonical form leaves such a member out.
    Hole(Hole),
}

/// Which hash of an entry.
#[derive(Debug, Clone, Copy)]
pub enum Hole {
    EntryHash = 0,
    PrevHash = 1,
}

/// The length of a hash in base64.
pub const HASH_LEN: usize = 44;

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Json::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Json::Text(Cow::Owned(text))
    }
}

impl From<i64> for Json<'_> {
    fn from(number: i64) -> Self {
        Json::Int(number)
    }
}

impl From<bool> for Json<'_> {
    fn from(truth: bool) -> Self {
        Json::Bool(truth)
    }
}

impl<'a, T: Into<Json<'a>>> From<Option<T>> for Json<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

/// An object of these members, in any order.
pub fn object<'a>(members: impl IntoIterator<Item = (&'static str, Json<'a>)>) -> Json<'a> {
    let mut members: Vec<_> = members.into_iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    Json::Object(members)
}

impl<'a> Json<'a> {
    /// Adds a member to an object.
    pub fn put(&mut self, name: &'static str, value: impl Into<Json<'a>>) {
        if let Json::Object(members) = self {
            let place = members.partition_point(|(other, _)| *other < name);
            members.insert(place, (name, value.into()));
        }
    }

    /// Adds a member where there is a value.
    pub fn put_some(&mut self, name: &'static str, value: Option<impl Into<Json<'a>>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Appends the canonical form.
    pub fn canonical(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null | Json::Hole(_) => out.extend(b"null"),
            Json::Bool(truth) => out.extend(if *truth { &b"true"[..] } else { b"false" }),
            Json::Int(number) => integer(*number, out),
            Json::Number(canonical, _) => out.extend(canonical.as_bytes()),
            Json::Text(text) => quoted(text, out),
            Json::List(items) => {
                out.push(b'[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    item.canonical(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                let mut first = true;
                for (name, value) in members.iter().filter(|(_, value)| !matches!(value, Json::Hole(_))) {
                    if !first {
                        out.push(b',');
                    }
                    first = false;
                    quoted(name, out);
                    out.push(b':');
                    value.canonical(out);
                }
                out.push(b'}');
            }
        }
    }
}

fn integer(number: i64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let (mut from, mut rest) = (digits.len(), number.unsigned_abs());
    loop {
        from -= 1;
        digits[from] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend(&digits[from..]);
}

fn quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        out.extend(text.as_bytes());
    } else {
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' => out.extend([b'\\', byte]),
                8 => out.extend(b"\\b"),
                9 => out.extend(b"\\t"),
                10 => out.extend(b"\\n"),
                12 => out.extend(b"\\f"),
                13 => out.extend(b"\\r"),
                0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
                _ => out.push(byte),
            }
        }
    }
    out.push(b'"');
}

/// How a line is spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The canonical form of the whole line.
    Canonical,
    /// Compact, members in any order.
    Compact,
    /// With a space after each comma and colon, ASCII only.
    Ascii,
    /// White space and escapes anywhere.
    Loose,
}

/// Writes a line in a style and remembers where the hashes go.
pub struct Speller {
    style: Style,
    random: Random,
    /// Where the characters of each [`Hole`] begin.
    pub holes: [usize; 2],
}

impl Speller {
    /// A speller for one line.
    pub fn new(style: Style, random: Random) -> Speller {
        Speller { style, random, holes: [0; 2] }
    }

    /// Appends the value.
    pub fn write(&mut self, value: &Json<'_>, out: &mut Vec<u8>) {
        match value {
            Json::Hole(hole) => {
                out.push(b'"');
                self.holes[*hole as usize] = out.len();
                out.extend([b'A'; HASH_LEN]);
                out.push(b'"');
            }
            Json::Number(canonical, spellings) => {
                let spelt = match self.style {
                    Style::Canonical => canonical,
                    _ => self.random.pick(spellings),
                };
                out.extend(spelt.as_bytes());
            }
            Json::Text(text) => self.text(text, out),
            Json::List(items) => {
                out.push(b'[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        self.separator(b',', out);
                    }
                    self.write(item, out);
                }
                out.push(b']');
            }
            Json::Object(members) => self.members(members, out),
            simple => simple.canonical(out),
        }
    }

    fn members(&mut self, members: &[(&'static str, Json<'_>)], out: &mut Vec<u8>) {
        let mut order: Vec<usize> = (0..members.len()).collect();
        if self.style != Style::Canonical {
            self.random.shuffle(&mut order);
        }
        out.push(b'{');
        for (place, member) in order.into_iter().enumerate() {
            if place > 0 {
                self.separator(b',', out);
            }
            let (name, value) = &members[member];
            self.text(name, out);
            self.separator(b':', out);
            self.write(value, out);
        }
        if self.style == Style::Loose {
            self.blank(out);
        }
        out.push(b'}');
    }

    fn separator(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.style {
            Style::Canonical | Style::Compact => out.push(byte),
            Style::Ascii => out.extend([byte, b' ']),
            Style::Loose => {
                self.blank(out);
                out.push(byte);
                self.blank(out);
            }
        }
    }

    fn blank(&mut self, out: &mut Vec<u8>) {
        const BLANKS: [&[u8]; 8] = [b"", b"", b"", b"", b" ", b"  ", b"\t", b" \t "];
        out.extend(self.random.pick(&BLANKS));
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        match self.style {
            Style::Canonical | Style::Compact => quoted(text, out),
            Style::Ascii if text.is_ascii() => quoted(text, out),
            Style::Ascii | Style::Loose => {
                let often = if self.style == Style::Loose { 20 } else { 0 };
                out.push(b'"');
                for character in text.chars() {
                    let plain = character >= ' ' && character != '"' && character != '\\';
                    if plain && (character.is_ascii() || often > 0) && !self.random.per_mille(often) {
                        out.extend(character.encode_utf8(&mut [0; 4]).bytes());
                    } else {
                        self.escape(character, out);
                    }
                }
                out.push(b'"');
            }
        }
    }

    fn escape(&mut self, character: char, out: &mut Vec<u8>) {
        if character == '/' {
            out.extend(b"\\/");
            return;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let spelt = match self.random.per_mille(500) {
                true => format!("\\u{unit:04X}"),
                false => format!("\\u{unit:04x}"),
            };
            out.extend(spelt.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value() -> Json<'static> {
        let mut value = object([
            ("prev_hash", Json::Hole(Hole::PrevHash)),
            ("n", Json::Number("100", &["1E2"])),
            ("i", (-1205).into()),
            ("t", "a/\"\\\u{8}\t\u{1}é𝄞".into()),
            ("entry_hash", Json::Hole(Hole::EntryHash)),
        ]);
        value.put("l", Json::List(vec![Json::Null, true.into(), object([])]));
        value
    }

    #[test]
    fn the_canonical_form_is_sorted_and_has_no_hashes() {
        let mut out = Vec::new();
        value().canonical(&mut out);
        let expected = "{\"i\":-1205,\"l\":[null,true,{}],\"n\":100,\"t\":\"a/\\\"\\\\\\b\\t\\u0001é𝄞\"}";
        assert_eq!(String::from_utf8(out).as_deref(), Ok(expected));
    }

    #[test]
    fn every_style_spells_the_same_value_and_says_where_the_hashes_go() {
        for style in [Style::Canonical, Style::Compact, Style::Ascii, Style::Loose] {
            for seed in 0..200 {
                let (mut speller, mut out) = (Speller::new(style, Random::new(seed)), Vec::new());
                speller.write(&value(), &mut out);
                for (hole, filler) in speller.holes.into_iter().zip([b'e', b'p']) {
                    out[hole..hole + HASH_LEN].fill(filler);
                }
                let read: serde_json::Value = serde_json::from_slice(&out).expect("a line is JSON");
                assert_eq!(read["entry_hash"], "e".repeat(HASH_LEN));
                assert_eq!(read["prev_hash"], "p".repeat(HASH_LEN));
                assert_eq!(read["t"], "a/\"\\\u{8}\t\u{1}é𝄞");
                assert_eq!(read["n"].as_f64(), Some(100.0));
                assert_eq!(read["i"], -1205);
                assert_eq!(read["l"], serde_json::json!([null, true, {}]));
            }
        }
    }
}
