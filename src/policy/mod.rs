//! The values that a bureau publishes (specification §10.3, profile 2.1): read, held against their bounds, written out again.
//!
//! This room knows each value's name, default, bound and section, and the exact instants and spans that follow from the values.
//! It does not know who uses them. The faults of a file are reported together, each with its line.
//!
//! What 2.1 leaves open is decided here. A value that counts something (`rate_ceiling`, `evaluator_min_volume`,
//! `sender_threshold`, `rating_window_decisions`) is a whole number, spelt as one or not (`30.0` is 30); a `rate_ceiling` of 0 lets no
//! attestation score. A decimal has at most 28 digits before and after its point. A URL has a scheme, `://` and a host.

mod decimal;
mod read;
mod table;
mod windows;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub use decimal::{Decimal, DecimalFault, MAX_DIGITS};
pub use windows::{Spans, Windows};

/// The one formula version that this crate computes (§7.3).
pub const FORMULA_VERSION: &str = "fdbk-score-1";

/// The one evaluator weighting: evaluator records are published and weigh nothing (§6.5).
pub const EVALUATOR_WEIGHTING: &str = "fdbk-evw-0";

/// How many faults of one file are reported.
pub const FAULT_LIMIT: usize = 100;

/// A file longer than this is no policy, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// The policy in force: every value of profile 2.1 but the formula's constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The bureau's URL, a part of what an enrollment signs (§3.2).
    pub bureau: String,
    /// Always [`FORMULA_VERSION`].
    pub formula_version: &'static str,
    /// The half-life H of a weight, in days (§7.2).
    pub half_life_days: Decimal,
    /// The sum of weights from which a capability is RATED (§7.4).
    pub unproven_threshold: Decimal,
    /// K_value, the factor of a value judgment's weight (§7.6).
    pub value_weight: Decimal,
    /// Whether an anchor's rated agents lend a prior (§7.5).
    pub portfolio_prior: bool,
    /// The most effective events that such a prior weighs (§7.5).
    pub prior_weight_events: Decimal,
    /// Always [`EVALUATOR_WEIGHTING`].
    pub evaluator_weighting: &'static str,
    /// The final attestations from which an evaluator has a report (profile 2.7).
    pub evaluator_min_volume: u64,
    /// Days until a withdrawal takes effect (§3.3).
    pub cooling_off_days: Decimal,
    /// Days after an interaction's end in which it may be attested (§6.2).
    pub attestation_window_days: Decimal,
    /// The attestations of one evaluator about one subject that score within the rate window (§6.4).
    pub rate_ceiling: u64,
    /// Days of the rate window (§6.4).
    pub rate_window_days: Decimal,
    /// Days of the reporting window, 90 in the names of the figures (§8.2).
    pub window_days: Decimal,
    /// The distinct refusing parties from which a class of stops is served (§4.7).
    pub sender_threshold: u64,
    /// Days after the duties' end in which a claim may be filed (§4.8).
    pub claim_filing_days: Decimal,
    /// Days after which an unresolved claim has lapsed (§4.8).
    pub claim_open_days: Decimal,
    /// Days for which a claim is shown after its latest entry (§4.8).
    pub claim_record_days: Decimal,
    /// The published procedure by which a court's finding is recorded (§10.3), text or URL.
    pub court_procedure: Option<String>,
    /// Hours for which a document is fresh (profile 3.2).
    pub report_ttl_hours: Decimal,
    /// The last decisions that a rating looks at (profile part 4).
    pub rating_window_decisions: u64,
}

/// What is wrong with the policy file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {}{what} ({section})", if name.is_empty() { String::new() } else { format!("{name}: ") })]
pub struct PolicyFault {
    /// The file's name as given.
    pub file: String,
    /// The line, counted from 1; 1 too for what is missing.
    pub line: usize,
    /// The value's name; empty where the file is no TOML.
    pub name: String,
    /// The section that sets the bound.
    pub section: &'static str,
    /// The fault in words, with the bound.
    pub what: String,
}

/// What a bureau should not choose but may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyWarning {
    /// A value judgment outweighs half an acceptance.
    #[error("value_weight: {0} is above 0.5, which a bureau should not exceed (§7.6)")]
    HeavyValueJudgments(Decimal),
}

impl Policy {
    /// Reads a `policy.toml`. The faults of its values are reported together, in line order, at most [`FAULT_LIMIT`] of them; of a
    /// file that is no TOML, the first syntax error.
    pub fn parse(text: &str, file_name: &str) -> Result<Policy, Vec<PolicyFault>> {
        read::policy(text, file_name)
    }

    /// The defaults of profile 2.1 for a bureau of this URL.
    pub fn with_defaults(bureau: &str) -> Policy {
        let days = Decimal::whole;
        Policy {
            bureau: bureau.to_owned(),
            formula_version: FORMULA_VERSION,
            half_life_days: days(60),
            unproven_threshold: days(20),
            value_weight: read::HALF,
            portfolio_prior: false,
            prior_weight_events: days(10),
            evaluator_weighting: EVALUATOR_WEIGHTING,
            evaluator_min_volume: 3,
            cooling_off_days: days(30),
            attestation_window_days: days(30),
            rate_ceiling: 30,
            rate_window_days: days(30),
            window_days: days(90),
            sender_threshold: 3,
            claim_filing_days: days(365),
            claim_open_days: days(365),
            claim_record_days: days(1825),
            court_procedure: None,
            report_ttl_hours: days(26),
            rating_window_decisions: 1000,
        }
    }

    /// What a bureau should not choose but may.
    pub fn warnings(&self) -> Vec<PolicyWarning> {
        let mut warnings = Vec::new();
        if self.value_weight > read::HALF {
            warnings.push(PolicyWarning::HeavyValueJudgments(self.value_weight));
        }
        warnings
    }

    /// The fault of a policy that names no procedure although a claim was resolved on a court's finding (§4.8, §10.3).
    pub fn court_procedure_fault(&self, court_basis_recorded: bool, file_name: &str) -> Option<PolicyFault> {
        (court_basis_recorded && self.court_procedure.is_none()).then(|| PolicyFault {
            file: file_name.to_owned(),
            line: 1,
            name: "court_procedure".to_owned(),
            section: "§10.3",
            what: "is missing, and required once a claim was resolved on a court's finding".to_owned(),
        })
    }

    /// The smallest sum of weights, in units of 1e-15, that reaches `unproven_threshold`: `Σw ≥ threshold` exactly (2.2).
    pub fn unproven_threshold_units(&self) -> i128 {
        // Below 10^28 with 15 more digits does not fit; no sum of weights reaches what does not.
        self.unproven_threshold.units_ceil(15).unwrap_or(i128::MAX)
    }

    /// `policy.json`: every value in force, under its name. `court_procedure` is absent where there is none.
    pub fn to_json(&self) -> Value {
        let mut values = Map::new();
        let mut put = |name: &str, value: Value| values.insert(name.to_owned(), value);
        put("bureau", Value::from(self.bureau.as_str()));
        put("formula_version", Value::from(self.formula_version));
        put("half_life_days", self.half_life_days.to_json());
        put("unproven_threshold", self.unproven_threshold.to_json());
        put("value_weight", self.value_weight.to_json());
        put("portfolio_prior", Value::from(self.portfolio_prior));
        put("prior_weight_events", self.prior_weight_events.to_json());
        put("evaluator_weighting", Value::from(self.evaluator_weighting));
        put("evaluator_min_volume", Value::from(self.evaluator_min_volume));
        put("cooling_off_days", self.cooling_off_days.to_json());
        put("attestation_window_days", self.attestation_window_days.to_json());
        put("rate_ceiling", Value::from(self.rate_ceiling));
        put("rate_window_days", self.rate_window_days.to_json());
        put("window_days", self.window_days.to_json());
        put("sender_threshold", Value::from(self.sender_threshold));
        put("claim_filing_days", self.claim_filing_days.to_json());
        put("claim_open_days", self.claim_open_days.to_json());
        put("claim_record_days", self.claim_record_days.to_json());
        if let Some(procedure) = &self.court_procedure {
            put("court_procedure", Value::from(procedure.as_str()));
        }
        put("report_ttl_hours", self.report_ttl_hours.to_json());
        put("rating_window_decisions", Value::from(self.rating_window_decisions));
        Value::Object(values)
    }

    /// Lower-case hex of the SHA-256 of the JCS of [`Policy::to_json`]: the manifest's policy digest.
    pub fn digest(&self) -> String {
        let canonical = crate::ledger::canonical::to_vec(&self.to_json());
        crate::hex::hex(&Sha256::digest(&canonical))
    }
}

#[cfg(test)]
mod tests;
