//! Excerpts of the fixtures: every signed report is confirmed, and what was altered is refuted.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::format::{EntryLine, Line};
use super::*;
use crate::engine::Resources;
use crate::identity::Salt;
use crate::instant;
use crate::ledger::canonical;
use crate::night;
use crate::snapshot::check::Pin;
use crate::snapshot::document::{Kind, sign_line, signed_document};
use crate::snapshot::keys::BureauKey;
use crate::warehouse::Warehouse;

const T: &str = "2026-11-30T00:00:00Z";

/// A night of a fixture, its reports signed.
struct Night {
    folder: tempfile::TempDir,
    warehouse: Warehouse,
    key: BureauKey,
    reports: Vec<Value>,
}

fn resources() -> Resources {
    Resources { threads: 2, memory: 256 << 20 }
}

impl Night {
    fn of(fixture: &str) -> Night {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture).join("export");
        let folder = tempfile::tempdir().unwrap();
        let mut warehouse = Warehouse::open_or_create(&folder.path().join("warehouse")).unwrap();
        let salt = Salt::read(&root.join("anchor.salt")).unwrap();
        let as_of = instant::parse(T).unwrap();
        night::load(&root, &mut warehouse, Some(&salt), &|_| {}).unwrap();
        night::audit(&warehouse, as_of, &resources(), true).unwrap();
        night::report(&warehouse, as_of, &resources()).unwrap();
        let text = std::fs::read_to_string(warehouse.join("documents/reports.jsonl")).unwrap();
        let reports: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let night = Night { folder, warehouse, key: BureauKey::generate().unwrap(), reports };
        let lines: Vec<u8> = night
            .reports
            .iter()
            .flat_map(|report| [signed_document(&night.key, Kind::Report, report), b"\n".to_vec()].concat())
            .collect();
        std::fs::write(night.all(), zstd::encode_all(lines.as_slice(), 3).unwrap()).unwrap();
        night
    }

    fn small() -> &'static Night {
        static NIGHT: OnceLock<Night> = OnceLock::new();
        NIGHT.get_or_init(|| Night::of("small"))
    }

    fn policy() -> &'static Night {
        static NIGHT: OnceLock<Night> = OnceLock::new();
        NIGHT.get_or_init(|| Night::of("policy"))
    }

    fn attacks() -> &'static Night {
        static NIGHT: OnceLock<Night> = OnceLock::new();
        NIGHT.get_or_init(|| Night::of("attacks"))
    }

    fn all(&self) -> PathBuf {
        self.folder.path().join("reports.jsonl.zst")
    }

    fn subjects(&self) -> Vec<String> {
        let mut subjects: Vec<String> =
            self.reports.iter().map(|report| report["subject"].as_str().unwrap().to_owned()).collect();
        subjects.dedup();
        subjects
    }

    fn excerpt(&self, subject: &str) -> Excerpt {
        collect(&self.warehouse, subject, None, &resources()).unwrap()
    }

    /// The subject of the first report that is as asked.
    fn subject(&self, wanted: impl Fn(&Value) -> bool) -> String {
        self.reports.iter().find(|report| wanted(report)).unwrap()["subject"].as_str().unwrap().to_owned()
    }

    fn confirm(&self, subject: &str) -> Verdict {
        self.verdict(&self.excerpt(subject).to_bytes(Some(&self.key)), &self.all())
    }

    fn verdict(&self, bytes: &[u8], reports: &Path) -> Verdict {
        let (excerpt, faults) = Excerpt::parse(bytes).unwrap();
        let pin = Pin::from_kid(&self.key.public().kid()).unwrap();
        let (signed, all) = SignedReport::read_all(reports, excerpt.subject(), Some(&pin)).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        recompute(&excerpt, faults, &signed, all, scratch.path(), &resources()).unwrap()
    }

    fn confirm_all(&self, subjects: &[String]) {
        for subject in subjects {
            let verdict = self.confirm(subject);
            assert!(verdict.confirmed(), "{subject}: {:#?} {:#?}", verdict.faults, verdict.differences);
            let expected = self.reports.iter().filter(|report| report["subject"] == subject.as_str()).count();
            assert_eq!(verdict.reports, expected, "{subject}");
        }
    }
}

/// One subject of each sort, and every seventh.
fn sample(night: &Night) -> Vec<String> {
    let mut chosen: Vec<String> = night.subjects().into_iter().step_by(7).collect();
    let has = |member: &'static str| move |report: &Value| report.get(member).is_some();
    for state in ["RATED", "UNPROVEN", "WITHDRAWN", "UNENROLLED"] {
        chosen.push(night.subject(|report| report["enrollment"] == state));
    }
    chosen.push(night.subject(has("sender")));
    chosen
        .push(night.subject(|report| {
            !report["nda"]["upheld"].as_array().into_iter().flatten().collect::<Vec<_>>().is_empty()
        }));
    chosen.push(night.subject(|report| report["candor"].get("refusals").is_some()));
    chosen.push(night.subject(|report| report["evidence"].get("value_judgment_share").is_some()));
    chosen.sort();
    chosen.dedup();
    chosen
}

#[test]
fn an_excerpt_alone_gives_every_figure_of_the_signed_reports() {
    let night = Night::small();
    let subjects = sample(night);
    assert!(subjects.len() >= 10);
    night.confirm_all(&subjects);
}

#[test]
fn reports_under_a_portfolio_prior_are_confirmed_too() {
    let night = Night::policy();
    let lent: Vec<String> = night
        .reports
        .iter()
        .filter(|report| report["evidence"]["portfolio_prior"].is_object())
        .map(|report| report["subject"].as_str().unwrap().to_owned())
        .collect();
    assert!(lent.len() >= 5);
    night.confirm_all(&lent);
    night.confirm_all(&sample(night));
}

#[test]
fn reports_over_attacked_evidence_are_confirmed_with_the_findings_that_the_excerpt_states() {
    let night = Night::attacks();
    night.confirm_all(&sample(night));
}

#[test]
#[ignore = "every subject of three exports: a minute"]
fn every_report_of_every_fixture_is_confirmed() {
    for night in [Night::small(), Night::policy(), Night::attacks()] {
        night.confirm_all(&night.subjects());
    }
}

/// A subject with a RATED capability, its excerpt, and that report.
fn rated() -> (&'static Night, String, Value) {
    let night = Night::small();
    let report = night.reports.iter().find(|report| report["enrollment"] == "RATED").unwrap();
    (night, report["subject"].as_str().unwrap().to_owned(), report.clone())
}

fn one(night: &Night, key: &BureauKey, report: &Value) -> PathBuf {
    let path = tempfile::NamedTempFile::new_in(night.folder.path()).unwrap().into_temp_path().keep().unwrap();
    std::fs::write(&path, signed_document(key, Kind::Report, report)).unwrap();
    path
}

#[test]
fn an_lcb_raised_by_a_millionth_is_refuted_whoever_signed_it() {
    let (night, subject, report) = rated();
    let bytes = night.excerpt(&subject).to_bytes(Some(&night.key));
    assert!(night.verdict(&bytes, &one(night, &night.key, &report)).confirmed());
    let mut raised = report.clone();
    let millionths = (report["quality"]["lcb"].as_f64().unwrap() * 1e6).round() as i64 + 1;
    raised["quality"]["lcb"] = json!(crate::reports::number::millionths_to_json(millionths));
    let verdict = night.verdict(&bytes, &one(night, &night.key, &raised));
    assert!(!verdict.confirmed());
    let members: Vec<_> = verdict.differences.iter().map(|difference| difference.member.as_str()).collect();
    assert_eq!((members.as_slice(), verdict.faults.len()), (["quality.lcb"].as_slice(), 0));
    // A stranger's key is refuted even where the figures are right.
    let stranger = BureauKey::generate().unwrap();
    let verdict = night.verdict(&bytes, &one(night, &stranger, &report));
    assert!(verdict.differences.is_empty() && verdict.faults[0].contains("not the pinned key"), "{:?}", verdict.faults);
    // So is a report that was changed after it was signed.
    let path = one(night, &night.key, &report);
    let text = std::fs::read_to_string(&path).unwrap().replace("\"RATED\"", "\"WITHDRAWN\"");
    std::fs::write(&path, text).unwrap();
    assert!(night.verdict(&bytes, &path).faults[0].contains("does not verify"));
}

/// The excerpt's lines but the last, as text.
fn body(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.pop();
    lines
}

/// Closes lines as whoever altered them would.
fn closed_anew(lines: &[String], excerpt: &Excerpt, key: Option<&BureauKey>) -> Vec<u8> {
    let mut bytes: Vec<u8> = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
    let entries = lines.iter().filter(|line| line.starts_with("{\"entry\"")).count();
    let closing = json!({
        "as_of": excerpt.header.as_of, "bureau": excerpt.header.bureau, "entries": entries, "lines": lines.len(),
        "sha256": closing::digest(&bytes), "subject": excerpt.header.subject,
    });
    match key {
        Some(key) => bytes.extend(sign_line(key, CLOSING_TAG, "excerpt", &canonical::to_vec(&closing))),
        None => bytes.extend(canonical::to_vec(&json!({ "excerpt": closing }))),
    }
    bytes.push(b'\n');
    bytes
}

/// The line of an entry that carries an event of the report's pool.
fn event_line(night: &Night, subject: &str, lines: &[String], capability: &Value) -> usize {
    let explained = explain(&night.warehouse, subject, capability.as_str(), None, &resources()).unwrap();
    let seq = explained.capabilities[0].events[0].seq;
    lines.iter().position(|line| line.starts_with("{\"entry\"") && line.contains(&format!("\"seq\":{seq},"))).unwrap()
}

#[test]
fn a_dropped_event_is_refuted_by_the_closing_line_and_by_the_figures() {
    let (night, subject, report) = rated();
    let excerpt = night.excerpt(&subject);
    let bytes = excerpt.to_bytes(None);
    let mut lines = body(&bytes);
    let at = event_line(night, &subject, &lines, &report["capability"]);
    let closing = String::from_utf8(bytes).unwrap().lines().last().unwrap().to_owned();
    lines.remove(at);
    // As it was closed ...
    let text = format!("{}\n{closing}\n", lines.join("\n"));
    let verdict = night.verdict(text.as_bytes(), &night.all());
    assert!(verdict.faults.iter().any(|fault| fault.contains("altered")), "{:?}", verdict.faults);
    // ... closed anew without a key ...
    let verdict = night.verdict(&closed_anew(&lines, &excerpt, None), &night.all());
    assert!(!verdict.confirmed());
    assert!(verdict.differences.iter().any(|one| one.member == "quality.n_eff"), "{:?}", verdict.differences);
    // ... and by another key.
    let stranger = BureauKey::generate().unwrap();
    let verdict = night.verdict(&closed_anew(&lines, &excerpt, Some(&stranger)), &night.all());
    assert!(verdict.faults.iter().any(|fault| fault.contains("another key")), "{:?}", verdict.faults);
}

#[test]
fn an_altered_entry_is_refuted_by_its_hash_or_by_the_figures() {
    let (night, subject, report) = rated();
    let excerpt = night.excerpt(&subject);
    let lines = body(&excerpt.to_bytes(None));
    // A figure that no report serves is still under the entry's hash.
    let at = lines.iter().position(|line| line.contains("\"action\":\"enrolled\"")).unwrap();
    let mut changed = lines.clone();
    changed[at] =
        changed[at].replace("\"competitor_anchors\":[", "\"competitor_anchors\":[\"sha256:00\",").replace(",]", "]");
    assert_ne!(changed[at], lines[at]);
    let verdict = night.verdict(&closed_anew(&changed, &excerpt, None), &night.all());
    assert!(verdict.faults.iter().any(|fault| fault.contains("not the one that was hashed")), "{:?}", verdict.faults);
    // An attestation's hash cannot be checked; its outcome is a figure.
    let at = event_line(night, &subject, &lines, &report["capability"]);
    let outcome = excerpt.entries.iter().find(|line| lines[at].contains(&format!("\"seq\":{},", line.seq()))).unwrap();
    let code = if outcome.detail("outcome") == "FAILED_SILENT" { "OK" } else { "FAILED_SILENT" };
    let mut changed: Vec<String> = lines.clone();
    for name in ["outcome", "derived_outcome", "result"] {
        if let Some(stated) = outcome.detail(name).as_str() {
            changed[at] = changed[at].replace(&format!("\"{name}\":\"{stated}\""), &format!("\"{name}\":\"{code}\""));
        }
    }
    let verdict = night.verdict(&closed_anew(&changed, &excerpt, None), &night.all());
    assert!(!verdict.confirmed());
    // Standing that is made up does not agree with itself or with the corrections.
    let mut forged: EntryLine = match serde_json::from_str(&lines[at]).unwrap() {
        Line::Entry(line) => line,
        other => panic!("{other:?}"),
    };
    forged.standing.counts = false;
    let mut changed = lines.clone();
    changed[at] = String::from_utf8(canonical::to_vec(&json!(Line::Entry(forged)))).unwrap();
    let verdict = night.verdict(&closed_anew(&changed, &excerpt, None), &night.all());
    assert!(verdict.faults.iter().any(|fault| fault.contains("contradicts itself")), "{:?}", verdict.faults);
}

#[test]
fn what_is_no_excerpt_is_named_by_its_line() {
    let (night, subject, _) = rated();
    let bytes = night.excerpt(&subject).to_bytes(None);
    let text = String::from_utf8(bytes).unwrap();
    let fault = |text: &str| Excerpt::parse(text.as_bytes()).unwrap_err();
    assert_eq!(fault(text.trim_end()), (0, "the last line is cut off".to_owned()));
    assert_eq!(fault(""), (0, "the last line is cut off".to_owned()));
    assert_eq!(
        fault(&text.replacen("{\"header\":{", "{\"header\": {", 1)),
        (1, "is not in canonical form (RFC 8785)".to_owned())
    );
    assert_eq!(fault(&text.replacen("fdbk-excerpt-1", "fdbk-excerpt-2", 1)).0, 1);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(0, 1);
    assert_eq!(fault(&format!("{}\n", lines.join("\n"))), (1, "stands in the wrong place".to_owned()));
    assert!(fault(&text.replacen("\"counts\":true", "\"counts\":true,\"zz\":1", 1)).1.contains("zz"));
}

#[test]
fn no_entry_shows_who_judged_called_or_claimed() {
    for night in [Night::small(), Night::policy(), Night::attacks()] {
        let ledger = ledger(night);
        for subject in sample(night) {
            for line in night.excerpt(&subject).entries {
                let shown = String::from_utf8(canonical::to_vec(&json!(line))).unwrap();
                let entry = &ledger[&line.seq()];
                let detail = &entry["detail"];
                let claimant = &detail["claim"]["claimant"];
                let mut hidden = vec![&detail["evaluator"], &detail["sender"]];
                if entry["action"] == "attested" {
                    hidden.extend([&detail["key"], &detail["signature"]]);
                }
                if claimant["handle"] != subject.as_str() {
                    hidden.extend([&claimant["handle"], &claimant["agent"]]);
                }
                for name in
                    hidden.into_iter().filter_map(Value::as_str).filter(|name| !name.is_empty() && *name != subject)
                {
                    assert!(!shown.contains(name), "{subject}: seq {}: {name}", line.seq());
                }
            }
        }
    }
}

/// The entries of a warehouse by `seq`.
fn ledger(night: &Night) -> std::collections::BTreeMap<i64, Value> {
    let session = crate::engine::Session::open(&resources(), &night.folder.path().join("spill")).unwrap();
    session.register_parquet("ledger", &night.warehouse.parts("ledger")).unwrap();
    let rows = session.rows("ledger", "select seq, canonical from ledger").unwrap();
    let (seq, canonical) = (rows.int("seq").unwrap(), rows.binary("canonical").unwrap());
    (0..rows.len()).map(|row| (seq.get(row).unwrap(), serde_json::from_slice(canonical.value(row)).unwrap())).collect()
}

#[test]
fn a_subject_sees_every_stop_and_every_claim_about_it_and_its_own_claims() {
    let night = Night::small();
    let ledger = ledger(night);
    let as_of = instant::parse(T).unwrap();
    let (mut stops, mut rejected, mut filed) = (0, 0, 0);
    for subject in night.subjects() {
        let excerpt = night.excerpt(&subject);
        for (seq, entry) in &ledger {
            let stands = entry["at"].as_str().is_none_or(|at| instant::parse(at).is_ok_and(|at| at <= as_of));
            let about = entry["subject"] == subject.as_str();
            let own = entry["detail"]["claim"]["claimant"]["handle"] == subject.as_str();
            if stands && (about || own) {
                let line = excerpt.entries.iter().find(|line| line.seq() == *seq);
                let line = line.unwrap_or_else(|| panic!("{subject}: seq {seq} is not there"));
                assert_eq!(line.entry["action"], entry["action"]);
                stops += usize::from(entry["action"] == "stopped");
                rejected += usize::from(entry["detail"]["state"] == "rejected");
                filed += usize::from(own);
                if entry["action"] == "nda_claimed" {
                    assert_eq!(line.detail("claim")["disclosures"], entry["detail"]["claim"]["disclosures"]);
                }
                for name in ["amount", "units", "note", "reason", "ground", "recipient_anchor_hash"] {
                    assert_eq!(line.detail(name), &entry["detail"][name], "{subject}: seq {seq}");
                }
            }
        }
    }
    assert!(stops > 50 && rejected >= 4 && filed >= 4, "{stops} {rejected} {filed}");
}

#[test]
fn an_explanation_adds_up_to_the_signed_figures() {
    let (night, subject, report) = rated();
    let capability = report["capability"].as_str().unwrap();
    let found = explain(&night.warehouse, &subject, Some(capability), None, &resources()).unwrap();
    let score = &found.capabilities[0];
    let weights = score.events.iter().map(|event| amount::read(&event.weight, 15).unwrap()).sum::<i128>();
    assert_eq!(amount::write(weights, 15), score.sum_w);
    assert_eq!(amount::short(weights, 15, 6), format!("{:.6}", report["quality"]["n_eff"].as_f64().unwrap()));
    assert_eq!(format!("{:.6}", score.lcb), format!("{:.6}", report["quality"]["lcb"].as_f64().unwrap()));
    assert_eq!((score.missing_events, score.served), (0, true));
    let text = found.to_text(3);
    assert!(text.contains(&format!("{capability}: RATED")) && text.contains("… and"), "{text}");
    let unproven = night.subject(|report| report["enrollment"] == "UNPROVEN");
    let found = explain(&night.warehouse, &unproven, None, None, &resources()).unwrap();
    let score = found.capabilities.iter().find(|score| score.state == "UNPROVEN").unwrap();
    let whole = score.missing_events as f64 + score.sum_w.parse::<f64>().unwrap();
    assert!((20.0..21.0).contains(&whole), "{whole}");
    assert!(found.to_text(20).contains("to be RATED"));
}

#[test]
fn another_instant_or_an_unknown_subject_is_refused() {
    let night = Night::small();
    let other = collect(&night.warehouse, "x", Some(0), &resources()).unwrap_err().to_string();
    assert!(other.contains("not of 1970-01-01"), "{other}");
    let unknown = collect(&night.warehouse, "Nobody.n@example.org", None, &resources()).unwrap_err();
    assert!(matches!(unknown, ExcerptError::Unknown { .. }));
}

#[test]
fn a_published_policy_is_the_policy_again() {
    let text = "bureau = \"https://b.example\"\nhalf_life_days = 45.0000000000000000001\ncourt_procedure = \"say \\\"so\\\"\\nand\\u007f so\"\nportfolio_prior = true\nvalue_weight = 0.25\n";
    let policy = crate::policy::Policy::parse(text, "policy.toml").unwrap();
    assert_eq!(recompute::policy_of(&policy.to_json()).unwrap(), policy);
    assert!(recompute::policy_of(&json!({"bureau": "b", "x\nportfolio_prior": true})).is_err());
}
