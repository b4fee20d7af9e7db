//! What each command does: rooms called in order, and a summary.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use super::arguments::{self, Command};
use super::excerpt;
use super::progress::Stage;
use super::summary::{Findings, Summary, complain, say};
use crate::engine::Resources;
use crate::identity;
use crate::instant::{self, DAY_MS};
use crate::night::{self, NightError, PublishOptions};
use crate::rating::Parameters;
use crate::snapshot::check::{self, CheckSummary, Pin};
use crate::snapshot::history::KeySet;
use crate::snapshot::keys::BureauKey;
use crate::snapshot::probe::probe;
use crate::snapshot::publish::Outcome;
use crate::warehouse::{Warehouse, verify_chain};

pub(super) fn run(command: Command) -> Result<ExitCode, NightError> {
    match command {
        Command::Run(given) => whole_night(given),
        Command::Load(given) => load(given),
        Command::Audit(given) => audit(given),
        Command::Report(given) => report(given),
        Command::Publish(given) => publish(given),
        Command::Rate(given) => rate(given),
        Command::Check(given) => check_snapshot(&given),
        Command::Excerpt(given) => excerpt::excerpt(&given, &resources(&given.machine)?),
        Command::Recompute(given) => excerpt::recompute(&given, &resources(&given.machine)?),
        Command::Explain(given) => excerpt::explain(&given, &resources(&given.machine)?),
        Command::Keygen(given) => keygen(&given),
    }
}

fn whole_night(given: arguments::Run) -> Result<ExitCode, NightError> {
    let resources = resources(&given.machine)?;
    let as_of = as_of(&given.instant);
    let (key, keys) = signing(&given.signing)?;
    let salt = salt(&given.salt)?;
    // The last stage needs OUT: what is wrong with it is told before the first.
    probe(&given.out.join("snapshots"))?;
    let path = given.warehouse.unwrap_or_else(|| given.out.join("warehouse"));
    let mut warehouse = Warehouse::open_or_create(&path)?;
    let mut summary = Summary { as_of: Some(instant::format(as_of)), ..Summary::default() };
    load_stage(&given.export, &mut warehouse, salt.as_ref(), given.ledger.new_ledger, given.full, &mut summary)?;
    audit_stage(&warehouse, as_of, &resources, given.full || given.full_audit, &mut summary)?;
    report_stage(&warehouse, as_of, &resources, given.full, &mut summary)?;
    let options = publish_options(&given.publishing);
    let published = publish_stage(&warehouse, &given.out, &key, &keys, options, &mut summary);
    if published.is_err() {
        summary.print(given.output.json);
    }
    published?;
    summary.print(given.output.json);
    Ok(ExitCode::SUCCESS)
}

fn load(given: arguments::Load) -> Result<ExitCode, NightError> {
    resources(&given.machine)?;
    let salt = salt(&given.salt)?;
    let mut warehouse = Warehouse::open_or_create(&given.store.warehouse)?;
    let mut summary = Summary::default();
    load_stage(&given.export, &mut warehouse, salt.as_ref(), given.ledger.new_ledger, given.full, &mut summary)?;
    summary.print(given.output.json);
    Ok(ExitCode::SUCCESS)
}

fn audit(given: arguments::Audit) -> Result<ExitCode, NightError> {
    let resources = resources(&given.machine)?;
    let warehouse = Warehouse::open(&given.store.warehouse)?;
    let mut summary = Summary::default();
    if given.chain {
        let stage = Stage::begin("chain");
        let verdict = verify_chain(&warehouse)?;
        let seconds = stage.end(&format!("{} entries hold", verdict.entries));
        summary.seconds.insert("chain", seconds);
        summary.entries = Some(verdict.entries);
        summary.head = verdict.head;
        summary.print(given.output.json);
        return Ok(ExitCode::SUCCESS);
    }
    let as_of = as_of(&given.instant);
    summary.as_of = Some(instant::format(as_of));
    audit_stage(&warehouse, as_of, &resources, given.full, &mut summary)?;
    summary.print(given.output.json);
    let errors = summary.findings.is_some_and(|findings| findings.errors > 0);
    for line in night::first_errors(&warehouse) {
        complain(&line);
    }
    Ok(if errors { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn report(given: arguments::Report) -> Result<ExitCode, NightError> {
    let resources = resources(&given.machine)?;
    let as_of = as_of(&given.instant);
    let warehouse = Warehouse::open(&given.store.warehouse)?;
    let mut summary = Summary { as_of: Some(instant::format(as_of)), ..Summary::default() };
    report_stage(&warehouse, as_of, &resources, given.full, &mut summary)?;
    summary.print(given.output.json);
    Ok(ExitCode::SUCCESS)
}

fn publish(given: arguments::Publish) -> Result<ExitCode, NightError> {
    resources(&given.machine)?;
    let (key, keys) = signing(&given.signing)?;
    let warehouse = Warehouse::open(&given.store.warehouse)?;
    let mut summary = Summary::default();
    let options = publish_options(&given.publishing);
    publish_stage(&warehouse, &given.out, &key, &keys, options, &mut summary)?;
    summary.print(given.output.json);
    Ok(ExitCode::SUCCESS)
}

fn rate(given: arguments::Rate) -> Result<ExitCode, NightError> {
    let resources = resources(&given.machine)?;
    let as_of = as_of(&given.instant);
    let parameters =
        Parameters { as_of, expires_at: as_of + given.ttl_hours * 3_600_000, window_decisions: given.window_decisions };
    let stage = Stage::begin("rate");
    let rated = night::rate(&given.tables, &given.out, &parameters, &resources)?;
    let mut summary = Summary { as_of: Some(instant::format(as_of)), ..Summary::default() };
    summary.seconds.insert("rate", stage.end(&format!("{} ratings, {} rows refused", rated.ratings, rated.refused)));
    summary.documents.insert("ratings".to_owned(), rated.ratings);
    let warnings = rated.counts.get("rating.reason").copied().unwrap_or_default();
    summary.findings = Some(Findings { errors: rated.refused, warnings, rules: rated.counts });
    summary.print(given.output.json);
    Ok(if rated.refused > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn check_snapshot(given: &arguments::Check) -> Result<ExitCode, NightError> {
    let pin = match (&given.key, &given.kid) {
        (Some(file), _) => Some(Pin::from_file(file)?),
        (None, Some(kid)) => Some(Pin::from_kid(kid)?),
        (None, None) => None,
    };
    match check::check(&given.snapshot, pin.as_ref(), given.at) {
        Ok(found) => {
            if given.output.json {
                say(&serde_json::to_string(&found).unwrap_or_default());
            } else {
                say_checked(&found);
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(faults) => {
            for fault in &faults {
                complain(&fault.to_string());
            }
            Ok(ExitCode::from(check::exit_code(&faults)))
        }
    }
}

/// What was checked, in numbers.
fn say_checked(found: &CheckSummary) {
    say(&format!("valid      {} as of {}", found.bureau, found.as_of));
    say(&format!("key        {}{}", found.kid, if found.pinned { " (pinned)" } else { " (not pinned)" }));
    say(&format!("files      {} of {} bytes, every digest", found.files, found.bytes));
    say(&format!("signatures {}", found.signatures));
    for (name, count) in &found.documents {
        say(&format!("           {name} {count}"));
    }
    say(&format!("tables     {} of {} rows", found.tables, found.table_rows));
}

fn keygen(given: &arguments::Keygen) -> Result<ExitCode, NightError> {
    let key = BureauKey::generate()?;
    key.write_new(&given.out)?;
    say(&format!("{}\nkid {}\nkey {}", given.out.display(), key.public().kid(), key.public().base64()));
    Ok(ExitCode::SUCCESS)
}

fn load_stage(
    export: &Path,
    warehouse: &mut Warehouse,
    salt: Option<&identity::Salt>,
    new_ledger: bool,
    anew: bool,
    summary: &mut Summary,
) -> Result<(), NightError> {
    let stage = Stage::begin("load");
    let loaded = night::load(export, warehouse, salt, new_ledger, anew, &|entries| stage.entries(entries))?;
    let head = loaded.head.as_ref().map_or(0, |head| head.seq);
    let known = match loaded.known_files {
        0 => String::new(),
        files => format!(", {files} files known"),
    };
    summary.seconds.insert("load", stage.end(&format!("{} entries to seq {head}{known}", loaded.entries)));
    summary.entries = Some(loaded.entries);
    summary.head = loaded.head;
    Ok(())
}

fn audit_stage(
    warehouse: &Warehouse,
    as_of: i64,
    resources: &Resources,
    afresh: bool,
    summary: &mut Summary,
) -> Result<(), NightError> {
    let stage = Stage::begin("audit");
    let audited = night::audit(warehouse, as_of, resources, afresh)?;
    let found = format!("{} errors, {} warnings", audited.errors, audited.warnings);
    summary.seconds.insert("audit", stage.end(&found));
    summary.findings = Some(Findings { errors: audited.errors, warnings: audited.warnings, rules: audited.counts });
    Ok(())
}

fn report_stage(
    warehouse: &Warehouse,
    as_of: i64,
    resources: &Resources,
    afresh: bool,
    summary: &mut Summary,
) -> Result<(), NightError> {
    let stage = Stage::begin("report");
    let reported = night::report(warehouse, as_of, resources, afresh)?;
    let documents: u64 = reported.documents.values().sum();
    summary.seconds.insert("report", stage.end(&format!("{documents} documents")));
    summary.subjects = Some(reported.subjects);
    summary.documents = reported.documents;
    summary.findings =
        Some(Findings { errors: reported.errors, warnings: reported.warnings, rules: reported.facts.audit });
    Ok(())
}

fn publish_stage(
    warehouse: &Warehouse,
    out: &Path,
    key: &BureauKey,
    keys: &KeySet,
    options: PublishOptions,
    summary: &mut Summary,
) -> Result<(), NightError> {
    let stage = Stage::begin("publish");
    let published = night::publish(warehouse, out, key, keys, options)?;
    let outcome = match published.outcome {
        Outcome::New => "new",
        Outcome::Unchanged => "unchanged",
        Outcome::Replaced => "replaced",
    };
    summary.seconds.insert("publish", stage.end(outcome));
    summary.outcome = Some(outcome.to_owned());
    summary.snapshot = Some(published.path.display().to_string());
    Ok(())
}

/// The engine's share of the machine, and the pool of threads that everything else uses.
fn resources(given: &arguments::Machine) -> Result<Resources, NightError> {
    let threads = match given.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    // A second pool in one process cannot be made; its first one stays, and no result depends on its size.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    Ok(Resources { threads, memory: given.memory, parts: given.parts.into() })
}

/// T: as given, or the last midnight UTC.
fn as_of(given: &arguments::Instant) -> i64 {
    given.as_of.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let now = i64::try_from(now).unwrap_or(0);
        now - now.rem_euclid(DAY_MS)
    })
}

fn salt(given: &arguments::Salt) -> Result<Option<identity::Salt>, NightError> {
    if let Some(file) = &given.salt_file {
        return Ok(Some(identity::Salt::read(file)?));
    }
    let Some(name) = &given.salt_env else { return Ok(None) };
    match std::env::var_os(name) {
        Some(value) if !value.is_empty() => {
            use std::os::unix::ffi::OsStringExt;
            Ok(Some(identity::Salt::of_bytes(value.into_vec())))
        }
        _ => Err(NightError::Usage(format!("the environment has no {name}, which should hold the salt"))),
    }
}

fn signing(given: &arguments::Signing) -> Result<(BureauKey, KeySet), NightError> {
    let key = match (&given.key, &given.key_env, given.throwaway_key) {
        (Some(file), ..) => BureauKey::from_file(file)?,
        (None, Some(name), _) => BureauKey::from_env(name)?,
        (None, None, true) => {
            let key = BureauKey::generate()?;
            tracing::warn!("signing with a throwaway key (kid {}): nobody can pin this snapshot", key.public().kid());
            key
        }
        (None, None, false) => {
            return Err(NightError::Usage(
                "a snapshot needs a signing key: give --key FILE (see `bureau keygen`), or --throwaway-key to try things out"
                    .to_owned(),
            ));
        }
    };
    let keys = match &given.key_history {
        Some(file) => KeySet::with_history(key.public(), file)?,
        None => KeySet::current(key.public()),
    };
    Ok((key, keys))
}

fn publish_options(given: &arguments::Publishing) -> PublishOptions {
    PublishOptions {
        with_findings: given.publish_with_findings,
        replace: given.replace,
        allow_fewer: given.allow_fewer,
    }
}
