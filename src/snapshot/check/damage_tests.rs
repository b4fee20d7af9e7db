//! How a changed file is told: its digests first, and what follows from them counted.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::history::KeySet;
use super::super::publish::{Options, publish};
use super::super::testing::{T, draft, key, report, reports};
use super::tests::{published, told};
use super::*;

/// A snapshot with more reports than faults are told.
fn many(folder: &Path) -> PathBuf {
    let reports: Vec<_> =
        (0..300).map(|n| report(T, &format!("Agent.a{n:03}@mail.example"), Some("code-review"), None)).collect();
    let draft = draft(&folder.join("in"), T, &reports);
    publish(&folder.join("out"), &draft, &key(), &KeySet::current(key().public()), Options::default()).unwrap().path
}

fn digest(path: &Path) -> String {
    hex(&Sha256::digest(fs::read(path).unwrap()))
}

/// Changes a byte in the middle of a file; gives the digests before and after.
fn change(path: &Path) -> (String, String) {
    let (mut bytes, before) = (fs::read(path).unwrap(), digest(path));
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
    (before, digest(path))
}

#[track_caller]
fn leads(fault: &CheckFault, file: &str, (expected, found): &(String, String)) {
    let line = format!(
        "{file}: its sha256 is {found}, the manifest says {expected}: it was changed; fetch or publish the snapshot anew"
    );
    assert_eq!(fault.to_string(), line);
}

#[test]
fn a_changed_byte_is_one_line_with_both_digests_and_a_count_of_what_follows() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    check(&path, None, None).unwrap();
    // The content is written anew under the old manifest: its first line 300 times, of which 299 are out of order.
    let file = path.join("reports.jsonl.zst");
    let before = digest(&file);
    let content = zstd::decode_all(&fs::read(&file).unwrap()[..]).unwrap();
    let first = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    fs::write(&file, zstd::encode_all(&content[..first].repeat(300)[..], 3).unwrap()).unwrap();
    let digests = (before, digest(&file));
    let evaluators = change(&path.join("evaluators.jsonl.zst"));
    let table = change(&path.join("tables/reports.parquet"));
    let faults = check(&path, None, None).unwrap_err();
    let of = |name: &str| -> Vec<&CheckFault> { faults.iter().filter(|fault| fault.file == name).collect() };
    let told_of = of("reports.jsonl.zst");
    assert_eq!(told_of.len(), 2, "{}", told(&faults));
    leads(told_of[0], "reports.jsonl.zst", &digests);
    let follows = told_of[1].to_string();
    assert!(follows.starts_with("reports.jsonl.zst: has "), "{follows}");
    assert!(follows.ends_with("; this follows from the change, as do 299 more faults of the file"), "{follows}");
    // The other files are checked all the same.
    leads(of("evaluators.jsonl.zst")[0], "evaluators.jsonl.zst", &evaluators);
    leads(of("tables/reports.parquet")[0], "tables/reports.parquet", &table);
    assert!(faults.len() <= 5 && exit_code(&faults) == 1, "{}", told(&faults));
}

#[test]
fn changed_keys_condemn_no_document() {
    let folder = tempfile::tempdir().unwrap();
    let alone = String::from_utf8(KeySet::current(key().public()).to_json()).unwrap();
    let since = alone.replace("\"x\":", "\"valid_from\":\"2026-01-01T00:00:00.000Z\",\"x\":");
    let keys = KeySet::parse(since.as_bytes()).unwrap();
    let draft = draft(&folder.path().join("in"), T, &reports(T));
    let path = publish(&folder.path().join("out"), &draft, &key(), &keys, Options::default()).unwrap().path;
    check(&path, None, None).unwrap();
    let before = digest(&path.join(KEYS));
    // Still a key set in good form, by which no document could be signed yet.
    fs::write(path.join(KEYS), since.replace("2026-01-01", "2027-01-01")).unwrap();
    let faults = check(&path, None, None).unwrap_err();
    assert_eq!(faults.len(), 1, "{}", told(&faults));
    leads(&faults[0], KEYS, &(before, digest(&path.join(KEYS))));
}

#[test]
fn a_file_that_grew_or_was_cut_off_is_told_by_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    let file = path.join("reports.jsonl.zst");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, [whole.as_slice(), b"x"].concat()).unwrap();
    let faults = check(&path, None, None).unwrap_err();
    assert!(
        faults.len() == 1 && faults[0].message.ends_with("fetch or publish the snapshot anew"),
        "{}",
        told(&faults)
    );
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let faults = check(&path, None, None).unwrap_err();
    assert_eq!(faults.len(), 2, "{}", told(&faults));
    let lengths = format!("has {} bytes, the manifest says {};", whole.len() / 2, whole.len());
    assert!(faults[1].message.starts_with(&lengths), "{}", told(&faults));
}

#[test]
fn a_stranger_s_words_do_not_reach_the_terminal_raw() {
    let mut faults = Faults::default();
    faults.differs("a\u{1b}[2J", "\u{1b}[31m", &"0".repeat(64));
    faults.add("b", None, "says \u{1b}]0;x\u{7}");
    let told = told(&faults.finish());
    assert!(told.lines().count() == 2 && told.contains("no digest"), "{told}");
    assert!(!told.contains(|c: char| c.is_control() && c != '\n'), "{told:?}");
}

#[test]
fn a_folder_in_the_manifest_s_place_is_the_snapshot_s_fault() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    fs::remove_file(path.join(MANIFEST)).unwrap();
    fs::create_dir(path.join(MANIFEST)).unwrap();
    let faults = check(&path, None, None).unwrap_err();
    assert_eq!(told(&faults), "manifest.json: cannot be read: it is a directory\n");
    assert_eq!(exit_code(&faults), 1);
}
