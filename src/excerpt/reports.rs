//! The signed reports that an excerpt is held against: one document, or those of one subject out of a snapshot's file.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;

use super::ExcerptError;
use super::read::verified;
use crate::export::open_regular;
use crate::ledger::canonical;
use crate::ledger::json::{Literals, Parser};
use crate::snapshot::check::Pin;
use crate::snapshot::document::Kind;

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 64 << 20;
/// What a Zstandard frame begins with.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A report as a bureau signed it, and what is wrong with its signature, where anything is.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedReport {
    /// The inner object.
    pub(super) inner: Value,
    /// The id of the key that signed it, or why none did.
    pub(super) kid: Result<String, String>,
}

impl SignedReport {
    /// Reads the reports about `subject` from one signed document, however it is spelt, or from lines of signed documents, which
    /// may be compressed with Zstandard. With a pin, a report that another key signed counts as not signed.
    ///
    /// Returns them with whether the file holds more than one document, and so every report about the subject.
    pub fn read_all(path: &Path, subject: &str, pin: Option<&Pin>) -> Result<(Vec<SignedReport>, bool), ExcerptError> {
        let io = |source| ExcerptError::io(path, source);
        let file = open_regular(path).map_err(io)?.map_err(|found| ExcerptError::line(path, 0, found))?;
        let mut file = BufReader::new(file);
        let compressed = file.fill_buf().map_err(io)?.starts_with(&ZSTD);
        let mut text: Box<dyn BufRead> = match compressed {
            true => Box::new(BufReader::new(zstd::Decoder::with_buffer(file).map_err(io)?)),
            false => Box::new(file),
        };
        let mut parser = Parser::new(Literals::Canonical);
        let (mut found, mut lines, mut line) = (Vec::new(), 0, Vec::new());
        loop {
            line.clear();
            let length = (&mut text).take(MAX_LINE).read_until(b'\n', &mut line).map_err(io)?;
            if length == 0 {
                break;
            }
            let complete = document(&mut parser, &line);
            let value = match complete {
                Ok(value) => value,
                // One document may be written over several lines; it is then the whole file.
                Err(_) if lines == 0 => {
                    (&mut text).take(MAX_LINE).read_to_end(&mut line).map_err(io)?;
                    let spread: Vec<u8> =
                        line.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
                    document(&mut parser, &spread).map_err(|what| ExcerptError::line(path, 1, what))?
                }
                Err(what) => return Err(ExcerptError::line(path, lines + 1, what)),
            };
            lines += 1;
            let inner = &value[Kind::Report.member()];
            if inner["subject"].as_str() == Some(subject) {
                found.push(SignedReport { kid: signer(&value, pin), inner: inner.clone() });
            } else if !inner.is_object() {
                return Err(ExcerptError::line(path, lines, "is no signed report"));
            }
        }
        Ok((found, lines > 1))
    }

    /// What to call it: its capability.
    pub(super) fn name(&self) -> String {
        name_of(&self.inner)
    }
}

/// A report's capability in words.
pub(super) fn name_of(inner: &Value) -> String {
    inner["capability"]
        .as_str()
        .map_or_else(|| "no capability".to_owned(), |capability| format!("capability {capability}"))
}

fn document(parser: &mut Parser, line: &[u8]) -> Result<Value, String> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    // The strict parser first: no member may stand twice in what a signature covers.
    parser.parse(text).map_err(|fault| fault.to_string())?;
    serde_json::from_slice(text).map_err(|fault| fault.to_string())
}

fn signer(document: &Value, pin: Option<&Pin>) -> Result<String, String> {
    let inner = canonical::to_vec(&document[Kind::Report.member()]);
    let kid = verified(document, Kind::Report.tag(), &inner)?;
    let pinned = match pin {
        None => true,
        Some(Pin::Kid(pinned)) => *pinned == kid,
        Some(Pin::Key(key)) => key.kid() == kid,
    };
    if pinned { Ok(kid) } else { Err(format!("is signed by {kid}, which is not the pinned key")) }
}
