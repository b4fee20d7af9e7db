//! Every signed report of the fixtures is confirmed by its excerpt, and what was altered is refuted.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::format::{EntryLine, Line};
use super::testing::{Night, resources, sample};
use super::*;
use crate::ledger::canonical;
use crate::snapshot::document::{Kind, sign_line, signed_document};
use crate::snapshot::keys::BureauKey;

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
fn an_excerpt_and_a_report_are_regular_files_and_nothing_else_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let zero = std::path::Path::new("/dev/zero");
    for (path, found) in [(fifo.as_path(), "a fifo"), (folder.path(), "a directory"), (zero, "a device")] {
        let faults = [Excerpt::open(path).unwrap_err(), SignedReport::read_all(path, "x", None).unwrap_err()];
        for fault in faults {
            assert_eq!(fault.to_string(), format!("{}: {found}, where a regular file should be", path.display()));
            assert_eq!(crate::night::NightError::from(fault).exit_code(), 1);
        }
    }
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

#[test]
fn an_excerpt_made_to_do_harm_is_refused_and_does_no_harm() {
    let (night, subject, _) = rated();
    let mut excerpt = night.excerpt(&subject);
    let scratch = tempfile::tempdir().unwrap();
    let fault = |change: &dyn Fn(&mut Excerpt)| {
        let mut changed = excerpt.clone();
        change(&mut changed);
        recompute(&changed, Vec::new(), &[], false, scratch.path(), &resources()).unwrap_err().to_string()
    };
    let at = |excerpt: &Excerpt, action: &str| {
        excerpt.entries.iter().position(|line| line.entry["action"] == action).unwrap()
    };
    let enrolled = at(&excerpt, "enrolled");
    let promises = |value: Value| {
        move |excerpt: &mut Excerpt| excerpt.entries[enrolled].entry["detail"]["promises"] = value.clone()
    };
    assert!(fault(&promises(json!([{"class": "mesh-verifiable"}]))).contains("promises is not what its column holds"));
    assert!(fault(&promises(Value::Null)).contains("promises is missing"));
    assert!(fault(&|excerpt| excerpt.header.as_of = "today".to_owned()).contains("as_of is no instant"));
    assert!(fault(&|excerpt| excerpt.header.policy["half_life_days"] = json!(0)).contains("half_life_days"));
    // A prior that the policy does not have is a fault of the excerpt; one of no pool is refused.
    let report = night.reports.iter().find(|report| report["enrollment"] == "RATED").unwrap();
    let capability = report["capability"].as_str().unwrap().to_owned();
    let line = |sum_w: &str, sum_wv: &str| format::PriorLine {
        capability: capability.clone(),
        from_agents: 1,
        sum_w: sum_w.to_owned(),
        sum_wv: sum_wv.to_owned(),
    };
    let too_good = line("1.000000000000000", "1.00000000000000001");
    assert!(fault(&|excerpt| excerpt.priors.push(too_good.clone())).contains("those of no pool"));
    excerpt.priors.push(line("9.000000000000000", "9.00000000000000000"));
    let verdict = recompute(&excerpt, Vec::new(), &[], false, scratch.path(), &resources()).unwrap();
    assert!(verdict.faults.iter().any(|fault| fault.contains("lends a prior")), "{:?}", verdict.faults);
}
