//! Each fault of an export gives one clear error with its place, exit 1, and nothing published.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use bureau::ledger;
use serde_json::Value;

use crate::command::{Place, assert_success, chained, complaint};

/// A place whose ledger is a few entries of the small export, and its lines.
fn short() -> (Place, Vec<String>) {
    let place = Place::new("small");
    let text = fs::read_to_string(place.path("export/ledger.jsonl")).unwrap();
    let lines = text.lines().take(40).map(str::to_owned).collect();
    (place, lines)
}

fn write(place: &Place, lines: &[String]) {
    fs::write(place.path("export/ledger.jsonl"), lines.join("\n") + "\n").unwrap();
}

/// The run fails with exit 1, says all of `wanted`, and leaves nothing behind.
#[track_caller]
fn refused(place: &Place, wanted: &[&str]) {
    let output = place.night("out", &[]);
    let said = complaint(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in wanted {
        assert!(said.contains(part), "{part:?} is not in {said:?}");
    }
    assert!(!place.path("out/snapshots").exists());
    let parts = fs::read_dir(place.path("out/warehouse/ledger")).into_iter().flatten().count();
    assert_eq!(parts, 0, "a failed load leaves no part");
}

#[test]
fn a_missing_file_is_named() {
    for file in ["ledger.jsonl", "identities.jsonl", "reporters.jsonl", "policy.toml"] {
        let (place, _) = short();
        fs::remove_file(place.path("export").join(file)).unwrap();
        refused(&place, &[file.trim_end_matches(".jsonl")]);
    }
}

#[test]
fn an_empty_ledger_is_none() {
    let (place, _) = short();
    fs::write(place.path("export/ledger.jsonl"), "").unwrap();
    refused(&place, &["the ledger is empty"]);
}

#[test]
fn a_fault_of_a_line_is_named_by_file_line_and_byte() {
    let (place, lines) = short();
    let offset: usize = lines[..6].iter().map(|line| line.len() + 1).sum();
    let spoilt: [(&str, Vec<u8>); 9] = [
        ("", b"{\"seq\":7,".to_vec()),
        ("", b"not json".to_vec()),
        ("", b"{\"seq\":7}{\"seq\":8}".to_vec()),
        ("", b"{\"a\":\"\xff\"}".to_vec()),
        ("", b"\xef\xbb\xbf{}".to_vec()),
        ("duplicate", b"{\"a\":1,\"b\":2,\"\\u0061\":3}".to_vec()),
        ("", b"{\"a\":1e400}".to_vec()),
        ("", b"{\"a\":9007199254740992}".to_vec()),
        ("", b"{\"a\":\"\\ud800\"}".to_vec()),
    ];
    for (word, line) in spoilt {
        let mut bytes = lines[..6].join("\n").into_bytes();
        bytes.push(b'\n');
        bytes.extend(&line);
        bytes.push(b'\n');
        bytes.extend(lines[7..].join("\n").into_bytes());
        bytes.push(b'\n');
        fs::write(place.path("export/ledger.jsonl"), bytes).unwrap();
        let output = place.night("out", &[]);
        let said = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("bureau: ledger.jsonl:7: byte ") && said.contains(word), "{said}");
        let byte: usize = said["bureau: ledger.jsonl:7: byte ".len()..].split(':').next().unwrap().parse().unwrap();
        assert!((offset..=offset + line.len()).contains(&byte), "{byte} is not in the line at {offset}");
        assert!(!place.path("out/snapshots").exists());
    }
}

#[test]
fn ten_faults_are_reported_together() {
    let (place, mut lines) = short();
    for index in (3..23).step_by(2) {
        lines[index].truncate(20);
    }
    write(&place, &lines);
    let said = complaint(&place.night("out", &[]));
    let places: Vec<&str> = said.lines().map(|line| line.split(": byte").next().unwrap()).collect();
    let wanted: Vec<String> = (4..24).step_by(2).map(|line| format!("bureau: ledger.jsonl:{line}")).collect();
    assert_eq!(places, wanted);
}

#[test]
fn a_truncated_frame_is_refused() {
    let place = Place::new("policy");
    let path = place.path("export/ledger/000001.jsonl.zst");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1000]).unwrap();
    refused(&place, &["000001.jsonl.zst", "truncated or damaged"]);
}

#[test]
fn the_first_break_of_the_chain_is_named_with_how_many_follow() {
    let swap = |lines: &mut Vec<String>| lines.swap(10, 11);
    let repeat = |lines: &mut Vec<String>| lines.insert(11, lines[10].clone());
    let leave_out = |lines: &mut Vec<String>| drop(lines.remove(10));
    let alter = |lines: &mut Vec<String>| {
        let mut entry: Value = serde_json::from_str(&lines[10]).unwrap();
        entry["subject"] = "Someone.else@example.org".into();
        lines[10] = entry.to_string();
    };
    let forge = |lines: &mut Vec<String>| {
        let mut entry: Value = serde_json::from_str(&lines[10]).unwrap();
        entry["entry_hash"] = ledger::NO_HASH.into();
        lines[10] = entry.to_string();
    };
    let relink = |lines: &mut Vec<String>| {
        let mut entry: Value = serde_json::from_str(&lines[10]).unwrap();
        entry["prev_hash"] = ledger::NO_HASH.into();
        lines[10] = entry.to_string();
    };
    type Change<'a> = &'a dyn Fn(&mut Vec<String>);
    let changes: [(Change<'_>, &str, &str); 6] = [
        (&swap, "ledger.jsonl", "11"),
        (&repeat, "ledger.jsonl", "12"),
        (&leave_out, "ledger.jsonl", "11"),
        (&alter, "chain.hash", "11"),
        (&forge, "chain.hash", "11"),
        (&relink, "chain.", "11"),
    ];
    for (change, word, line) in changes {
        let (place, mut lines) = short();
        change(&mut lines);
        write(&place, &lines);
        refused(&place, &[word, line, "chain."]);
    }
}

#[test]
fn a_fault_of_an_entry_s_members_is_a_finding() {
    let no_instant = |entry: &mut Value| entry["at"] = "2026-02-30T00:00:00Z".into();
    let local = |entry: &mut Value| entry["at"] = "2026-02-03T00:00:00".into();
    let wrong_type = |entry: &mut Value| entry["subject"] = 7.into();
    let missing = |entry: &mut Value| entry["detail"] = serde_json::json!({});
    type Change<'a> = &'a dyn Fn(&mut Value);
    let changes: [Change<'_>; 4] = [&no_instant, &local, &wrong_type, &missing];
    for change in changes {
        let (place, mut lines) = short();
        let mut entry: Value = serde_json::from_str(&lines[39]).unwrap();
        change(&mut entry);
        lines[39] = entry.to_string();
        let lines = chained(&lines, 39);
        write(&place, &lines);
        let output = place.night("out", &[]);
        assert_eq!(output.status.code(), Some(1));
        let findings = fs::read_to_string(place.path("out/warehouse/findings.jsonl")).unwrap();
        let schema: Vec<&str> = findings.lines().filter(|line| line.contains("entry.schema")).collect();
        assert_eq!(schema.len(), 1, "{findings}");
        assert!(schema[0].contains("\"seq\":40"), "{findings}");
        assert!(!place.path("out/snapshots").exists());
    }
}

#[test]
fn an_offset_is_an_instant_and_keeps_it() {
    let (place, lines) = short();
    let mut entry: Value = serde_json::from_str(&lines[39]).unwrap();
    let at = bureau::instant::parse(entry["at"].as_str().unwrap()).unwrap();
    let shifted = bureau::instant::format(at + 2 * 3_600_000).replace('Z', "+02:00");
    entry["at"] = shifted.into();
    let mut lines = lines;
    lines[39] = entry.to_string();
    write(&place, &chained(&lines, 39));
    assert_success(&place.night("out", &["--publish-with-findings"]));
    let findings = fs::read_to_string(place.path("out/warehouse/findings.jsonl")).unwrap();
    assert!(!findings.contains("entry.schema"), "{findings}");
}

#[test]
fn a_policy_out_of_its_bounds_is_refused_with_the_bound() {
    for (line, wanted) in [
        ("cooling_off_days = 13", "14"),
        ("sender_threshold = 2", "3"),
        ("half_life_days = 0", "half_life_days"),
        ("half_life = 60", "half_life"),
        ("failed_value = 0.15", "failed_value"),
        ("value_weight = 1.1", "1"),
    ] {
        let (place, _) = short();
        let policy = format!("bureau = \"https://bureau.example\"\n{line}\n");
        fs::write(place.path("export/policy.toml"), policy).unwrap();
        refused(&place, &["policy.toml:2", wanted]);
    }
}

#[test]
fn faults_of_the_other_inputs_are_reported_together() {
    let (place, _) = short();
    let path = place.path("export/identities.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[2] = "{}";
    lines[4] = "[]";
    fs::write(&path, lines.join("\n")).unwrap();
    refused(&place, &["identities.jsonl:3", "identities.jsonl:5"]);
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let (place, _) = short();
    fs::set_permissions(place.path("key.pem"), fs::Permissions::from_mode(0o640)).unwrap();
    refused(&place, &["key.pem", "600"]);
}

#[test]
fn a_disk_that_is_full_is_the_machine_s_fault_and_leaves_the_old_snapshot() {
    let place = Place::new("small");
    assert_success(&place.night("out", &[]));
    let before = crate::command::files(&place.path("out/snapshots"));
    // A limit on the size of files stands for the disk: the write fails where it would.
    let script = "ulimit -f 40; trap '' XFSZ; exec \"$0\" \"$@\"";
    let output = std::process::Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_bureau")])
        .args(["run", "--export", "export", "--out", "out", "--as-of", "2026-12-01T00:00:00Z"])
        .args(["--salt-file", "export/anchor.salt", "--key", "key.pem"])
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(complaint(&output).lines().count(), 1, "{}", complaint(&output));
    assert_eq!(crate::command::files(&place.path("out/snapshots")), before);
    assert_success(&place.night("out", &[]));
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    let (place, _) = short();
    for arguments in
        [&["run"][..], &["nothing"], &["run", "--as-of", "yesterday"], &["audit", "--warehouse", "w", "--memory", "1"]]
    {
        assert_eq!(place.bureau(arguments).status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(place.bureau(&["audit", "--warehouse", "w"]).status.code(), Some(1));
}
