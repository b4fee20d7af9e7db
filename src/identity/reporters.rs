//! `reporters.jsonl`: the reporters that the bureau is configured to trust (profile 1.6, specification §4.2).

use std::collections::HashSet;

use super::lines::{self, Fault};
use super::{KeyPeriod, Period, bound_at};

/// A reporter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporter {
    /// Its name in the ledger.
    pub reporter: String,
    /// Its keys.
    pub keys: Vec<KeyPeriod>,
    /// When it was configured.
    pub configured: Period,
}

/// All reporters, in code point order.
#[derive(Clone, Debug, Default)]
pub struct Reporters {
    sorted: Vec<Reporter>,
}

impl Reporters {
    /// Reads the lines of a file, each with its number. All faults come together.
    pub fn read<'a>(file: &str, lines: impl Iterator<Item = (u64, &'a [u8])>) -> Result<Reporters, Vec<Fault>> {
        let mut seen = HashSet::new();
        let mut sorted = lines::read(file, lines, |record| {
            let (reporter, keys) = (record.text("reporter"), record.keys("keys", false));
            let configured = record.period("configured_from", "configured_to");
            let reporter = reporter?;
            if !seen.insert(reporter.to_owned()) {
                record.repeated("reporter", reporter);
            }
            Some(Reporter { reporter: reporter.to_owned(), keys: keys?, configured: configured? })
        })?;
        sorted.sort_by(|a, b| a.reporter.cmp(&b.reporter));
        Ok(Reporters { sorted })
    }

    /// The reporter of a name.
    pub fn get(&self, name: &str) -> Option<&Reporter> {
        let position = self.sorted.binary_search_by(|reporter| reporter.reporter.as_str().cmp(name)).ok()?;
        self.sorted.get(position)
    }

    /// All of them, by name.
    pub fn iter(&self) -> std::slice::Iter<'_, Reporter> {
        self.sorted.iter()
    }

    /// Whether a reporter was configured at an instant; an unknown one never was.
    pub fn configured_at(&self, name: &str, at: i64) -> bool {
        self.get(name).is_some_and(|reporter| reporter.configured.contains(at))
    }

    /// Whether a key was bound to a reporter at an instant.
    pub fn key_bound_at(&self, name: &str, key: &str, at: i64) -> bool {
        self.get(name).is_some_and(|reporter| bound_at(&reporter.keys, key, at))
    }
}
