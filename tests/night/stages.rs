//! Each stage as a command of its own, and the commands beside the night.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::command::{AS_OF, Place, assert_success, chained, complaint, files};

#[test]
fn four_stages_are_a_night() {
    let place = Place::new("small");
    assert_success(&place.night("whole", &[]));
    assert_success(&place.load("w", &[]));
    // A stage that comes too early says which one is missing.
    let early = place.bureau(&["report", "--warehouse", "w", "--as-of", AS_OF]);
    assert_eq!(early.status.code(), Some(1));
    assert!(complaint(&early).contains("bureau audit"), "{}", complaint(&early));
    assert_success(&place.bureau(&["audit", "--warehouse", "w", "--as-of", AS_OF]));
    let other = place.bureau(&["report", "--warehouse", "w", "--as-of", "2026-11-29T00:00:00Z"]);
    assert_eq!(other.status.code(), Some(1));
    assert_success(&place.bureau(&["report", "--warehouse", "w", "--as-of", AS_OF]));
    assert_success(&place.bureau(&["publish", "--warehouse", "w", "--out", "staged", "--key", "key.pem"]));
    assert_eq!(files(&place.snapshot("staged")), files(&place.snapshot("whole")));
}

#[test]
fn an_audit_with_errors_exits_with_1_and_prints_them_by_rule() {
    let place = Place::new("attacks");
    assert_success(&place.load("w", &[]));
    let output = place.bureau(&["audit", "--warehouse", "w", "--as-of", AS_OF]);
    assert_eq!(output.status.code(), Some(1));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.lines().any(|line| line.split_whitespace().eq(["sig.invalid", "64"])), "{table}");
    assert!(place.path("w/findings.parquet").exists());
}

#[test]
fn the_chain_is_proved_from_parquet_alone() {
    let place = Place::new("policy");
    assert_success(&place.load("w", &[]));
    fs::remove_dir_all(place.path("export")).unwrap();
    let output = place.bureau(&["audit", "--chain", "--warehouse", "w", "--json"]);
    assert_success(&output);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&summary["entries"], &summary["head"]["seq"]), (&4349.into(), &4349.into()));
    // A state that names another head than the Parquet holds proves nothing.
    let state = fs::read_to_string(place.path("w/state.json")).unwrap();
    fs::write(place.path("w/state.json"), state.replace("4349", "4348")).unwrap();
    assert_eq!(place.bureau(&["audit", "--chain", "--warehouse", "w"]).status.code(), Some(1));
}

#[test]
fn an_export_may_follow_on_the_warehouse_and_gives_the_same_snapshot() {
    let place = Place::new("small");
    assert_success(&place.night("whole", &[]));
    let ledger = fs::read_to_string(place.path("export/ledger.jsonl")).unwrap();
    let lines: Vec<&str> = ledger.split_inclusive('\n').collect();
    fs::write(place.path("export/ledger.jsonl"), lines[..3000].concat()).unwrap();
    assert_success(&place.load("out/warehouse", &[]));
    // One that leaves a gap is refused, and the warehouse stays as it was.
    fs::write(place.path("export/ledger.jsonl"), lines[3001..].concat()).unwrap();
    let gap = place.night("out", &[]);
    assert_eq!(gap.status.code(), Some(1));
    assert!(complaint(&gap).contains("chain."), "{}", complaint(&gap));
    fs::write(place.path("export/ledger.jsonl"), lines[3000..].concat()).unwrap();
    assert_success(&place.night("out", &[]));
    assert_eq!(files(&place.snapshot("out")), files(&place.snapshot("whole")));
    // The same again, and one that repeats more: what the warehouse has is compared and stays.
    for from in [3000, 2500, 5143] {
        fs::write(place.path("export/ledger.jsonl"), lines[from..].concat()).unwrap();
        let again = place.night("out", &["--json"]);
        assert_success(&again);
        let summary: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
        assert_eq!((&summary["outcome"], &summary["head"]["seq"]), (&"unchanged".into(), &5144.into()));
    }
    assert_success(&place.bureau(&["audit", "--chain", "--warehouse", "out/warehouse"]));
}

#[test]
fn history_that_was_rewritten_is_refused_unless_it_is_said_to_be_another_ledger() {
    let place = Place::new("small");
    let ledger = fs::read_to_string(place.path("export/ledger.jsonl")).unwrap();
    let whole: Vec<String> = ledger.lines().take(200).map(str::to_owned).collect();
    fs::write(place.path("export/ledger.jsonl"), whole.join("\n") + "\n").unwrap();
    assert_success(&place.night("out", &["--publish-with-findings"]));
    let mut altered = whole.clone();
    let mut entry: serde_json::Value = serde_json::from_str(&altered[99]).unwrap();
    entry["x_note"] = "rewritten".into();
    altered[99] = entry.to_string();
    let (snapshots, state) =
        (files(&place.path("out/snapshots")), fs::read(place.path("out/warehouse/state.json")).unwrap());
    for lines in [chained(&altered, 99), whole[..150].to_vec(), chained(&altered, 99)[..150].to_vec()] {
        fs::write(place.path("export/ledger.jsonl"), lines.join("\n") + "\n").unwrap();
        let refused = place.night("out", &[]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(complaint(&refused).contains("--new-ledger"), "{}", complaint(&refused));
        assert_eq!(fs::read(place.path("out/warehouse/state.json")).unwrap(), state);
        assert_eq!(files(&place.path("out/snapshots")), snapshots);
    }
    assert_success(&place.load("out/warehouse", &["--new-ledger"]));
}

#[test]
fn a_run_without_a_key_refuses_and_a_throwaway_key_says_so() {
    let place = Place::new("small");
    let arguments =
        ["run", "--export", "export", "--out", "out", "--salt-file", "export/anchor.salt", "--as-of", AS_OF];
    let refused = place.bureau(&arguments);
    assert_eq!(refused.status.code(), Some(2));
    assert!(complaint(&refused).contains("--key FILE"));
    let output = place.bureau(&[&arguments[..], &["--throwaway-key"]].concat());
    assert_success(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("throwaway key"));
}

#[test]
fn a_made_key_is_private_and_pins_its_snapshots() {
    let place = Place::new("small");
    let mode = fs::metadata(place.path("key.pem")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(place.bureau(&["keygen", "--out", "key.pem"]).status.code(), Some(1));
    place.make_key("other");
    assert_success(&place.night("out", &[]));
    let kid = fs::read_to_string(place.snapshot("out").join("keys.json")).unwrap();
    let kid: serde_json::Value = serde_json::from_str(&kid).unwrap();
    let kid = kid["keys"][0]["kid"].as_str().unwrap();
    let snapshot = "out/snapshots/latest";
    assert_success(&place.bureau(&["check", snapshot]));
    assert_success(&place.bureau(&["check", snapshot, "--key", "key.pub"]));
    assert_success(&place.bureau(&["check", snapshot, "--kid", kid]));
    assert_eq!(place.bureau(&["check", snapshot, "--key", "other.pub"]).status.code(), Some(1));
    assert_success(&place.bureau(&["check", snapshot, "--at", "2026-12-01T01:59:59.999Z"]));
    assert_eq!(place.bureau(&["check", snapshot, "--at", "2026-12-01T02:00:00Z"]).status.code(), Some(1));
}

#[test]
fn a_changed_byte_anywhere_fails_the_check_and_names_the_file() {
    let place = Place::new("small");
    assert_success(&place.night("out", &[]));
    for (path, bytes) in files(&place.snapshot("out")) {
        for at in [0, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(place.snapshot("out").join(&path), &changed).unwrap();
            let output = place.bureau(&["check", "out/snapshots/latest"]);
            assert_eq!(output.status.code(), Some(1), "{} at {at}", path.display());
            let said = complaint(&output);
            assert!(said.contains(path.to_str().unwrap()), "{}: {said}", path.display());
            // What the change is, and in a file of documents what follows from it.
            assert!(said.lines().count() <= 2, "{}: {said}", path.display());
        }
        fs::write(place.snapshot("out").join(&path), &bytes).unwrap();
    }
    assert_success(&place.bureau(&["check", "out/snapshots/latest"]));
}

#[test]
fn a_night_builds_on_the_audit_before_and_finds_what_a_full_one_finds() {
    let place = Place::new("attacks");
    let ledger = fs::read_to_string(place.path("export/ledger.jsonl")).unwrap();
    let lines: Vec<&str> = ledger.split_inclusive('\n').collect();
    fs::write(place.path("export/ledger.jsonl"), lines[..2500].concat()).unwrap();
    assert_success(&place.load("w", &[]));
    place.bureau(&["audit", "--warehouse", "w", "--as-of", "2026-11-01T00:00:00Z"]);
    fs::write(place.path("export/ledger.jsonl"), &ledger).unwrap();
    assert_success(&place.load("w", &[]));
    let findings = |more: &[&str]| {
        let output = place.bureau(&[&["audit", "--warehouse", "w", "--as-of", AS_OF][..], more].concat());
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        (fs::read_to_string(place.path("w/findings.jsonl")).unwrap(), log.contains("every entry anew"))
    };
    let (night, anew) = findings(&[]);
    assert!(!anew);
    assert_eq!(findings(&["--full"]).0, night);
    // What was left by another program, or for another ledger, is not built on, and the audit says so.
    let left = place.path("w/last-audit/audit.json");
    for (is, becomes) in [("\"program\": \"", "\"program\": \"0."), ("\"entry_hash\": \"", "\"entry_hash\": \"A")] {
        let text = fs::read_to_string(&left).unwrap();
        fs::write(&left, text.replace(is, becomes)).unwrap();
        assert_eq!(findings(&[]), (night.clone(), true));
    }
}

#[test]
fn documents_of_another_load_are_not_published() {
    let place = Place::new("small");
    assert_success(&place.night("out", &[]));
    assert_success(&place.load("out/warehouse", &[]));
    let stale = place.bureau(&["publish", "--warehouse", "out/warehouse", "--out", "other", "--key", "key.pem"]);
    assert_eq!(stale.status.code(), Some(1));
    assert!(complaint(&stale).contains("bureau audit"), "{}", complaint(&stale));
    assert!(!place.path("other/snapshots").exists());
}

#[test]
fn a_result_that_nobody_takes_is_said_to_be_lost_and_a_dead_log_stops_nothing() {
    let place = Place::new("small");
    assert_success(&place.night("out", &[]));
    let run = |script: &str| {
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", script, env!("CARGO_BIN_EXE_bureau")]).current_dir(place.path(".")).output().unwrap()
    };
    assert_eq!(run("\"$0\" check --json out/snapshots/latest >/dev/full").status.code(), Some(3));
    assert_eq!(run("\"$0\" check out/snapshots/latest 2>/dev/full").status.code(), Some(0));
    assert_eq!(run("\"$0\" check nowhere 2>/dev/full").status.code(), Some(1));
}
