//! Writing an excerpt: canonical lines, and the line that closes them.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::format::{CLOSING, CLOSING_TAG, Closing, Excerpt, Line};
use crate::ledger::canonical;
use crate::snapshot::document;
use crate::snapshot::keys::BureauKey;

impl Excerpt {
    /// The bytes of the file. With a key, the closing line is signed.
    pub fn to_bytes(&self, key: Option<&BureauKey>) -> Vec<u8> {
        let mut out = Vec::new();
        let mut lines = 0;
        for line in self.lines() {
            out.extend_from_slice(&canonical::to_vec(&json!(line)));
            out.push(b'\n');
            lines += 1;
        }
        let closing = Closing {
            subject: self.header.subject.clone(),
            as_of: self.header.as_of.clone(),
            bureau: self.header.bureau.clone(),
            lines,
            entries: self.entries.len(),
            sha256: digest(&out),
        };
        let inner = canonical::to_vec(&json!(closing));
        match key {
            Some(key) => out.extend_from_slice(&document::sign_line(key, CLOSING_TAG, CLOSING, &inner)),
            None => out.extend_from_slice(&canonical::to_vec(&json!({ CLOSING: closing }))),
        }
        out.push(b'\n');
        out
    }

    fn lines(&self) -> impl Iterator<Item = Line> {
        let header = std::iter::once(Line::Header(self.header.clone()));
        let entries = self.entries.iter().cloned().map(Line::Entry);
        let priors = self.priors.iter().cloned().map(Line::Prior);
        let refusals = self.refusals.iter().cloned().map(Line::Refusals);
        let parties = self.parties.iter().cloned().map(Line::Party);
        let witnessed = self.witnessed.iter().cloned().map(Line::Witnessed);
        header.chain(entries).chain(priors).chain(refusals).chain(parties).chain(witnessed)
    }
}

impl Line {
    /// The place of its kind in the file.
    pub(super) fn place(&self) -> u8 {
        match self {
            Line::Header(_) => 0,
            Line::Entry(_) => 1,
            Line::Prior(_) => 2,
            Line::Refusals(_) => 3,
            Line::Party(_) => 4,
            Line::Witnessed(_) => 5,
        }
    }
}

/// SHA-256 as the closing line spells it.
pub(super) fn digest(bytes: &[u8]) -> String {
    crate::hex::hex(&Sha256::digest(bytes))
}

/// A value's canonical bytes hold for comparison: two figures are one where these are.
pub(super) fn spelt(value: &Value) -> String {
    String::from_utf8(canonical::to_vec(value)).unwrap_or_default()
}
