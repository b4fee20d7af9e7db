//! Reading an excerpt that may have been altered: form first, then the closing line, then every hash that can be checked.

use std::io::Read;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::ExcerptError;
use super::closing::digest;
use super::format::{CLOSING, CLOSING_TAG, Closing, EntryLine, Excerpt, FORMAT, Line, Signer};
use crate::export::open_regular;
use crate::ledger::json::{Literals, Parser};
use crate::ledger::{self, canonical};
use crate::snapshot::keys::PublicKey;

/// The longest excerpt that is read, in bytes.
const MAX_BYTES: u64 = 4 << 30;

impl Excerpt {
    /// Reads a file whole, or says what was altered in it.
    ///
    /// A line that is not what it should be is an error; an alteration that leaves the form whole is one of the faults returned beside
    /// the excerpt.
    pub fn open(path: &Path) -> Result<(Excerpt, Vec<String>), ExcerptError> {
        let io = |source| ExcerptError::io(path, source);
        let mut file = open_regular(path).map_err(io)?.map_err(|found| ExcerptError::line(path, 0, found))?;
        let length = file.metadata().map_err(io)?.len();
        if length > MAX_BYTES {
            return Err(ExcerptError::line(path, 0, "is too long for an excerpt"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        file.read_to_end(&mut bytes).map_err(io)?;
        Excerpt::parse(&bytes).map_err(|(line, what)| ExcerptError::line(path, line, what))
    }

    /// Reads the bytes of a file; an error names the line, from 1.
    pub fn parse(bytes: &[u8]) -> Result<(Excerpt, Vec<String>), (usize, String)> {
        let body = bytes.strip_suffix(b"\n").ok_or((0, "the last line is cut off".to_owned()))?;
        let cut = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (before, last) = body.split_at(cut);
        let mut parser = Parser::new(Literals::Canonical);
        let mut values = Vec::new();
        for (at, line) in before.split_terminator_lines().enumerate() {
            values.push(line_value(&mut parser, line).map_err(|what| (at + 1, what))?);
        }
        let closing_at = values.len() + 1;
        let closing = line_value(&mut parser, last).map_err(|what| (closing_at, what))?;
        let mut excerpt = assemble(values)?;
        let mut faults = Vec::new();
        let (stated, signer) = closing_of(closing).map_err(|what| (closing_at, what))?;
        let expected = Closing {
            subject: excerpt.header.subject.clone(),
            as_of: excerpt.header.as_of.clone(),
            bureau: excerpt.header.bureau.clone(),
            lines: closing_at - 1,
            entries: excerpt.entries.len(),
            sha256: digest(before),
        };
        if stated != expected {
            faults.push("the closing line is not that of the lines before it: the excerpt was altered".to_owned());
        }
        match signer {
            Some(Ok(signer)) => excerpt.signer = Some(signer),
            Some(Err(what)) => faults.push(what),
            None => {}
        }
        faults.extend(excerpt.faults());
        Ok((excerpt, faults))
    }

    /// What of the entries does not hold: order, hashes, links, standing.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut before: Option<&EntryLine> = None;
        for line in &self.entries {
            let seq = line.seq();
            if before.is_some_and(|before| before.seq() >= seq) {
                faults.push(format!("seq {seq}: is out of order"));
            }
            if let (Some(hash), Some(prev)) = (&line.entry_hash, &line.prev_hash)
                && line.withheld.is_empty()
                && ledger::encode_hash(&ledger::entry_hash(&canonical::to_vec(&line.entry), prev)) != *hash
            {
                faults.push(format!("seq {seq}: the entry is not the one that was hashed"));
            }
            if let Some(before) = before.filter(|before| before.seq() + 1 == seq)
                && let (Some(prev), Some(hash)) = (&line.prev_hash, &before.entry_hash)
                && prev != hash
            {
                faults.push(format!("seq {seq}: does not follow on the entry before it"));
            }
            if line.withheld.is_empty() && line.entry_hash.is_none() {
                faults.push(format!("seq {seq}: nothing is withheld, and yet there is no hash"));
            }
            if line.standing.counts != line.standing.should_count() {
                faults.push(format!("seq {seq}: its standing contradicts itself"));
            }
            before = Some(line);
        }
        faults
    }
}

/// The lines of a text that ends with a newline, without their newlines.
trait Terminated {
    fn split_terminator_lines(&self) -> impl Iterator<Item = &[u8]>;
}

impl Terminated for [u8] {
    fn split_terminator_lines(&self) -> impl Iterator<Item = &[u8]> {
        let none = self.is_empty();
        self.strip_suffix(b"\n").unwrap_or(self).split(|byte| *byte == b'\n').filter(move |_| !none)
    }
}

/// A line that must stand in canonical form, as a value.
pub(super) fn line_value(parser: &mut Parser, line: &[u8]) -> Result<Value, String> {
    let document = parser.parse(line).map_err(|fault| fault.to_string())?;
    let mut written = Vec::with_capacity(line.len());
    canonical::write(document.root(), &mut written);
    if written != line {
        return Err("is not in canonical form (RFC 8785)".to_owned());
    }
    serde_json::from_slice(line).map_err(|fault| fault.to_string())
}

fn assemble(values: Vec<Value>) -> Result<Excerpt, (usize, String)> {
    let mut header = None;
    let (mut entries, mut priors, mut refusals) = (Vec::new(), Vec::new(), Vec::new());
    let (mut parties, mut witnessed) = (Vec::new(), Vec::new());
    let mut place = 0;
    for (at, value) in values.into_iter().enumerate() {
        let fault = |what: String| (at + 1, what);
        let line: Line = serde_json::from_value(value).map_err(|what| fault(what.to_string()))?;
        if line.place() < place || (at == 0) != (line.place() == 0) {
            return Err(fault("stands in the wrong place".to_owned()));
        }
        place = line.place();
        match line {
            Line::Header(found) if found.format == FORMAT => header = Some(found),
            Line::Header(found) => {
                return Err(fault(format!(
                    "the format {:?} is not {FORMAT}, the one that is known here",
                    found.format
                )));
            }
            Line::Entry(line) => entries.push(line),
            Line::Prior(line) => priors.push(line),
            Line::Refusals(line) => refusals.push(line),
            Line::Party(line) => parties.push(line),
            Line::Witnessed(line) => witnessed.push(line),
        }
    }
    let header = header.ok_or((1, "is no header".to_owned()))?;
    Ok(Excerpt { header, entries, priors, refusals, parties, witnessed, signer: None })
}

type Signed = Option<Result<Signer, String>>;

/// The closing line's inner object, and who signed it, where anyone did.
fn closing_of(value: Value) -> Result<(Closing, Signed), String> {
    let Value::Object(mut members) = value else { return Err("is no closing line".to_owned()) };
    let inner = members.remove(CLOSING).ok_or("is no closing line")?;
    let bytes = canonical::to_vec(&inner);
    let closing = serde_json::from_value(inner).map_err(|fault| fault.to_string())?;
    if members.is_empty() {
        return Ok((closing, None));
    }
    let names: Vec<&str> = members.keys().map(String::as_str).collect();
    if names != ["bureau_key", "bureau_kid", "bureau_sig"] {
        return Err("has members that no closing line has".to_owned());
    }
    Ok((closing, Some(verified(&Value::Object(members), CLOSING_TAG, &bytes).map(|kid| Signer { kid }))))
}

/// The id of the key that signed `inner` under `tag`, by the three members beside it (profile 3.2).
pub(super) fn verified(document: &Value, tag: &str, inner: &[u8]) -> Result<String, String> {
    let member = |name: &str| document[name].as_str().unwrap_or_default();
    let key = PublicKey::from_base64(member("bureau_key")).ok_or("bureau_key is not a canonical Ed25519 key")?;
    if key.kid() != member("bureau_kid") {
        return Err("bureau_kid is not the thumbprint of bureau_key".to_owned());
    }
    let signature: Option<[u8; 64]> =
        STANDARD.decode(member("bureau_sig")).ok().and_then(|bytes| bytes.try_into().ok());
    match signature {
        Some(signature) if key.verify(tag, inner, &signature) => Ok(key.kid()),
        _ => Err(format!("bureau_sig does not verify under {tag}")),
    }
}
