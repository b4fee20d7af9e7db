//! The lines of an excerpt as values (see the room's page).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::snapshot::manifest::LedgerHead;

/// The version of the format.
pub const FORMAT: &str = "fdbk-excerpt-1";
/// The tag under which a bureau signs the closing line.
pub const CLOSING_TAG: &str = "fdbk-excerpt-v1";
/// The member around the closing line.
pub(super) const CLOSING: &str = "excerpt";

/// A whole excerpt.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    /// The first line.
    pub(super) header: Header,
    /// The entries, in `seq` order.
    pub(super) entries: Vec<EntryLine>,
    /// By capability.
    pub(super) priors: Vec<PriorLine>,
    /// By capability, none first.
    pub(super) refusals: Vec<RefusalsLine>,
    /// By hash.
    pub(super) parties: Vec<PartyLine>,
    /// By `seq`.
    pub(super) witnessed: Vec<WitnessedLine>,
    /// Who signed the closing line; known of an excerpt that was read.
    pub(super) signer: Option<Signer>,
}

impl Excerpt {
    /// Whom it is about.
    pub fn subject(&self) -> &str {
        &self.header.subject
    }

    /// *T*, RFC 3339.
    pub fn as_of(&self) -> &str {
        &self.header.as_of
    }

    /// How many entries it holds.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Entries of which something is withheld.
    pub fn redacted(&self) -> usize {
        self.entries.iter().filter(|line| !line.withheld.is_empty()).count()
    }

    /// Who signed it.
    pub fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }
}

/// The key that signed a closing line, verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The key's id.
    pub kid: String,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// Whom the excerpt is about.
    pub subject: String,
    /// The hash of its anchor; none where no identity explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_hash: Option<String>,
    /// *T*, RFC 3339.
    pub as_of: String,
    /// The bureau.
    pub bureau: String,
    /// The version of the formula.
    pub formula_version: String,
    /// The published policy, as `policy.json` has it.
    pub policy: Value,
    /// The head of the ledger at *T*.
    pub ledger: Option<LedgerHead>,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryLine {
    /// The entry without its hash members, less what is withheld.
    pub entry: Value,
    /// Its hash, as the ledger spells it; none where it would confirm a guess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_hash: Option<String>,
    /// The hash before it, where nothing is withheld, so that the hash can be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev_hash: Option<String>,
    /// Paths of members that were taken out, or in which a name was replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// What the entry counts for at *T*.
    pub standing: Standing,
}

impl EntryLine {
    /// Its `seq`; 0 where it has none.
    pub fn seq(&self) -> i64 {
        self.entry["seq"].as_i64().unwrap_or(0)
    }

    /// A member of its detail.
    pub fn detail(&self, name: &str) -> &Value {
        &self.entry["detail"][name]
    }
}

/// What an entry counts for, and why where it does not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Standing {
    /// False where it counts for no figure at all.
    pub counts: bool,
    /// What the audit found; an error makes it count for nothing (profile 1.7).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FoundRule>,
    /// True where it waits for an exclusion that is due within a day (profile 1.7, `exclude.missing`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_exclusion: bool,
    /// The correction of it that stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<CorrectedBy>,
    /// The exclusions of it that stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<ExcludedBy>,
}

impl Standing {
    /// Whether the audit, or an exclusion that is due, takes it out.
    pub fn discounted(&self) -> bool {
        self.awaits_exclusion || self.findings.iter().any(|found| found.severity == "error")
    }

    /// Whether it counts, by what else is said here.
    pub fn should_count(&self) -> bool {
        !self.discounted() && self.corrected.as_ref().is_none_or(|by| by.kind != "void")
    }
}

/// A finding of the audit, without its words: those may name others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FoundRule {
    /// The rule of profile 1.7.
    pub rule: String,
    /// `error` or `warning`.
    pub severity: String,
}

/// A correction that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorrectedBy {
    /// The `corrected` entry.
    pub seq: i64,
    /// `void` or `amend`.
    pub kind: String,
}

/// An exclusion that stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExcludedBy {
    /// The `excluded` entry.
    pub seq: i64,
    /// Its ground.
    pub reason: String,
}

/// What an anchor's other agents lend (profile 2.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriorLine {
    /// The capability.
    pub capability: String,
    /// How many agents.
    pub from_agents: i64,
    /// Σ w of their pools together, a decimal of 15 places.
    pub sum_w: String,
    /// Σ w·v, a decimal of 17 places.
    pub sum_wv: String,
}

/// Refusals and how many of them are corroborated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefusalsLine {
    /// The capability, or null.
    pub capability: Option<String>,
    /// Corroborated refusals, whatever corroborates them.
    pub corroborated: i64,
}

/// The party of a hashed anchor. Two hashes with one number count as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartyLine {
    /// The hash.
    pub anchor_hash: String,
    /// As a party that refuses (profile 1.6, last sentence on parties).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusing: Option<i64>,
    /// As a party that claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claiming: Option<i64>,
}

/// A standing fact about another that names the subject as its sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WitnessedLine {
    /// The fact.
    pub seq: i64,
    /// When the interaction ended, RFC 3339.
    pub ended_at: String,
}

/// The inner object of the closing line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Closing {
    /// Whom the excerpt is about.
    pub subject: String,
    /// *T*, RFC 3339.
    pub as_of: String,
    /// The bureau.
    pub bureau: String,
    /// Lines of every kind but this one.
    pub lines: usize,
    /// Lines of kind `entry`.
    pub entries: usize,
    /// SHA-256 of every byte before this line, lower-case hexadecimal.
    pub sha256: String,
}

/// A line but the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(clippy::large_enum_variant, reason = "one is alive at a time")]
pub(super) enum Line {
    /// The first line.
    Header(Header),
    /// An entry.
    Entry(EntryLine),
    /// A prior.
    Prior(PriorLine),
    /// Refusals.
    Refusals(RefusalsLine),
    /// A party.
    Party(PartyLine),
    /// A fact that names the subject.
    Witnessed(WitnessedLine),
}
