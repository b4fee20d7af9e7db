//! What an audit leaves for the next night's, so that this one need not verify the same signatures again.
//!
//! `last-audit/` holds the findings with all that they rest on: the program, the head, *T*, the bureau's URL, identities and reporters. It
//! is taken over only by the same program over a ledger that still has that head, which the chain makes a statement about every entry
//! before it. What of it is sound to keep is the audit's business.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Inputs, NightError, fresh_folder, write};
use crate::audit::{Finding, Previous, Rule};
use crate::identity::{Identities, Reporters};
use crate::warehouse::{Head, Warehouse, entry_hash_at};

const FOLDER: &str = "last-audit";
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize, Deserialize)]
struct Left {
    program: String,
    head: Head,
    as_of: i64,
    bureau: String,
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
    findings: Vec<Finding>,
}

impl Earlier {
    /// The last audit, where there is one that this night may build on; else why not.
    pub fn open(warehouse: &Warehouse) -> Result<Earlier, String> {
        let folder = warehouse.join(FOLDER);
        let text = |name: &str| fs::read(folder.join(name)).map_err(|_| "there is no earlier audit".to_owned());
        let left: Left =
            serde_json::from_slice(&text("audit.json")?).map_err(|_| "the earlier audit cannot be read".to_owned())?;
        if left.program != PROGRAM {
            return Err(format!("the earlier audit is of version {}", left.program));
        }
        let held = entry_hash_at(warehouse, left.head.seq).ok().flatten();
        if held.as_deref() != Some(left.head.entry_hash.as_str()) {
            return Err("the earlier audit is of another ledger".to_owned());
        }
        let (identities, reporters) = (text("identities.jsonl")?, text("reporters.jsonl")?);
        let read = (
            Identities::read("identities.jsonl", super::inputs::lines(&identities)),
            Reporters::read("reporters.jsonl", super::inputs::lines(&reporters)),
            findings(&text("findings.jsonl")?),
        );
        match read {
            (Ok(identities), Ok(reporters), Some(findings)) => Ok(Earlier { left, identities, reporters, findings }),
            _ => Err("the earlier audit cannot be read".to_owned()),
        }
    }

    /// The same as the audit takes it.
    pub fn as_previous(&self) -> Previous<'_> {
        Previous {
            head: self.left.head.seq,
            as_of: self.left.as_of,
            bureau: &self.left.bureau,
            identities: &self.identities,
            reporters: &self.reporters,
            findings: self.findings.clone(),
        }
    }
}

/// Leaves this audit for the next night.
pub(super) fn leave(
    warehouse: &Warehouse,
    inputs: &Inputs,
    as_of: i64,
    findings: &[Finding],
) -> Result<(), NightError> {
    let Some(head) = warehouse.state().head.clone() else { return Ok(()) };
    let folder = warehouse.join(FOLDER);
    let beside = warehouse.join("last-audit.new");
    fresh_folder(&beside)?;
    let left = Left { program: PROGRAM.to_owned(), head, as_of, bureau: inputs.policy.bureau.clone() };
    write(&beside.join("audit.json"), &serde_json::to_vec_pretty(&left).unwrap_or_default())?;
    let lines: Vec<u8> = findings
        .iter()
        .map(|finding| Line {
            seq: finding.seq,
            rule: finding.rule.name().to_owned(),
            message: finding.message.clone().into_owned(),
        })
        .flat_map(|line| [serde_json::to_vec(&line).unwrap_or_default(), b"\n".to_vec()].concat())
        .collect();
    write(&beside.join("findings.jsonl"), &lines)?;
    for name in ["identities.jsonl", "reporters.jsonl"] {
        copy(&warehouse.inputs().join(name), &beside.join(name))?;
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|source| NightError::io(&folder, source))?;
    }
    fs::rename(&beside, &folder).map_err(|source| NightError::io(&folder, source))
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
