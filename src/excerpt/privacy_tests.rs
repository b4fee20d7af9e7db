//! What an excerpt shows, and what it must not.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::testing::{Night, T, resources, sample};
use crate::engine::Session;
use crate::instant;
use crate::ledger::canonical;

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
fn ledger(night: &Night) -> BTreeMap<i64, Value> {
    let session = Session::open(&resources(), &night.folder.path().join("spill")).unwrap();
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
