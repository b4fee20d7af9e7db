//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::excerpt::{ExcerptOf, Explain, Recompute};
use crate::instant;

/// The nightly accountant of agent reputation: a ledger export in, one signed snapshot of every report out.
#[derive(Debug, Parser)]
#[command(name = "bureau", version, disable_help_subcommand = true)]
pub(super) struct Arguments {
    /// Log every query too, with its rows, seconds and what it spilled
    #[arg(long, global = true)]
    pub verbose: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// The whole night: load, audit, report, publish
    Run(Run),
    /// Load an export into a warehouse, its chain checked
    Load(Load),
    /// Judge every rule over a warehouse, or its chain alone
    Audit(Audit),
    /// Compute every figure of an audited warehouse
    Report(Report),
    /// Sign what the report stage left, and publish it
    Publish(Publish),
    /// Rate the agents of rating tables, without a ledger
    Rate(Rate),
    /// Check a published snapshot, with nothing but its files and, for pinning, a key
    Check(Check),
    /// Write a subject's own excerpt of the ledger (§4.1)
    Excerpt(ExcerptOf),
    /// Recompute a subject's reports from its excerpt alone, and compare (L2)
    Recompute(Recompute),
    /// Say for a person what a score, or a rating, rests on
    Explain(Explain),
    /// Make a signing key
    Keygen(Keygen),
}

impl Command {
    /// The memory that it was given, where it is one that needs much.
    pub fn memory(&self) -> Option<usize> {
        let machine = match self {
            Command::Run(given) => &given.machine,
            Command::Load(given) => &given.machine,
            Command::Audit(given) => &given.machine,
            Command::Report(given) => &given.machine,
            Command::Publish(given) => &given.machine,
            Command::Rate(given) => &given.machine,
            Command::Excerpt(given) => &given.machine,
            Command::Recompute(given) => &given.machine,
            Command::Explain(given) => &given.machine,
            Command::Check(_) | Command::Keygen(_) => return None,
        };
        Some(machine.memory)
    }
}

#[derive(Debug, Args)]
pub(super) struct Run {
    /// The export directory (profile 1.1)
    #[arg(long, value_name = "DIR")]
    pub export: PathBuf,
    /// Where `snapshots/` is published
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The private warehouse [default: OUT/warehouse]
    #[arg(long, value_name = "DIR")]
    pub warehouse: Option<PathBuf>,
    #[command(flatten)]
    pub salt: Salt,
    #[command(flatten)]
    pub ledger: Ledger,
    #[command(flatten)]
    pub instant: Instant,
    #[command(flatten)]
    pub signing: Signing,
    #[command(flatten)]
    pub publishing: Publishing,
    /// Load, judge and compute everything anew, whatever earlier nights left
    #[arg(long)]
    pub full: bool,
    /// Judge every entry anew, whatever an earlier audit of this ledger found
    #[arg(long)]
    pub full_audit: bool,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Load {
    /// The export directory (profile 1.1)
    #[arg(long, value_name = "DIR")]
    pub export: PathBuf,
    /// Read every file anew, those too whose bytes an earlier load read
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub store: Store,
    #[command(flatten)]
    pub salt: Salt,
    #[command(flatten)]
    pub ledger: Ledger,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Audit {
    #[command(flatten)]
    pub store: Store,
    /// Judge every entry anew, whatever an earlier audit of this ledger found
    #[arg(long)]
    pub full: bool,
    /// Check the hash chain alone, from Parquet
    #[arg(long)]
    pub chain: bool,
    #[command(flatten)]
    pub instant: Instant,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Report {
    #[command(flatten)]
    pub store: Store,
    /// Compute every interaction anew, whatever an earlier report of this ledger left
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub instant: Instant,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Publish {
    #[command(flatten)]
    pub store: Store,
    /// Where `snapshots/` is published
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub signing: Signing,
    #[command(flatten)]
    pub publishing: Publishing,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Rate {
    /// The folder of the tables (profile 4.1)
    #[arg(long, value_name = "DIR")]
    pub tables: PathBuf,
    /// A new folder for ratings.jsonl, method.json, refused-rows.jsonl and tables/, unsigned
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub instant: Instant,
    /// The policy's rating_window_decisions
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub window_decisions: i64,
    /// The policy's report_ttl_hours
    #[arg(long, value_name = "HOURS", default_value_t = 26, value_parser = clap::value_parser!(i64).range(1..=87_600))]
    pub ttl_hours: i64,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Check {
    /// The snapshot's directory
    pub snapshot: PathBuf,
    /// Accept this key alone: PEM, or 32 bytes in base64
    #[arg(long, value_name = "FILE", conflicts_with = "kid")]
    pub key: Option<PathBuf>,
    /// Accept the key of this id alone
    #[arg(long, value_name = "KID", allow_hyphen_values = true)]
    pub kid: Option<String>,
    /// Fail where a document has expired at this instant (RFC 3339)
    #[arg(long, value_name = "INSTANT", value_parser = parse_instant)]
    pub at: Option<i64>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Keygen {
    /// The file to make: PKCS#8 PEM, mode 0600; an existing file is not touched
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct Store {
    /// The private warehouse
    #[arg(long, value_name = "DIR")]
    pub warehouse: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct Ledger {
    /// Load a ledger that does not begin with what the warehouse holds, in its place
    #[arg(long)]
    pub new_ledger: bool,
}

#[derive(Debug, Args)]
pub(super) struct Salt {
    /// The file with the salt of hashed anchors; one final newline is not part of it (profile 1.3)
    #[arg(long, value_name = "FILE", conflicts_with = "salt_env")]
    pub salt_file: Option<PathBuf>,
    /// The same from this environment variable
    #[arg(long, value_name = "NAME")]
    pub salt_env: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Instant {
    /// The instant reported for, RFC 3339 [default: the last midnight UTC]
    #[arg(long, value_name = "INSTANT", value_parser = parse_instant)]
    pub as_of: Option<i64>,
}

#[derive(Debug, Args)]
pub(super) struct Signing {
    /// The signing key: PKCS#8 PEM, readable by its owner alone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key_env", "throwaway_key"])]
    pub key: Option<PathBuf>,
    /// The signing key's PEM from this environment variable
    #[arg(long, value_name = "NAME", conflicts_with = "throwaway_key")]
    pub key_env: Option<String>,
    /// Sign with a key that is made now and forgotten: for trying things out, nobody can pin it
    #[arg(long)]
    pub throwaway_key: bool,
    /// Retired keys with their validity, in the shape of keys.json
    #[arg(long, value_name = "FILE")]
    pub key_history: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Publishing {
    /// Publish in spite of error findings; what they name counts for no figure
    #[arg(long)]
    pub publish_with_findings: bool,
    /// Replace a snapshot of the same instant that has other bytes
    #[arg(long)]
    pub replace: bool,
    /// Publish though reports of the last snapshot are gone
    #[arg(long)]
    pub allow_fewer: bool,
}

#[derive(Debug, Args)]
pub(super) struct Machine {
    /// Threads; no figure depends on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory for sorts, joins and aggregates before they spill, such as 512MiB or 2GiB; at least 16MiB
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_size)]
    pub memory: usize,
    /// Run queries over at least so many parts of the interactions, one after another; no figure depends on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub parts: u16,
}

#[derive(Debug, Args)]
pub(super) struct Output {
    /// Print the summary as one JSON object
    #[arg(long)]
    pub json: bool,
}

fn parse_instant(text: &str) -> Result<i64, String> {
    instant::parse(text).map_err(|fault| format!("{fault}, such as 2026-11-30T00:00:00Z"))
}

/// Bytes, with an optional unit of 1024.
fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit: usize = match &text[digits.len()..] {
        "" | "B" => 1,
        "KiB" | "K" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        _ => return Err("a size is a number with KiB, MiB or GiB behind it".to_owned()),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    match bytes {
        Some(bytes) if bytes >= 16 << 20 => Ok(bytes),
        Some(_) => Err("the engine needs at least 16MiB".to_owned()),
        None => Err("a size is a whole number with KiB, MiB or GiB behind it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_value_from_outside_may_begin_with_hyphens() {
        let kid = "--_6NDVJSjmvT8VQ_aXQFusF-dp5DiGkPpGv9pmszp4";
        for line in [
            vec!["bureau", "check", "snapshot", "--kid", kid],
            vec!["bureau", "recompute", "excerpt", "--report", "report", "--kid", kid],
            vec!["bureau", "excerpt", "--warehouse", "w", "--subject", "-a", "--out", "out"],
            vec!["bureau", "explain", "--warehouse", "w", "--subject", "-a", "--capability", "--b"],
            vec!["bureau", "explain", "--warehouse", "w", "--agent", "-7"],
        ] {
            let parsed = Arguments::try_parse_from(&line);
            assert!(parsed.is_ok(), "{line:?}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn sizes_have_units_of_1024() {
        assert_eq!(parse_size("1GiB"), Ok(1 << 30));
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        for text in ["", "GiB", "1.5GiB", "-1GiB", "1TB", "15MiB", "99999999999999999999G"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
