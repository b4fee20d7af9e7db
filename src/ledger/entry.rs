//! The entry as a borrowed view, and its hash (1.2).

use super::chain::Link;
use super::detail::{self, Detail};
use super::members::{INSTANT, SchemaFault, is_subject};
use super::node::Node;
use crate::instant;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The first entry's `prev_hash`: the base64 of 32 zero bytes.
pub const NO_HASH: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// The members that an entry's hash leaves out, for [`super::canonical::write_without`].
pub const HASH_MEMBERS: [&str; 2] = ["entry_hash", "prev_hash"];

/// The hash of an entry: SHA-256 over its canonical form without [`HASH_MEMBERS`], then the characters of its `prev_hash`.
pub fn entry_hash(canonical: &[u8], prev_hash: &str) -> [u8; 32] {
    Sha256::new().chain_update(canonical).chain_update(prev_hash).finalize().into()
}

/// A hash as `entry_hash` spells it: standard base64 with padding.
pub fn encode_hash(hash: &[u8; 32]) -> String {
    STANDARD.encode(hash)
}

/// An entry. The three members that the chain needs are there wherever they can be read, whatever else is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    /// Position in the ledger, from 1.
    pub seq: Option<i64>,
    /// When it was written, in milliseconds since 1970 UTC. An entry whose `at` cannot be read exists all the same.
    pub at: Option<i64>,
    /// What it records.
    pub action: Option<&'a str>,
    /// Whom it is about: a handle or an ANS name.
    pub subject: Option<&'a str>,
    /// The capability, where it is about one.
    pub capability: Option<&'a str>,
    /// The hash of the entry before, as it stands.
    pub prev_hash: Option<&'a str>,
    /// The hash of this one, as it stands.
    pub entry_hash: Option<&'a str>,
    /// The typed members of its action.
    pub detail: Detail<'a>,
    /// The message of `entry.schema`, one an entry; none where all members are as 1.2 and 1.5 have them.
    pub fault: Option<String>,
}

impl<'a> Entry<'a> {
    /// Types the members of a line's object.
    pub fn read(root: Node<'a>) -> Entry<'a> {
        let mut raw = Raw::default();
        for (name, value) in root.members() {
            match name {
                "seq" => raw.seq = Some(value),
                "at" => raw.at = Some(value),
                "action" => raw.action = Some(value),
                "subject" => raw.subject = Some(value),
                "capability" => raw.capability = Some(value),
                "detail" => raw.detail = Some(value),
                "prev_hash" => raw.prev_hash = Some(value),
                "entry_hash" => raw.entry_hash = Some(value),
                _ => {}
            }
        }
        let text = |node: Option<Node<'a>>| node.and_then(Node::as_str);
        let mut entry = Entry {
            seq: raw.seq.and_then(Node::as_i64),
            at: text(raw.at).and_then(|t| instant::parse(t).ok()),
            action: text(raw.action),
            subject: text(raw.subject),
            capability: text(raw.capability),
            prev_hash: text(raw.prev_hash),
            entry_hash: text(raw.entry_hash),
            detail: Detail::Faulty,
            fault: None,
        };
        match entry.check(&raw) {
            Ok(detail) => entry.detail = detail,
            Err(fault) => entry.fault = Some(fault.to_string()),
        }
        entry
    }

    /// What the chain compares, with the hash computed from the entry's canonical form.
    pub fn link(&self, canonical: &[u8]) -> Link<'a> {
        let computed = entry_hash(canonical, self.prev_hash.unwrap_or_default());
        Link { seq: self.seq, prev_hash: self.prev_hash, entry_hash: self.entry_hash, computed }
    }

    fn check(&self, raw: &Raw<'a>) -> Result<Detail<'a>, SchemaFault> {
        member("seq", raw.seq, self.seq.filter(|seq| *seq >= 1), "an integer from 1 on")?;
        member("at", raw.at, self.at, INSTANT)?;
        let action = member("action", raw.action, self.action, "a string")?;
        member("subject", raw.subject, self.subject.filter(|s| is_subject(s)), "a string without a colon")?;
        if raw.capability.is_some_and(|c| !c.is_null()) && self.capability.is_none() {
            return Err(SchemaFault::Rule("capability is neither a string nor null"));
        }
        const BASE64: &str = "the base64 of 32 bytes";
        member("prev_hash", raw.prev_hash, self.prev_hash.filter(|h| is_encoded_hash(h)), BASE64)?;
        member("entry_hash", raw.entry_hash, self.entry_hash.filter(|h| is_encoded_hash(h)), BASE64)?;
        let detail = member("detail", raw.detail, raw.detail.filter(|d| d.is_object()), "an object")?;
        detail::read(action, detail)
    }
}

/// The members of 1.2 before they are typed.
#[derive(Default)]
struct Raw<'a> {
    seq: Option<Node<'a>>,
    at: Option<Node<'a>>,
    action: Option<Node<'a>>,
    subject: Option<Node<'a>>,
    capability: Option<Node<'a>>,
    detail: Option<Node<'a>>,
    prev_hash: Option<Node<'a>>,
    entry_hash: Option<Node<'a>>,
}

fn member<T>(name: &str, raw: Option<Node<'_>>, value: Option<T>, what: &'static str) -> Result<T, SchemaFault> {
    value.ok_or_else(|| match raw {
        Some(_) => SchemaFault::IsNot(name.to_owned(), what),
        None => SchemaFault::Missing(name.to_owned()),
    })
}

/// Whether a text is the base64 of 32 bytes: 42 letters, one whose last two bits are zero, and a pad.
fn is_encoded_hash(text: &str) -> bool {
    const LETTER: [bool; 256] = letters(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    const LAST: [bool; 256] = letters(b"AEIMQUYcgkosw048");
    match text.as_bytes().split_at_checked(NO_HASH.len() - 2) {
        Some((letters, [last, b'='])) => {
            letters.iter().fold(true, |all, byte| all & LETTER[usize::from(*byte)]) && LAST[usize::from(*last)]
        }
        _ => false,
    }
}

const fn letters(some: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < some.len() {
        table[some[at] as usize] = true;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_encoded_hash_is_what_the_decoder_takes(
            bytes in any::<[u8; 32]>(),
            at in 0..44usize,
            letter in proptest::char::range('\u{0}', '\u{7f}'),
        ) {
            let text = encode_hash(&bytes);
            prop_assert!(is_encoded_hash(&text));
            let mut other: Vec<char> = text.chars().collect();
            other[at] = letter;
            let other: String = other.into_iter().collect();
            prop_assert_eq!(is_encoded_hash(&other), STANDARD.decode(&other).is_ok_and(|bytes| bytes.len() == 32));
        }
    }

    #[test]
    fn a_text_of_another_length_is_no_hash() {
        for text in ["", "=", &NO_HASH[1..], &format!("A{NO_HASH}"), &"é".repeat(22)] {
            assert!(!is_encoded_hash(text), "{text}");
        }
    }
}
