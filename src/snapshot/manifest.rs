//! `manifest.json` and `SHA256SUMS` (3.3).
//!
//! The manifest is one signed document, tag `fdbk-snapshot-v1`, and a newline. It lists every file but itself and
//! `SHA256SUMS`, so one signature stands for the whole snapshot. `SHA256SUMS` says the same, the manifest's digest included, to
//! `sha256sum -c`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::canonical;
use super::document;
use super::keys::BureauKey;
use crate::instant;

/// The version of the layout and of the manifest's shape.
pub const SCHEMA_VERSION: u64 = 1;
/// The signature tag of a manifest.
pub const TAG: &str = "fdbk-snapshot-v1";
/// The manifest's inner member.
pub const MEMBER: &str = "manifest";
/// The manifest's file.
pub const MANIFEST: &str = "manifest.json";
/// The file for `sha256sum -c`.
pub const SUMS: &str = "SHA256SUMS";
/// The policy in force.
pub const POLICY: &str = "policy.json";
/// The method of the ratings.
pub const METHOD: &str = "method.json";
/// The key set.
pub const KEYS: &str = "keys.json";

/// The last entry with `at` ≤ *T*, and how many entries there are up to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerHead {
    /// Its `seq`.
    pub seq: i64,
    /// Its `entry_hash`, as the ledger spells it.
    pub entry_hash: String,
    /// How many entries there are.
    pub entries: i64,
}

/// What a run knows of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The bureau's URL, as in the policy.
    pub bureau: String,
    /// *T*, milliseconds since 1970 UTC.
    pub as_of: i64,
    /// The profile that the figures follow.
    pub profile: String,
    /// The version of each formula, by what it computes.
    pub formula_versions: BTreeMap<String, String>,
    /// The ledger's head; none where there is no ledger.
    pub ledger: Option<LedgerHead>,
    /// Findings by rule. A rule without one is left out.
    pub audit: BTreeMap<String, u64>,
}

/// One file of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path in the snapshot, with `/`.
    pub path: String,
    /// SHA-256 of its bytes, lower-case hexadecimal.
    pub sha256: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its documents or table rows; null where it has none.
    pub rows: Option<u64>,
    /// Its media type.
    pub media_type: String,
    /// SHA-256 of its content without the compression, where it is compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_sha256: Option<String>,
}

/// The inner object of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The bureau's URL.
    pub bureau: String,
    /// *T*, RFC 3339.
    pub as_of: String,
    /// [`SCHEMA_VERSION`].
    pub schema_version: u64,
    /// The profile that the figures follow.
    pub profile: String,
    /// The version of each formula, by what it computes.
    pub formula_versions: BTreeMap<String, String>,
    /// SHA-256 of `policy.json`, lower-case hexadecimal.
    pub policy_digest: String,
    /// The ledger's head; null where there is no ledger.
    pub ledger: Option<LedgerHead>,
    /// Findings by rule.
    pub audit: BTreeMap<String, u64>,
    /// Every file but the manifest and `SHA256SUMS`, by path.
    pub files: Vec<FileEntry>,
}

impl Manifest {
    /// The manifest of a run over its files.
    pub(super) fn new(facts: &RunFacts, policy_digest: String, mut files: Vec<FileEntry>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self {
            bureau: facts.bureau.clone(),
            as_of: instant::format(facts.as_of),
            schema_version: SCHEMA_VERSION,
            profile: facts.profile.clone(),
            formula_versions: facts.formula_versions.clone(),
            policy_digest,
            ledger: facts.ledger.clone(),
            audit: facts
                .audit
                .iter()
                .filter(|(_, count)| **count > 0)
                .map(|(rule, count)| (rule.clone(), *count))
                .collect(),
            files,
        }
    }

    /// The manifest in the bytes of a `manifest.json`, its signature not looked at.
    pub(super) fn unverified(bytes: &[u8]) -> Result<Self, String> {
        let parts = bytes
            .strip_suffix(b"\n")
            .and_then(|line| document::split(line, MEMBER))
            .ok_or("is not a signed manifest")?;
        serde_json::from_slice(parts.inner).map_err(|fault| format!("is not a manifest: {fault}"))
    }

    /// The bytes of `manifest.json`.
    pub(super) fn signed(&self, key: &BureauKey) -> Vec<u8> {
        let inner = canonical::to_vec(&serde_json::to_value(self).unwrap_or_default());
        let mut bytes = document::sign_line(key, TAG, MEMBER, &inner);
        bytes.push(b'\n');
        bytes
    }

    /// The bytes of `SHA256SUMS`, given the manifest's own digest.
    pub(super) fn sums(&self, manifest_sha256: &str) -> String {
        let mut lines: Vec<(&str, &str)> =
            self.files.iter().map(|file| (file.path.as_str(), file.sha256.as_str())).collect();
        lines.push((MANIFEST, manifest_sha256));
        lines.sort_unstable();
        lines.iter().map(|(path, sha256)| format!("{sha256}  {path}\n")).collect()
    }

    /// The entry of a path.
    pub(super) fn file(&self, path: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.path == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::testing;

    #[test]
    fn the_manifest_leaves_out_rules_without_findings_and_keeps_a_null_ledger() {
        let facts = RunFacts {
            audit: BTreeMap::from([("a.b".to_owned(), 0), ("c.d".to_owned(), 2)]),
            ledger: None,
            ..testing::facts(0)
        };
        let manifest = Manifest::new(&facts, "00".to_owned(), Vec::new());
        let value = serde_json::to_value(&manifest).unwrap();
        assert_eq!(value["audit"], serde_json::json!({"c.d": 2}));
        assert!(value["ledger"].is_null() && value.get("ledger").is_some());
        assert_eq!(value["as_of"], "1970-01-01T00:00:00.000Z");
        let bytes = manifest.signed(&BureauKey::generate().unwrap());
        canonical::read(bytes.strip_suffix(b"\n").unwrap(), |_| Ok(())).unwrap();
    }

    #[test]
    fn rows_are_null_where_a_file_has_none_and_content_digests_absent() {
        let entry = FileEntry {
            path: "a".into(),
            sha256: "b".into(),
            bytes: 1,
            rows: None,
            media_type: "c".into(),
            content_sha256: None,
        };
        assert_eq!(
            serde_json::to_string(&entry).unwrap(),
            r#"{"path":"a","sha256":"b","bytes":1,"rows":null,"media_type":"c"}"#
        );
    }
}
