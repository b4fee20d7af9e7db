//! The same input, policy, key and T give the same bytes: with any number of threads, little memory, one stage at a time, twice.

use std::fs;

use crate::command::{Place, assert_success, complaint, files};

#[test]
fn threads_memory_and_parts_do_not_reach_the_bytes() {
    let place = Place::new("small");
    assert_success(&place.night("one", &["--threads", "1"]));
    let (snapshot, ledger) = (files(&place.snapshot("one")), files(&place.path("one/warehouse/ledger")));
    assert!(snapshot.iter().any(|(path, _)| path.ends_with("reports.parquet")));
    for (out, more) in [
        ("two", ["--threads", "2"]),
        ("seven", ["--threads", "7"]),
        ("tight", ["--memory", "64MiB"]),
        ("least", ["--memory", "16MiB"]),
        ("parts", ["--parts", "5"]),
    ] {
        assert_success(&place.night(out, &more));
        assert_eq!(files(&place.snapshot(out)), snapshot, "{out}");
        assert_eq!(files(&place.path(out).join("warehouse/ledger")), ledger, "{out}");
        for table in ["fact", "attested", "stopped"] {
            let ours = files(&place.path(out).join("warehouse").join(table));
            assert_eq!(ours, files(&place.path("one/warehouse").join(table)), "{out}: {table}");
        }
    }
}

#[test]
fn a_second_run_succeeds_and_changes_nothing() {
    let place = Place::new("policy");
    assert_success(&place.night("out", &[]));
    let before = files(&place.path("out/snapshots"));
    let again = place.night("out", &["--json"]);
    assert_success(&again);
    let summary: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(summary["outcome"], "unchanged");
    assert_eq!(summary["entries"], 4349);
    assert_eq!(files(&place.path("out/snapshots")), before);
    assert_eq!(fs::read_link(place.path("out/snapshots/latest")).unwrap().to_str(), Some("2026-11-30T00-00-00Z"));
}

#[test]
fn other_bytes_for_the_same_instant_are_refused_unless_told_to_replace() {
    let place = Place::new("small");
    assert_success(&place.night("out", &[]));
    let before = files(&place.path("out/snapshots"));
    let policy = fs::read_to_string(place.path("export/policy.toml")).unwrap();
    fs::write(place.path("export/policy.toml"), policy.replace("half_life_days = 60", "half_life_days = 61")).unwrap();
    let refused = place.night("out", &[]);
    assert_eq!(refused.status.code(), Some(1), "{}", complaint(&refused));
    assert!(complaint(&refused).contains("--replace"), "{}", complaint(&refused));
    assert_eq!(files(&place.path("out/snapshots")), before);
    assert_success(&place.night("out", &["--replace"]));
    assert_ne!(files(&place.path("out/snapshots")), before);
    assert_success(&place.bureau(&["check", "out/snapshots/latest", "--key", "key.pub"]));
}

#[test]
fn findings_and_figures_of_attacked_evidence_are_the_same_in_one_part_and_in_many() {
    let place = Place::new("attacks");
    let told = |out: &str| fs::read(place.path(out).join("warehouse/findings.jsonl")).unwrap();
    let of_second_part = |out: &str| {
        let kept = fs::read_dir(place.path(out).join("warehouse/derived/event")).unwrap();
        kept.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("000000-001-")).count()
    };
    assert_success(&place.night("one", &["--publish-with-findings"]));
    for (out, parts) in [("two", "2"), ("many", "256")] {
        assert_success(&place.night(out, &["--publish-with-findings", "--parts", parts]));
        assert_eq!(files(&place.snapshot(out)), files(&place.snapshot("one")), "{out}");
        assert!(told(out) == told("one"), "{out}");
        assert!(of_second_part(out) > 0);
    }
    // Fewer parts than before leave none of those behind.
    assert_success(&place.night("two", &["--publish-with-findings", "--full"]));
    assert_eq!(of_second_part("two"), 0);
    assert!(place.path("two/warehouse/derived/event/000000-000-0.parquet").exists());
}
