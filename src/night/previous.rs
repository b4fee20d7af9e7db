//! What an audit leaves for the next night's, so that this one need not verify the same signatures again.
//!
//! `last-audit/` holds the findings with all that they rest on: the program, the head, *T*, the bureau's URL, identities and reporters. It
//! is taken over only by the same program over a ledger that still has that head, which the chain makes a statement about every entry
//! before it. What of it is sound to keep is the audit's business.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::inputs::{CHARTERS, HASHES, IDENTITIES, REPORTERS, lines};
use super::{Inputs, NightError, fresh_folder, write};
use crate::audit::{self, Audit, Before, Finding, Previous, Rule};
use crate::hex::hex;
use crate::identity::{AnchorHashes, Identities, Reporters};
use crate::warehouse::{Head, Warehouse, entry_hash_at};

const FOLDER: &str = "last-audit";
// In a folder of its own: what lies in folders of the warehouse itself are tables.
const TABLES: &str = "tables";
const SPAN: &str = "correction_span.parquet";

#[derive(Serialize, Deserialize)]
struct Left {
    program: String,
    head: Head,
    as_of: i64,
    bureau: String,
    policy: Value,
    withheld: Vec<i64>,
    /// SHA-256 of every other file, by name.
    files: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    seq: i64,
    rule: String,
    message: String,
}

/// An earlier audit, read back.
pub(super) struct Earlier {
    left: Left,
    identities: Identities,
    reporters: Reporters,
    hashes: AnchorHashes,
    findings: Vec<Finding>,
    correction_span: PathBuf,
    /// Why the rules that ask other entries are judged anew, if they are.
    anew: Option<&'static str>,
}

impl Earlier {
    /// The last audit, where there is one that this night may build on; else why not.
    pub fn open(warehouse: &Warehouse, inputs: &Inputs) -> Result<Earlier, String> {
        let folder = warehouse.join(FOLDER);
        let text = |name: &str| fs::read(folder.join(name)).map_err(|_| "there is no earlier audit".to_owned());
        let unread = || "the earlier audit cannot be read".to_owned();
        let left: Left = serde_json::from_slice(&text("audit.json")?).map_err(|_| unread())?;
        if left.program != program() {
            return Err("the earlier audit is of another version".to_owned());
        }
        if digests(&folder).ok().as_ref() != Some(&left.files) {
            return Err("the earlier audit is not whole".to_owned());
        }
        let held = entry_hash_at(warehouse, left.head.seq).ok().flatten();
        if held.as_deref() != Some(left.head.entry_hash.as_str()) {
            return Err("the earlier audit is of another ledger".to_owned());
        }
        let same = |name: &str| -> Result<bool, String> {
            Ok(text(name)? == fs::read(warehouse.inputs().join(name)).map_err(|_| unread())?)
        };
        let (identities, reporters) = (text(IDENTITIES)?, text(REPORTERS)?);
        let identities = Identities::read(IDENTITIES, lines(&identities)).map_err(|_| unread())?;
        let reporters = Reporters::read(REPORTERS, lines(&reporters)).map_err(|_| unread())?;
        let anew = if left.policy != inputs.policy.to_json() {
            Some("the policy is another one")
        } else if !same(CHARTERS)? {
            Some("the charters are others")
        } else {
            None
        };
        Ok(Earlier {
            left,
            identities,
            reporters,
            hashes: AnchorHashes::from_json(&text(HASHES)?).ok_or_else(unread)?,
            findings: findings(&text("findings.jsonl")?).ok_or_else(unread)?,
            correction_span: folder.join(TABLES).join(SPAN),
            anew,
        })
    }

    /// The same as the audit takes it.
    pub fn as_previous(&self) -> Previous<'_> {
        if let Some(why) = self.anew {
            tracing::info!("audit: every interaction anew: {why}");
        }
        let before = Before {
            as_of: self.left.as_of,
            identities: &self.identities,
            hashes: &self.hashes,
            withheld: &self.left.withheld,
            correction_span: &self.correction_span,
        };
        Previous {
            head: self.left.head.seq,
            as_of: self.left.as_of,
            bureau: &self.left.bureau,
            identities: &self.identities,
            reporters: &self.reporters,
            findings: &self.findings,
            before: self.anew.is_none().then_some(before),
        }
    }
}

/// The program and its queries.
fn program() -> String {
    format!("{} {}", env!("CARGO_PKG_VERSION"), audit::digest())
}

/// Leaves this audit for the next night.
pub(super) fn leave(
    warehouse: &Warehouse,
    inputs: &Inputs,
    as_of: i64,
    found: &Audit,
    scratch: &Path,
) -> Result<(), NightError> {
    let Some(head) = warehouse.state().head.clone() else { return Ok(()) };
    let folder = warehouse.join(FOLDER);
    let beside = warehouse.join("last-audit.new");
    fresh_folder(&beside)?;
    let lines: Vec<u8> = found
        .findings()
        .iter()
        .map(|finding| Line {
            seq: finding.seq,
            rule: finding.rule.name().to_owned(),
            message: finding.message.clone().into_owned(),
        })
        .flat_map(|line| [serde_json::to_vec(&line).unwrap_or_default(), b"\n".to_vec()].concat())
        .collect();
    write(&beside.join("findings.jsonl"), &lines)?;
    for name in [IDENTITIES, REPORTERS, CHARTERS, HASHES] {
        copy(&warehouse.inputs().join(name), &beside.join(name))?;
    }
    fresh_folder(&beside.join(TABLES))?;
    copy(&scratch.join(SPAN), &beside.join(TABLES).join(SPAN))?;
    let left = Left {
        program: program(),
        head,
        as_of,
        bureau: inputs.policy.bureau.clone(),
        policy: inputs.policy.to_json(),
        withheld: found.withheld().to_vec(),
        files: digests(&beside).map_err(|source| NightError::io(&beside, source))?,
    };
    write(&beside.join("audit.json"), &serde_json::to_vec_pretty(&left).unwrap_or_default())?;
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|source| NightError::io(&folder, source))?;
    }
    fs::rename(&beside, &folder).map_err(|source| NightError::io(&folder, source))
}

/// The digest of every file but `audit.json`, by name.
fn digests(folder: &Path) -> std::io::Result<BTreeMap<String, String>> {
    let span = format!("{TABLES}/{SPAN}");
    let names = ["findings.jsonl", IDENTITIES, REPORTERS, CHARTERS, HASHES, &span];
    let digest = |name: &str| Ok((name.to_owned(), hex(&Sha256::digest(fs::read(folder.join(name))?))));
    names.into_iter().map(digest).collect()
}

fn copy(from: &Path, to: &Path) -> Result<(), NightError> {
    fs::copy(from, to).map(drop).map_err(|source| NightError::io(from, source))
}

fn findings(text: &[u8]) -> Option<Vec<Finding>> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let line: Line = serde_json::from_slice(line).ok()?;
            Some(Finding::new(line.seq, Rule::parse(&line.rule)?, line.message))
        })
        .collect()
}
