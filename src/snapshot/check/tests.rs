//! What a check must find.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::document;
use super::super::history::KeySet;
use super::super::keys::BureauKey;
use super::super::publish::{Options, publish};
use super::super::testing::{NEXT, T, draft, key, reports};
use super::*;

pub(super) fn published(folder: &Path) -> PathBuf {
    let key = key();
    let draft = draft(&folder.join("in"), T, &reports(T));
    publish(&folder.join("out"), &draft, &key, &KeySet::current(key.public()), Options::default()).unwrap().path
}

pub(super) fn told(faults: &[CheckFault]) -> String {
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

#[test]
fn a_whole_snapshot_is_told_in_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    let pins =
        [Pin::Key(key().public().clone()), Pin::from_kid("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k").unwrap()];
    for pin in pins.iter().map(Some).chain([None]) {
        let summary = check(&path, pin, Some(T)).unwrap_or_else(|faults| panic!("{}", told(&faults)));
        assert_eq!(
            (summary.files, summary.signatures, summary.tables, summary.table_rows, summary.keys),
            (10, 11, 1, 2, 1)
        );
        assert_eq!(summary.documents["reports"], 4);
        assert_eq!(summary.pinned, pin.is_some());
        let on_disk: u64 = walk(&path).iter().map(|file| fs::metadata(path.join(file)).unwrap().len()).sum();
        assert_eq!(summary.bytes, on_disk);
    }
    // Through the link that readers use, too.
    check(&folder.path().join("out/latest"), None, None).unwrap();
}

fn walk(path: &Path) -> Vec<String> {
    tree::files(path, &mut Faults::default())
}

#[test]
fn a_changed_byte_anywhere_is_found_and_its_file_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    let mut lines_named = 0;
    for file in walk(&path) {
        let whole = fs::read(path.join(&file)).unwrap();
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1 << (place % 8);
            fs::write(path.join(&file), &changed).unwrap();
            let faults = check(&path, None, None).expect_err(&format!("{file} byte {place}"));
            assert!(faults.iter().any(|fault| fault.file == file), "{file} byte {place}: {}", told(&faults));
            lines_named += u32::from(faults.iter().any(|fault| fault.file == file && fault.line.is_some()));
        }
        for changed in [&whole[..whole.len() - 1], &[whole.as_slice(), b"x"].concat(), b""] {
            fs::write(path.join(&file), changed).unwrap();
            let faults = check(&path, None, None).expect_err(&file);
            assert!(faults.iter().any(|fault| fault.file == file), "{file}: {}", told(&faults));
        }
        fs::write(path.join(&file), &whole).unwrap();
    }
    assert!(lines_named > 1000);
    check(&path, None, None).unwrap();
}

/// Rewrites a compressed file by its lines and signs a new manifest over it, as a bureau that means harm would.
fn resign(path: &Path, file: &str, edit: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let content = zstd::decode_all(&fs::read(path.join(file)).unwrap()[..]).unwrap();
    let mut lines: Vec<Vec<u8>> = content.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.pop();
    edit(&mut lines);
    let content: Vec<u8> = lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect();
    fs::write(path.join(file), zstd::encode_all(&content[..], 3).unwrap()).unwrap();
    remanifest(path, |manifest| {
        let entry = manifest.files.iter_mut().find(|entry| entry.path == file).unwrap();
        entry.rows = Some(lines.len() as u64);
        entry.content_sha256 = Some(sha256(&content));
    });
}

fn sha256(bytes: &[u8]) -> String {
    let mut digest = Digesting::new(io::sink());
    io::Write::write_all(&mut digest, bytes).unwrap();
    digest.finish().1
}

/// Signs the manifest again with right digests, after `edit`.
fn remanifest(path: &Path, edit: impl FnOnce(&mut Manifest)) {
    let mut manifest = Manifest::unverified(&fs::read(path.join(MANIFEST)).unwrap()).unwrap();
    for entry in &mut manifest.files {
        if let Ok(bytes) = fs::read(path.join(&entry.path)) {
            (entry.sha256, entry.bytes) = (sha256(&bytes), bytes.len() as u64);
        }
    }
    edit(&mut manifest);
    let bytes = manifest.signed(&key());
    fs::write(path.join(MANIFEST), &bytes).unwrap();
    fs::write(path.join(SUMS), manifest.sums(&sha256(&bytes))).unwrap();
}

#[test]
fn a_file_of_documents_is_held_to_its_lines_even_under_a_new_manifest() {
    type Edit = fn(&mut Vec<Vec<u8>>);
    let cases: [(&str, Edit, Option<u64>, &str); 8] = [
        (
            "a figure changed",
            |lines| lines[1] = text(&lines[1]).replace("0.123456", "0.923456").into(),
            Some(2),
            "bureau_sig does not verify",
        ),
        ("two lines swapped", |lines| lines.swap(1, 2), Some(3), "is not sorted"),
        ("a line twice", |lines| lines.insert(1, lines[0].clone()), Some(2), "stands twice"),
        ("an empty line", |lines| lines.push(Vec::new()), Some(5), "not a signed document"),
        (
            "spelt with a space",
            |lines| lines[3] = text(&lines[3]).replace("\"report\":", "\"report\": ").into(),
            Some(4),
            "bureau_sig",
        ),
        ("another key", |lines| lines[2] = signed_by_a_stranger(&lines[2]), Some(3), "bureau_kid is not in keys.json"),
        (
            "of another day",
            |lines| lines[0] = signed_anew(&lines[0], "2026-11-30T00:00:00.000Z", "2026-11-29T00:00:00.000Z"),
            Some(1),
            "issued_at",
        ),
        (
            "not canonical, signed",
            |lines| lines[0] = signed_anew(&lines[0], "0.5", "0.50"),
            Some(1),
            "not in canonical form",
        ),
    ];
    for (name, edit, line, message) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = published(folder.path());
        resign(&path, "reports.jsonl.zst", edit);
        let faults = check(&path, None, None).expect_err(name);
        assert_eq!(faults.len(), 1, "{name}: {}", told(&faults));
        assert_eq!((faults[0].file.as_str(), faults[0].line), ("reports.jsonl.zst", line), "{name}: {}", told(&faults));
        assert!(faults[0].message.contains(message), "{name}: {}", told(&faults));
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8(line.to_vec()).unwrap()
}

fn signed_anew(line: &[u8], from: &str, to: &str) -> Vec<u8> {
    let inner = text(document::split(line, "report").unwrap().inner).replacen(from, to, 9);
    document::sign_line(&key(), "fdbk-report-v1", "report", inner.as_bytes())
}

fn signed_by_a_stranger(line: &[u8]) -> Vec<u8> {
    document::sign_line(
        &BureauKey::generate().unwrap(),
        "fdbk-report-v1",
        "report",
        document::split(line, "report").unwrap().inner,
    )
}

#[test]
fn the_pinned_key_is_the_one_that_must_have_signed() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    let stranger = BureauKey::generate().unwrap();
    for pin in [Pin::Key(stranger.public().clone()), Pin::Kid(stranger.public().kid())] {
        let faults = check(&path, Some(&pin), None).unwrap_err();
        assert!(faults.len() == 1 && faults[0].message.contains("not the pinned key"), "{}", told(&faults));
    }
    let file = folder.path().join("key");
    for (written, good) in [
        (key().public().base64(), true),
        (format!("  {}\n", key().public().base64()), true),
        (key().public().jwk_x(), false),
        (key().public().base64().replace('=', ""), false),
        (super::super::testing::RFC8037_PEM.to_owned(), false),
        ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned(), false),
    ] {
        fs::write(&file, &written).unwrap();
        assert_eq!(Pin::from_file(&file).is_ok(), good, "{written}");
    }
    assert!(Pin::from_kid("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4").is_err());
}

#[test]
fn reports_expire_only_for_a_reader_who_says_when() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    let expiry = T + 26 * 3_600_000;
    check(&path, None, Some(expiry - 1)).unwrap();
    let faults = check(&path, None, Some(expiry)).unwrap_err();
    assert_eq!(faults.len(), 9, "every document but the screening provider's: {}", told(&faults));
    assert!(
        faults
            .iter()
            .all(|fault| { fault.line.is_some() && fault.message.contains("expired at 2026-12-01T02:00:00.000Z") })
    );
    assert!(told(&check(&path, None, Some(T - 1)).unwrap_err()).contains("later than"));
    assert!(check(&path, None, Some(NEXT + NEXT)).is_err());
}

#[test]
fn nothing_stands_in_a_snapshot_that_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    type Change = fn(&Path);
    let strange: [(&str, Change); 6] = [
        ("notes.txt", |path| fs::write(path.join("notes.txt"), "x").unwrap()),
        ("tables/b.parquet", |path| fs::write(path.join("tables/b.parquet"), "x").unwrap()),
        (".hidden", |path| fs::write(path.join(".hidden"), "x").unwrap()),
        ("empty", |path| fs::create_dir(path.join("empty")).unwrap()),
        ("tables/deep", |path| fs::create_dir(path.join("tables/deep")).unwrap()),
        ("link", |path| std::os::unix::fs::symlink("policy.json", path.join("link")).unwrap()),
    ];
    for (name, add) in strange {
        add(&path);
        let faults = check(&path, None, None).expect_err(name);
        assert!(faults.len() == 1 && faults[0].file == name, "{name}: {}", told(&faults));
        let added = path.join(name);
        if added.is_dir() { fs::remove_dir(added).unwrap() } else { fs::remove_file(added).unwrap() }
    }
    // A listed file may not be a link either, not even to the same bytes.
    fs::rename(path.join("policy.json"), folder.path().join("policy.json")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("policy.json"), path.join("policy.json")).unwrap();
    assert!(told(&check(&path, None, None).unwrap_err()).contains("policy.json: is neither a file"));
}

#[test]
fn no_path_of_a_manifest_leaves_the_snapshot() {
    for name in [
        "../in/reports.jsonl",
        "/etc/hostname",
        "tables/../policy.json",
        "a/b/c",
        "",
        "tables/",
        "x\ny",
        "manifest.json",
        "SHA256SUMS",
        "./policy.json",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = published(folder.path());
        remanifest(&path, |manifest| {
            let mut entry = manifest.files[0].clone();
            entry.path = name.to_owned();
            manifest.files.push(entry);
            manifest.files.sort_by(|a, b| a.path.cmp(&b.path));
        });
        let faults = check(&path, None, None).expect_err(name);
        assert!(
            faults.iter().all(|fault| fault.file == MANIFEST) && told(&faults).contains("no path"),
            "{name:?}: {}",
            told(&faults)
        );
        assert!(faults.iter().all(|fault| !fault.to_string().contains('\n')));
    }
}

#[test]
fn a_manifest_that_lies_is_found_where_it_lies() {
    type Lie = fn(&mut Manifest);
    let lies: [(&str, Lie, &str); 9] = [
        ("fewer rows", |m| entry(m, "reports.jsonl.zst").rows = Some(3), "reports.jsonl.zst:4: more rows"),
        ("more rows", |m| entry(m, "reports.jsonl.zst").rows = Some(5), "reports.jsonl.zst: 4 rows"),
        ("no rows", |m| entry(m, "reports.jsonl.zst").rows = None, "reports.jsonl.zst: more rows"),
        ("content digest", |m| entry(m, "reports.jsonl.zst").content_sha256 = None, "content_sha256"),
        (
            "table rows",
            |m| entry(m, "tables/reports.parquet").rows = Some(9),
            "tables/reports.parquet: 2 rows, the manifest says 9",
        ),
        ("policy digest", |m| m.policy_digest = "00".repeat(32), "policy_digest"),
        ("another T", |m| m.as_of = "2026-12-30T00:00:00.000Z".to_owned(), "issued_at is not 2026-12-30"),
        ("T spelt otherwise", |m| m.as_of = "2026-11-30T00:00:00Z".to_owned(), "as_of is not an instant"),
        (
            "another bureau",
            |m| m.bureau = "https://other.example".to_owned(),
            "reports.jsonl.zst:1: bureau is not the manifest's",
        ),
    ];
    for (name, lie, message) in lies {
        let folder = tempfile::tempdir().unwrap();
        let path = published(folder.path());
        remanifest(&path, lie);
        let faults = check(&path, None, None).expect_err(name);
        assert!(told(&faults).contains(message), "{name}: {}", told(&faults));
    }
}

fn entry<'a>(manifest: &'a mut Manifest, path: &str) -> &'a mut FileEntry {
    manifest.files.iter_mut().find(|entry| entry.path == path).unwrap()
}

#[test]
fn a_small_file_that_expands_to_a_large_one_is_left_early() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    // 16 GiB of newlines, and 16 GiB of one line, as a stranger would make them: a frame of runs, 128 KiB for four bytes.
    for byte in [b'\n', b'{'] {
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
        let run = |last: u32| ((128 << 10) << 3 | 1 << 1 | last).to_le_bytes();
        for _ in 0..(16_u64 << 30) / (128 << 10) {
            bomb.extend_from_slice(&run(0)[..3]);
            bomb.push(byte);
        }
        bomb.extend_from_slice(&run(1)[..3]);
        bomb.push(byte);
        fs::write(path.join("reports.jsonl.zst"), bomb).unwrap();
        remanifest(&path, |manifest| entry(manifest, "reports.jsonl.zst").rows = Some((1 << 53) - 1));
        let faults = check(&path, None, None).unwrap_err();
        assert!(faults[0].file == "reports.jsonl.zst" && faults[0].line == Some(1), "{}", told(&faults));
    }
}

#[test]
fn a_table_that_is_none_is_a_fault_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = published(folder.path());
    let file = path.join("tables/reports.parquet");
    let whole = fs::read(&file).unwrap();
    let footer = whole.len() - 1500.min(whole.len());
    for place in footer..whole.len() {
        for bit in [0, 3, 7] {
            let mut changed = whole.clone();
            changed[place] ^= 1 << bit;
            fs::write(&file, changed).unwrap();
            remanifest(&path, |_| {});
            // Some changes leave a footer that is well formed; none may bring the check down.
            if let Err(faults) = check(&path, None, None) {
                assert!(faults.iter().all(|fault| fault.file == "tables/reports.parquet"), "{}", told(&faults));
            }
        }
    }
    fs::write(&file, b"").unwrap();
    remanifest(&path, |_| {});
    assert!(told(&check(&path, None, None).unwrap_err()).contains("tables/reports.parquet: is not Parquet"));
}

#[test]
fn what_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(exit_code(&check(&folder.path().join("none"), None, None).unwrap_err()), 1);
    let path = published(folder.path());
    for file in walk(&path) {
        let bytes = fs::read(path.join(&file)).unwrap();
        fs::remove_file(path.join(&file)).unwrap();
        let faults = check(&path, None, None).unwrap_err();
        assert!(faults.iter().any(|fault| fault.file == file), "{file}: {}", told(&faults));
        fs::write(path.join(&file), bytes).unwrap();
    }
}
