//! The parser's place in the line: white space, digits, string content and escapes.

use super::fault::{JsonError, JsonFault};

/// A place in a line, and how many spellings were passed that RFC 8785 would write otherwise.
pub(super) struct Cursor<'a> {
    pub line: &'a str,
    pub at: usize,
    pub blemishes: u64,
}

impl Cursor<'_> {
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    pub fn fault<T>(&self, what: JsonError) -> Result<T, JsonFault> {
        Err(JsonFault { byte: self.at, what })
    }

    /// The fault of a byte that is not what should stand here, or of the line's end.
    pub fn expected<T>(&self, what: &'static str) -> Result<T, JsonFault> {
        self.fault(if self.peek().is_none() { JsonError::Truncated } else { JsonError::Syntax(what) })
    }

    /// The fault of a number that ends too early.
    pub fn expected_number<T>(&self, start: usize) -> Result<T, JsonFault> {
        match self.peek() {
            None => self.fault(JsonError::Truncated),
            Some(_) => Err(JsonFault { byte: start, what: JsonError::Number }),
        }
    }

    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline]
    pub fn skip_white(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
            self.blemishes += 1;
        }
    }

    /// Passes digits: how many, and their value where it fits.
    pub fn digits(&mut self) -> (usize, Option<u64>) {
        let (mut count, mut value) = (0, Some(0u64));
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value.and_then(|v| v.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
            count += 1;
            self.at += 1;
        }
        (count, value)
    }

    /// Passes string content up to a quote, a backslash, a control character or the line's end, eight bytes a step.
    #[inline]
    pub fn skip_plain(&mut self) {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGHS: u64 = 0x8080_8080_8080_8080;
        let rest = self.line.as_bytes().get(self.at..).unwrap_or_default();
        let (words, tail) = rest.as_chunks::<8>();
        for (count, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let (quote, slash) = (word ^ (ONES * 0x22), word ^ (ONES * 0x5c));
            // High bit set where a byte is below 0x20, a quote or a backslash; above the first such byte it may be set
            // wrongly, below it never.
            let below = word.wrapping_sub(ONES * 0x20) & !word;
            let equal = (quote.wrapping_sub(ONES) & !quote) | (slash.wrapping_sub(ONES) & !slash);
            let found = (below | equal) & HIGHS;
            if found != 0 {
                self.at += count * 8 + found.trailing_zeros() as usize / 8;
                return;
            }
        }
        let in_tail = tail.iter().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f)).unwrap_or(tail.len());
        self.at += rest.len() - tail.len() + in_tail;
    }

    /// Appends the string that starts at `start` to `arena`, unescaped, and passes its closing quote. The place is its first backslash.
    pub fn unescape(&mut self, start: usize, arena: &mut String) -> Result<(), JsonFault> {
        let mut plain = start;
        loop {
            arena.push_str(self.line.get(plain..self.at).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => arena.push(self.escape()?),
                Some(_) => return self.fault(JsonError::Control),
                None => return self.fault(JsonError::Truncated),
            }
            plain = self.at;
            self.skip_plain();
        }
    }

    /// The character of one escape.
    fn escape(&mut self) -> Result<char, JsonFault> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'/') => {
                self.blemishes += 1;
                '/'
            }
            Some(b'u') => return self.unicode(start),
            Some(_) => {
                return Err(JsonFault { byte: start, what: JsonError::Escape });
            }
            None => {
                self.at = self.line.len();
                return self.fault(JsonError::Truncated);
            }
        })
    }

    /// The character of `\uXXXX`, or of two of them that are a surrogate pair, from behind the first `u`.
    fn unicode(&mut self, start: usize) -> Result<char, JsonFault> {
        let unit = self.four_hex(start)?;
        // RFC 8785 escapes so only control characters that have no shorter escape, in lower case.
        let spelt = self.line.get(self.at - 4..self.at).unwrap_or_default();
        let short = matches!(unit, 0x08 | 0x09 | 0x0a | 0x0c | 0x0d);
        self.blemishes += u64::from(unit >= 0x20 || short || spelt.bytes().any(|b| b.is_ascii_uppercase()));
        let lone = JsonFault { byte: start, what: JsonError::Surrogate };
        match unit {
            0xd800..=0xdbff => {
                if !(self.take(b'\\') && self.take(b'u')) {
                    return Err(lone);
                }
                let low = self.four_hex(start)?;
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err(lone);
                }
                char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).ok_or(lone)
            }
            _ => char::from_u32(unit).ok_or(lone),
        }
    }

    fn four_hex(&mut self, start: usize) -> Result<u32, JsonFault> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(byte) => {
                    char::from(byte).to_digit(16).ok_or(JsonFault { byte: start, what: JsonError::Escape })?
                }
                None => return self.fault(JsonError::Truncated),
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }
}
