//! `excerpt`, `recompute`, `explain`: a subject's own evidence, and what follows from it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use tempfile::NamedTempFile;

use super::arguments::{Instant, Machine, Output, Store};
use super::summary::say;
use crate::engine::Resources;
use crate::excerpt::{self, Excerpt, ExcerptError, SignedReport, Verdict};
use crate::export::irregular;
use crate::night::{self, NightError};
use crate::rating;
use crate::snapshot::check::Pin;
use crate::snapshot::keys::BureauKey;
use crate::warehouse::Warehouse;

#[derive(Debug, Args)]
pub(super) struct ExcerptOf {
    #[command(flatten)]
    pub store: Store,
    /// Whose: a handle or an ANS name, as the ledger spells it
    #[arg(long, value_name = "HANDLE", allow_hyphen_values = true)]
    pub subject: String,
    /// The instant of the last `bureau report`, RFC 3339 [default: that one]
    #[command(flatten)]
    pub instant: Instant,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Sign the closing line: PKCS#8 PEM, readable by its owner alone
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Sign it with the PEM in this environment variable
    #[arg(long, value_name = "NAME", conflicts_with = "key")]
    pub key_env: Option<String>,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Recompute {
    /// The excerpt
    pub excerpt: PathBuf,
    /// The signed report, or a snapshot's reports.jsonl.zst
    #[arg(long, value_name = "FILE")]
    pub report: PathBuf,
    /// Accept this key's signature alone: PEM, or 32 bytes in base64
    #[arg(long, value_name = "FILE", conflicts_with = "kid")]
    pub key: Option<PathBuf>,
    /// Accept the signature of the key of this id alone
    #[arg(long, value_name = "KID", allow_hyphen_values = true)]
    pub kid: Option<String>,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("whose").required(true).args(["subject", "agent"]))]
pub(super) struct Explain {
    #[command(flatten)]
    pub store: Store,
    /// Whose score: a handle or an ANS name, as the ledger spells it
    #[arg(long, value_name = "HANDLE", allow_hyphen_values = true)]
    pub subject: Option<String>,
    /// Whose rating: the id of an agent of the rating tables
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub agent: Option<String>,
    /// For this capability alone
    #[arg(long, value_name = "TAG", requires = "subject", allow_hyphen_values = true)]
    pub capability: Option<String>,
    #[command(flatten)]
    pub instant: Instant,
    /// Events of a pool to list, at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub events: usize,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

/// Writes a subject's excerpt.
pub(super) fn excerpt(given: &ExcerptOf, resources: &Resources) -> Result<ExitCode, NightError> {
    let key = match (&given.key, &given.key_env) {
        (Some(file), _) => Some(BureauKey::from_file(file)?),
        (None, Some(name)) => Some(BureauKey::from_env(name)?),
        (None, None) => None,
    };
    let warehouse = Warehouse::open(&given.store.warehouse)?;
    // Before the work, so that a place that cannot be written is told at once.
    let file = private_beside(&given.out)?;
    let made = excerpt::collect(&warehouse, &given.subject, given.instant.as_of, resources)?;
    let bytes = made.to_bytes(key.as_ref());
    write_over(file, &given.out, &bytes)?;
    if given.output.json {
        let summary = serde_json::json!({
            "excerpt": given.out.display().to_string(), "subject": made.subject(), "as_of": made.as_of(),
            "entries": made.entries(), "redacted": made.redacted(), "bytes": bytes.len(),
            "kid": key.map(|key| key.public().kid()),
        });
        say(&summary.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("excerpt    {} of {} as of {}", given.out.display(), made.subject(), made.as_of()));
    say(&format!("entries    {}, of {} of them something is withheld", made.entries(), made.redacted()));
    say(&format!("closed     {}", key.map_or("not signed".to_owned(), |key| format!("by {}", key.public().kid()))));
    Ok(ExitCode::SUCCESS)
}

/// Recomputes a subject's reports from its excerpt, and says whether the signed ones are those.
pub(super) fn recompute(given: &Recompute, resources: &Resources) -> Result<ExitCode, NightError> {
    let pin = match (&given.key, &given.kid) {
        (Some(file), _) => Some(Pin::from_file(file)?),
        (None, Some(kid)) => Some(Pin::from_kid(kid)?),
        (None, None) => None,
    };
    let (excerpt, faults) = Excerpt::open(&given.excerpt)?;
    let (signed, all) = SignedReport::read_all(&given.report, excerpt.subject(), pin.as_ref())?;
    let scratch = tempfile::tempdir().map_err(|source| NightError::io(&std::env::temp_dir(), source))?;
    let verdict = excerpt::recompute(&excerpt, faults, &signed, all, scratch.path(), resources)?;
    if given.output.json {
        let mut summary = serde_json::to_value(&verdict).unwrap_or_default();
        summary["confirmed"] = verdict.confirmed().into();
        say(&summary.to_string());
    } else {
        say_verdict(&verdict);
    }
    Ok(if verdict.confirmed() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Says why a subject scores, or an agent is rated, as it is.
pub(super) fn explain(given: &Explain, resources: &Resources) -> Result<ExitCode, NightError> {
    let warehouse = Warehouse::open(&given.store.warehouse)?;
    if let Some(agent) = &given.agent {
        let rating = night::rating_of(&warehouse, agent)?;
        match given.output.json {
            true => say(&rating.to_string()),
            false => say(rating::explain(&rating).trim_end()),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (subject, capability) = (given.subject.as_deref().unwrap_or_default(), given.capability.as_deref());
    let found = excerpt::explain(&warehouse, subject, capability, given.instant.as_of, resources)?;
    match given.output.json {
        true => say(&serde_json::to_string(&found).unwrap_or_default()),
        false => say(found.to_text(given.events).trim_end()),
    }
    Ok(ExitCode::SUCCESS)
}

fn say_verdict(verdict: &Verdict) {
    let key = |kid: &Option<String>| kid.clone().unwrap_or_else(|| "nobody".to_owned());
    say(&format!("subject    {} as of {}", verdict.subject, verdict.as_of));
    say(&format!("excerpt    {} entries, {} with something withheld", verdict.entries, verdict.redacted));
    say(&format!(
        "signed     excerpt by {}, reports by {}",
        key(&verdict.excerpt_signed_by),
        key(&verdict.report_signed_by)
    ));
    say(&format!("compared   {} figures of {} reports", verdict.figures, verdict.reports));
    for fault in &verdict.faults {
        say(&format!("fault      {fault}"));
    }
    for difference in &verdict.differences {
        say(&format!("differs    {difference}"));
    }
    say(if verdict.confirmed() { "confirmed" } else { "refuted" });
}

/// A new file beside `path` that only its owner may read. It is gone again unless it is written over `path`.
fn private_beside(path: &Path) -> Result<NamedTempFile, NightError> {
    // A file renamed over a device or a fifo would take its place.
    if let Some(found) = std::fs::metadata(path).ok().as_ref().and_then(irregular) {
        return Err(NightError::Input(format!("{}: {found}, where a regular file should be", path.display())));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // A temporary file of this crate has mode 0600.
    NamedTempFile::new_in(folder).map_err(|source| NightError::Io { path: path.to_path_buf(), source })
}

/// Puts a file in the place of `path`, whole or not at all.
fn write_over(mut file: NamedTempFile, path: &Path, content: &[u8]) -> Result<(), ExcerptError> {
    let fault = |source| ExcerptError::Io { path: path.to_path_buf(), source };
    std::io::Write::write_all(&mut file, content).map_err(fault)?;
    file.as_file().sync_all().map_err(fault)?;
    file.persist(path).map(drop).map_err(|fault_at| fault(fault_at.error))
}
