//! What a command says at its end.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

/// The closing summary. `--json` prints it as one object, a terminal gets the same in lines.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    /// *T*.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Entries read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// The `seq` and hash of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<crate::warehouse::Head>,
    /// Subjects with a report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subjects: Option<u64>,
    /// Documents a kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: BTreeMap<String, u64>,
    /// Findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Findings>,
    /// Seconds a stage.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub seconds: BTreeMap<&'static str, f64>,
    /// `new`, `unchanged` or `replaced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The snapshot's directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

/// Findings, counted.
#[derive(Debug, Default, Serialize)]
pub(super) struct Findings {
    /// Those that are errors.
    pub errors: u64,
    /// Those that are warnings.
    pub warnings: u64,
    /// By rule.
    pub rules: BTreeMap<String, u64>,
}

impl Summary {
    /// Prints it.
    pub fn print(&self, json: bool) {
        if json {
            say(&serde_json::to_string(self).unwrap_or_default());
            return;
        }
        let line = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                say(&format!("{name:10} {value}"));
            }
        };
        line("as of", self.as_of.clone());
        line("entries", self.entries.map(|count| count.to_string()));
        line("head", self.head.as_ref().map(|head| format!("seq {} {}", head.seq, head.entry_hash)));
        line("subjects", self.subjects.map(|count| count.to_string()));
        for (kind, count) in &self.documents {
            line(kind, Some(count.to_string()));
        }
        if let Some(findings) = &self.findings {
            line("findings", Some(format!("{} errors, {} warnings", findings.errors, findings.warnings)));
            for (rule, count) in &findings.rules {
                say(&format!("           {rule:24} {count}"));
            }
        }
        let seconds: Vec<String> = self.seconds.iter().map(|(stage, time)| format!("{stage} {time:.2}")).collect();
        line("seconds", (!seconds.is_empty()).then(|| seconds.join(", ")));
        line(
            "snapshot",
            self.snapshot.as_ref().map(|path| match &self.outcome {
                Some(outcome) => format!("{path} ({outcome})"),
                None => path.clone(),
            }),
        );
    }
}

/// Whether something said on standard output was lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a line to standard output. Nobody reading it any more is no fault; a disk that is full is ([`lost`]).
pub(super) fn say(line: &str) {
    if let Err(fault) = writeln!(std::io::stdout(), "{line}")
        && fault.kind() != std::io::ErrorKind::BrokenPipe
    {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Whether a result could not be written.
pub(super) fn lost() -> bool {
    std::io::stdout().flush().is_err() || LOST.load(Ordering::Relaxed)
}

/// Says on standard error what is wrong, where anybody can still hear it.
pub(super) fn complain(text: &str) {
    for line in text.lines() {
        let _ = writeln!(std::io::stderr(), "bureau: {line}");
    }
}
