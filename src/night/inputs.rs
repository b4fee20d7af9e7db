//! What a run is given beside the ledger: policy, identities, charters, reporters, and the hashes of their anchors.
//!
//! The load keeps the files as they came, and every anchor's hash instead of the salt, so that later stages need neither the export nor
//! the secret.

use std::fs;
use std::path::Path;

use arrow::array::RecordBatch;

use super::NightError;
use crate::export::{Export, ExportFile, read_whole};
use crate::identity::{AnchorHashes, Charters, Identities, Reporters, Salt, tables};
use crate::policy::Policy;
use crate::warehouse::{Input, Warehouse};

const POLICY: &str = "policy.toml";
pub(super) const IDENTITIES: &str = "identities.jsonl";
pub(super) const CHARTERS: &str = "charters.jsonl";
pub(super) const REPORTERS: &str = "reporters.jsonl";
pub(super) const HASHES: &str = "anchor_hashes.json";

/// The inputs of a run.
pub struct Inputs {
    /// The published values.
    pub policy: Policy,
    /// What the resolver knew.
    pub identities: Identities,
    /// Charters with their mandates.
    pub charters: Charters,
    /// The configured reporters.
    pub reporters: Reporters,
    /// The salted hash of every anchor and operator (profile 1.3).
    pub hashes: AnchorHashes,
}

impl Inputs {
    /// Reads the inputs of an export, every file checked, and gives the files to keep in the warehouse.
    pub fn read(export: &Export, salt: Option<&Salt>) -> Result<(Inputs, Vec<(String, Input)>), NightError> {
        let policy = match &export.policy {
            Some(file) => fs::read(&file.path).map_err(|source| NightError::io(&file.path, source))?,
            None => return Err(NightError::Input(format!("{}: there is no {POLICY}", export.root.display()))),
        };
        let content = |file: &Option<ExportFile>| -> Result<Vec<u8>, NightError> {
            file.as_ref().map_or(Ok(Vec::new()), |file| Ok(read_whole(file)?.bytes))
        };
        let identities = content(&export.identities)?;
        let charters = content(&export.charters)?;
        let reporters = content(&export.reporters)?;
        let mut inputs = Inputs::parse(&policy, &identities, &charters, &reporters, AnchorHashes::default())?;
        if let Some(salt) = salt {
            inputs.hashes = AnchorHashes::of(&inputs.identities, salt);
        } else if !export.ledger.is_empty() {
            return Err(NightError::Usage(
                "a ledger needs the salt of its hashed anchors: give it with --salt-file".to_owned(),
            ));
        }
        let mut keep = vec![
            (POLICY.to_owned(), Input::Bytes(policy)),
            (IDENTITIES.to_owned(), Input::Bytes(identities)),
            (CHARTERS.to_owned(), Input::Bytes(charters)),
            (REPORTERS.to_owned(), Input::Bytes(reporters)),
            (HASHES.to_owned(), Input::Bytes(inputs.hashes.to_json())),
        ];
        if let Some(folder) = &export.rating {
            keep.extend(rating_files(folder)?);
        }
        Ok((inputs, keep))
    }

    /// Reads what the last load kept.
    pub fn open(warehouse: &Warehouse) -> Result<Inputs, NightError> {
        let folder = warehouse.inputs();
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read(&path).map_err(|source| NightError::io(&path, source))
        };
        let hashes = AnchorHashes::from_json(&read(HASHES)?).ok_or_else(|| NightError::Stage {
            path: folder.join(HASHES),
            what: "cannot be read; load the export again".to_owned(),
        })?;
        Inputs::parse(&read(POLICY)?, &read(IDENTITIES)?, &read(CHARTERS)?, &read(REPORTERS)?, hashes)
    }

    fn parse(
        policy: &[u8],
        identities: &[u8],
        charters: &[u8],
        reporters: &[u8],
        hashes: AnchorHashes,
    ) -> Result<Inputs, NightError> {
        let text = std::str::from_utf8(policy)
            .map_err(|fault| NightError::Input(format!("{POLICY}: byte {}: not UTF-8", fault.valid_up_to())))?;
        let policy = Policy::parse(text, POLICY).map_err(NightError::Policy)?;
        let identities = Identities::read(IDENTITIES, lines(identities));
        let charters = Charters::read(CHARTERS, lines(charters));
        let reporters = Reporters::read(REPORTERS, lines(reporters));
        match (identities, charters, reporters) {
            (Ok(identities), Ok(charters), Ok(reporters)) => {
                Ok(Inputs { policy, identities, charters, reporters, hashes })
            }
            (identities, charters, reporters) => {
                let faults = [identities.err(), charters.err(), reporters.err()];
                Err(NightError::Identity(faults.into_iter().flatten().flatten().collect()))
            }
        }
    }

    /// The input tables at *T*, by name.
    pub(super) fn tables(&self, as_of: i64) -> Result<Vec<(&'static str, RecordBatch)>, NightError> {
        let windows = self.policy.windows(as_of);
        let mut tables = tables::all(&self.identities, &self.charters, &self.hashes, &windows)?;
        tables.push(("policy", self.policy.table(as_of)?));
        Ok(tables)
    }
}

/// Everything in `rating/`, a folder too: what is no table is a finding of the rating, not of the load.
fn rating_files(folder: &Path) -> Result<Vec<(String, Input)>, NightError> {
    let io = |source| NightError::io(folder, source);
    let mut keep = vec![("rating".to_owned(), Input::Folder)];
    for item in fs::read_dir(folder).map_err(io)? {
        let item = item.map_err(io)?;
        // What cannot be copied is no table, and an empty folder stands for it.
        let regular = fs::metadata(item.path()).is_ok_and(|metadata| metadata.is_file());
        let input = if regular { Input::File(item.path()) } else { Input::Folder };
        keep.push((format!("rating/{}", item.file_name().to_string_lossy()), input));
    }
    Ok(keep)
}

/// The lines of a file, numbered from 1, without an empty last one.
pub(super) fn lines(content: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    let none = content.is_empty();
    content.split(|byte| *byte == b'\n').filter(move |_| !none).zip(1..).map(|(line, number)| (number, line))
}
