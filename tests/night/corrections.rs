//! A correction of each kind of entry reaches the figures that its target fed (§10 obligation 8; profile 1.5).

use std::fs;

use bureau::engine::{Resources, Session};
use serde_json::{Value, json};

use crate::command::{Place, assert_success, chained};

/// Rows of an intermediate that a run left, as `seq` and subject.
fn entries(place: &Place, out: &str, table: &str, sql: &str) -> Vec<(i64, String)> {
    let spill = tempfile::tempdir().unwrap();
    let session = Session::open(&Resources::new(1, 64 << 20), spill.path()).unwrap();
    session.register_kept(table, &place.path(out).join("warehouse/derived")).unwrap();
    let rows = session.rows(table, sql).unwrap();
    let (seq, subject) = (rows.int("seq").unwrap(), rows.text("subject").unwrap());
    (0..rows.len()).map(|row| (seq.get(row).unwrap(), subject.get(row).unwrap().to_owned())).collect()
}

/// The entries of the small export that exist at T, with one more: a correction of `target`.
fn corrected(place: &Place, target: i64, detail: Value) {
    let text = fs::read_to_string(place.path("export/ledger.jsonl")).unwrap();
    let mut lines: Vec<String> = text.lines().take(5102).map(str::to_owned).collect();
    let at = |seq: usize| serde_json::from_str::<Value>(&lines[seq - 1]).unwrap();
    let entry = at(usize::try_from(target).unwrap());
    let mut members = json!({ "target_seq": target });
    members.as_object_mut().unwrap().extend(detail.as_object().unwrap().clone());
    lines.push(
        json!({
            "seq": 5103, "at": "2026-11-29T23:59:59Z", "action": "corrected", "subject": entry["subject"],
            "capability": entry["capability"], "detail": members, "prev_hash": "", "entry_hash": "",
        })
        .to_string(),
    );
    fs::write(place.path("export/ledger.jsonl"), chained(&lines, 5102).join("\n") + "\n").unwrap();
}

fn base() -> Place {
    let place = Place::new("small");
    let text = fs::read_to_string(place.path("export/ledger.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').take(5102).collect();
    fs::write(place.path("export/ledger.jsonl"), lines.concat()).unwrap();
    assert_success(&place.night("before", &[]));
    place
}

/// The reports of a subject, and every other document that a correction can move.
fn documents(place: &Place, out: &str) -> Vec<String> {
    [("reports", "report"), ("organizations", "organization_report"), ("evaluators", "evaluator_report")]
        .iter()
        .flat_map(|(name, member)| place.documents(out, name, member))
        .collect()
}

const CLAIM: &str = "select seq, respondent as subject from claim_entry where claim in
    (select claim from claim_entry group by claim having count(*) = 1) order by seq desc";

const FED: [(&str, &str, &str); 6] = [
    ("a fact", "event", "select seq, subject from event where kind = 'derived' order by seq desc"),
    ("an attestation", "event", "select seq, subject from event where kind = 'attested' order by seq desc"),
    ("a probe", "event", "select seq, subject from event where kind = 'probe' order by seq desc"),
    ("a stop", "stop_counted", "select seq, subject from stop_counted order by seq"),
    ("a claim", "claim_entry", CLAIM),
    (
        "an exclusion",
        "standing_exclusion",
        "select seq, subject from standing_exclusion where reason <> 'rate_limit' order by seq desc",
    ),
];

#[test]
fn what_is_voided_feeds_nothing() {
    let place = base();
    let export = place.path("export/ledger.jsonl");
    let whole = fs::read(&export).unwrap();
    for (kind, table, sql) in FED {
        let (target, _) = entries(&place, "before", table, sql)[0].clone();
        fs::write(&export, &whole).unwrap();
        corrected(&place, target, json!({ "kind": "void", "error": "failed_dedup" }));
        let out = format!("void-{target}");
        assert_success(&place.night(&out, &["--publish-with-findings"]));
        let left = entries(&place, &out, table, sql);
        assert!(left.iter().all(|(seq, _)| *seq != target), "{kind} {target} still counts");
        assert!(documents(&place, &out) != documents(&place, "before"), "{kind} {target} moved no document");
    }
}

#[test]
fn what_is_amended_feeds_what_it_was_amended_to() {
    let place = base();
    let export = place.path("export/ledger.jsonl");
    let whole = fs::read(&export).unwrap();
    for ((kind, table, sql), (set, now)) in FED[..4].iter().zip([
        (json!({ "capability": "moved-to" }), "\"capability\":\"moved-to\""),
        (json!({ "interaction_id": "itx_elsewhere" }), ""),
        (json!({ "interaction_id": "itx_elsewhere" }), ""),
        (json!({ "subject": "Moved.to@example.org" }), "\"subject\":\"Moved.to@example.org\""),
    ]) {
        let (target, _) = entries(&place, "before", table, sql)[0].clone();
        fs::write(&export, &whole).unwrap();
        corrected(&place, target, json!({ "kind": "amend", "error": "wrong_subject", "set": set }));
        let out = format!("amend-{target}");
        assert_success(&place.night(&out, &["--publish-with-findings"]));
        let (before, after) = (documents(&place, "before"), documents(&place, &out));
        assert!(after != before, "{kind} {target} moved no document");
        assert!(after.iter().any(|document| document.contains(now)), "{kind} {target}");
    }
}

#[test]
fn an_exclusion_over_the_ceiling_stays_founded_when_the_fact_is_voided() {
    let place = base();
    let text = fs::read_to_string(place.path("export/ledger.jsonl")).unwrap();
    let entries: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let exclusion = entries.iter().find(|entry| entry["detail"]["reason"] == "rate_limit").unwrap();
    let target = &entries[exclusion["detail"]["target_seq"].as_u64().unwrap() as usize - 1];
    let same = |entry: &&Value| {
        entry["action"] == "fact"
            && entry["subject"] == target["subject"]
            && entry["detail"]["interaction_id"] == target["detail"]["interaction_id"]
    };
    let fact = entries.iter().find(same).unwrap();
    corrected(&place, fact["seq"].as_i64().unwrap(), json!({ "kind": "void", "error": "failed_dedup" }));
    assert_success(&place.night("out", &[]));
    let findings = fs::read_to_string(place.path("out/warehouse/findings.jsonl")).unwrap();
    assert!(!findings.contains("exclude."), "{findings}");
}
