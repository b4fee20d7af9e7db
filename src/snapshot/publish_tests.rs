//! The rules of 3.3 on what may be published, and what is seen of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::super::check::check;
use super::super::fsys::Real;
use super::super::keys::BureauKey;
use super::super::testing::{NEXT, T, draft, key, report, reports};
use super::*;

pub(super) struct House {
    folder: TempDir,
    key: BureauKey,
}

impl House {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), key: key() }
    }

    pub(super) fn out(&self) -> PathBuf {
        self.folder.path().join("a/snapshots")
    }

    pub(super) fn draft(&self, as_of: i64, reports: &[Value]) -> Draft {
        draft(&self.folder.path().join(format!("in-{as_of}")), as_of, reports)
    }

    pub(super) fn run(&self, as_of: i64, reports: &[Value], options: Options) -> Result<Published, SnapshotError> {
        self.run_through(&Real, &self.draft(as_of, reports), options)
    }

    pub(super) fn run_through(
        &self,
        seam: &dyn Seam,
        draft: &Draft,
        options: Options,
    ) -> Result<Published, SnapshotError> {
        publish_through(seam, &self.out(), draft, &self.key, &KeySet::current(self.key.public()), options)
    }

    pub(super) fn latest(&self) -> String {
        fs::read_link(self.out().join("latest")).unwrap().to_str().unwrap().to_owned()
    }

    /// What a reader sees in the directory.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(self.out()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".lock");
        names.sort();
        names
    }
}

pub(super) const REPLACE: Options = Options { replace: true, allow_fewer: false };
const FEWER: Options = Options { replace: false, allow_fewer: true };
pub(super) const PLAIN: Options = Options { replace: false, allow_fewer: false };

/// Every file with its bytes and the time it was last changed.
fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            continue;
        }
        if kind.is_dir() {
            all.extend(contents(&entry.path()));
        } else {
            all.push((entry.path(), fs::read(entry.path()).unwrap(), entry.metadata().unwrap().modified().unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_folder_is_named_after_its_instant_and_no_two_instants_share_a_name() {
    assert_eq!(directory_name(T).as_deref(), Some("2026-11-30T00-00-00Z"));
    assert_eq!(directory_name(T + 250).as_deref(), Some("2026-11-30T00-00-00.250Z"));
    assert_eq!(directory_name(T + 1).as_deref(), Some("2026-11-30T00-00-00.001Z"));
    assert_eq!(directory_name(i64::MAX), None);
    for as_of in [T, T + 1, T + 999, T + 1000, 0, -1] {
        assert_eq!(previous::instant_of(&directory_name(as_of).unwrap()), Some(as_of));
    }
    for name in [
        "2026-11-30T00:00:00Z",
        "2026-11-30T00-00-00.000Z",
        "2026-11-30T00-00-00z",
        "2026-11-30",
        "latest",
        "2026-11-30T01-00-00+01-00",
        "é",
    ] {
        assert_eq!(previous::instant_of(name), None, "{name}");
    }
}

#[test]
fn a_night_is_published_and_the_same_night_again_changes_nothing() {
    let house = House::new();
    let first = house.run(T, &reports(T), PLAIN).unwrap();
    assert_eq!((first.outcome, first.path.clone()), (Outcome::New, house.out().join("2026-11-30T00-00-00Z")));
    assert_eq!(
        (first.latest.clone(), first.documents["reports"], first.documents["ratings"]),
        (first.path.clone(), 4, 2)
    );
    assert_eq!(house.names(), ["2026-11-30T00-00-00Z", "latest"]);
    let before = contents(&house.out());
    let again = house.run(T, &reports(T), PLAIN).unwrap();
    assert_eq!((again.outcome, again.path), (Outcome::Unchanged, first.path.clone()));
    assert_eq!(contents(&house.out()), before);
    check(&house.out().join("latest"), None, None).unwrap();

    // Replacing with the same bytes is no replacement.
    assert_eq!(house.run(T, &reports(T), REPLACE).unwrap().outcome, Outcome::Unchanged);
    let sums = fs::read_to_string(first.path.join("SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count(), 9);
    let checked = std::process::Command::new("sha256sum")
        .args(["-c", "--strict", "SHA256SUMS"])
        .current_dir(&first.path)
        .output()
        .unwrap();
    assert!(checked.status.success());
}

#[test]
fn the_bytes_do_not_depend_on_the_threads() {
    let many: Vec<Value> =
        (0..5000).map(|n| report(T, &format!("agent-{n:05}@mail.example"), Some("c"), None)).collect();
    let run = |threads: usize| {
        let house = House::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let path = pool.install(|| house.run(T, &many, PLAIN)).unwrap().path;
        contents(&path)
            .into_iter()
            .map(|(file, bytes, _)| (file.strip_prefix(&path).unwrap().to_owned(), bytes))
            .collect::<Vec<_>>()
    };
    assert!(run(1) == run(4));
}

#[test]
fn other_bytes_for_the_same_night_are_refused_unless_told_to_replace() {
    let house = House::new();
    house.run(T, &reports(T), PLAIN).unwrap();
    let before = contents(&house.out());
    let mut other = reports(T);
    other[1]["quality"]["mean"] = 0.75.into();
    let refused = house.run(T, &other, PLAIN).unwrap_err();
    assert!(
        matches!(&refused, SnapshotError::Exists { differing, .. } if differing == "SHA256SUMS, manifest.json, reports.jsonl.zst"),
        "{refused}"
    );
    assert_eq!(refused.exit_code(), 1);
    assert_eq!(contents(&house.out()), before);
    assert_eq!(house.names(), ["2026-11-30T00-00-00Z", "latest"]);

    assert_eq!(house.run(T, &other, REPLACE).unwrap().outcome, Outcome::Replaced);
    assert_eq!(house.names(), ["2026-11-30T00-00-00Z", "latest"]);
    assert_eq!(house.latest(), "2026-11-30T00-00-00Z");
    check(&house.out().join("latest"), None, None).unwrap();
    assert_ne!(contents(&house.out()), before);
    assert_eq!(house.run(T, &other, PLAIN).unwrap().outcome, Outcome::Unchanged);

    // A byte that rotted, or a file that was added, is other bytes too.
    fs::write(house.out().join("latest/tables/extra"), "x").unwrap();
    assert!(house.run(T, &other, PLAIN).unwrap_err().to_string().contains("tables/extra"));
}

#[test]
fn a_report_never_disappears() {
    let newest = Some("2026-11-29T00:00:00.000Z");
    let next = reports(NEXT);
    let without = |index: usize| {
        next.iter().enumerate().filter(|(n, _)| *n != index).map(|(_, report)| report.clone()).collect::<Vec<_>>()
    };
    let with = |mut reports: Vec<Value>, more: &[Value]| {
        reports.extend_from_slice(more);
        reports.sort_by_key(|report| {
            (report["subject"].as_str().unwrap().to_owned(), report["capability"].as_str().map(str::to_owned))
        });
        reports
    };
    let new =
        [report(NEXT, "Zed.new@mail.example", None, None), report(NEXT, "Ada.new@mail.example", Some("c"), newest)];
    // (name, the next night's reports, what is refused)
    let cases: [(&str, Vec<Value>, Option<&str>); 9] = [
        ("all there", next.clone(), None),
        ("and more", with(next.clone(), &new), None),
        (
            "a subject enrolled: its facts-only report gave way",
            with(without(0), &[report(NEXT, "Audit.ana@mail.example", Some("c"), None)]),
            None,
        ),
        ("an unused capability dropped, others come", with(without(2), &new), None),
        ("an unused capability dropped, and fewer", without(2), Some("3 reports would be fewer than the 4")),
        (
            "a subject gone, as many others come",
            with(without(0), &new),
            Some("1 reports would disappear (Audit.ana@mail.example)"),
        ),
        (
            "a pool with events gone",
            with(without(1), &new),
            Some("1 reports would disappear (Coder.kim@mail.example / code-review)"),
        ),
        (
            "the last one gone",
            with(without(3), &new[1..]),
            Some("1 reports would disappear (Δelta.é@mail.example / 🧪lab)"),
        ),
        ("all gone", Vec::new(), Some("4 reports would disappear")),
    ];
    for (name, reports_next, refused) in cases {
        let house = House::new();
        house.run(T, &reports(T), PLAIN).unwrap();
        let outcome = house.run(NEXT, &reports_next, PLAIN);
        match refused {
            None => assert!(outcome.is_ok(), "{name}: {:?}", outcome.err().map(|fault| fault.to_string())),
            Some(message) => {
                let fault = outcome.expect_err(name);
                assert!(fault.to_string().contains(message) && fault.exit_code() == 1, "{name}: {fault}");
                assert_eq!(house.names(), ["2026-11-30T00-00-00Z", "latest"], "{name}");
                house.run(NEXT, &reports_next, FEWER).unwrap();
                assert_eq!(house.latest(), "2026-12-01T00-00-00Z");
            }
        }
    }
}

#[test]
fn a_report_that_gave_way_is_counted() {
    let house = House::new();
    house.run(T, &[report(T, "a", None, None), report(T, "b", None, None)], PLAIN).unwrap();
    let next =
        [report(NEXT, "a", Some("c"), None), report(NEXT, "b", Some("c"), None), report(NEXT, "b", Some("d"), None)];
    assert_eq!(house.run(NEXT, &next, PLAIN).unwrap().gave_way, 2);
}

#[test]
fn a_rating_never_disappears_either() {
    let house = House::new();
    house.run(T, &reports(T), PLAIN).unwrap();
    let mut next = house.draft(NEXT, &reports(NEXT));
    next.documents.retain(|(kind, _)| *kind != Kind::Rating);
    let refused = house.run_through(&Real, &next, PLAIN).unwrap_err();
    assert!(refused.to_string().contains("2 ratings would disappear (a1, a2)"), "{refused}");
    house.run_through(&Real, &next, FEWER).unwrap();
}

#[test]
fn an_older_night_is_published_and_latest_stays() {
    let house = House::new();
    house.run(NEXT, &reports(NEXT), PLAIN).unwrap();
    // Fewer than the later night has, as it should be: it is measured by the night before it.
    let older = house.run(T, &reports(T)[..2], PLAIN).unwrap();
    assert_eq!((older.outcome, house.latest().as_str()), (Outcome::New, "2026-12-01T00-00-00Z"));
    assert_eq!(older.latest, house.out().join("2026-12-01T00-00-00Z"));
    assert!(house.run(T + 1, &reports(T + 1)[..1], PLAIN).is_err());

    // An operator who went back a night stays there until a later night comes.
    fs::remove_file(house.out().join("latest")).unwrap();
    std::os::unix::fs::symlink("2026-11-30T00-00-00Z", house.out().join("latest")).unwrap();
    house.run(T, &reports(T)[..2], PLAIN).unwrap();
    assert_eq!(house.latest(), "2026-11-30T00-00-00Z");
    house.run(NEXT, &reports(NEXT), PLAIN).unwrap();
    assert_eq!(house.latest(), "2026-12-01T00-00-00Z");

    // A link that names nothing is set to the latest there is.
    fs::remove_file(house.out().join("latest")).unwrap();
    std::os::unix::fs::symlink("gone", house.out().join("latest")).unwrap();
    house.run(T, &reports(T)[..2], PLAIN).unwrap();
    assert_eq!(house.latest(), "2026-12-01T00-00-00Z");
}

#[test]
fn what_is_not_ours_is_left_alone_and_what_is_in_the_way_is_told() {
    let house = House::new();
    for name in [".partial-notes", "notes", ".partial-2026-11-30T00:00:00Z"] {
        fs::create_dir_all(house.out().join(name)).unwrap();
    }
    fs::write(house.out().join(".partial-2026-11-29T00-00-00Z"), "a file").unwrap();
    fs::create_dir_all(house.out().join(".partial-2026-11-28T00-00-00Z/tables")).unwrap();
    house.run(T, &reports(T), PLAIN).unwrap();
    let left = [
        ".partial-2026-11-29T00-00-00Z",
        ".partial-2026-11-30T00:00:00Z",
        ".partial-notes",
        "2026-11-30T00-00-00Z",
        "latest",
        "notes",
    ];
    assert_eq!(house.names(), left);

    fs::remove_file(house.out().join("latest")).unwrap();
    fs::create_dir(house.out().join("latest")).unwrap();
    let refused = house.run(NEXT, &reports(NEXT), PLAIN).unwrap_err();
    assert!(refused.to_string().contains("latest: is no symbolic link"), "{refused}");
}

#[test]
fn one_run_publishes_at_a_time() {
    let house = House::new();
    house.run(T, &reports(T), PLAIN).unwrap();
    let held = lock(&house.out()).unwrap();
    let refused = house.run(NEXT, &reports(NEXT), PLAIN).unwrap_err();
    assert!(matches!(refused, SnapshotError::Busy(_)) && refused.exit_code() == 3);
    drop(held);
    house.run(NEXT, &reports(NEXT), PLAIN).unwrap();
}

#[test]
fn a_line_that_may_not_be_signed_is_told_with_its_place_and_nothing_is_left() {
    let cases: [(&[u8], u64, &str); 8] = [
        (b"{\"subject\":\"a\"", 1, "cut off"),
        (b"{\"bureau\":\"https://other.example\",\"issued_at\":\"2026-11-30T00:00:00.000Z\",\"subject\":\"a\"}\n", 1, "bureau is not"),
        (b"{\"expires_at\":\"soon\",\"issued_at\":\"2026-11-30T00:00:00.000Z\",\"subject\":\"a\"}\n", 1, "expires_at is not"),
        (b"{\"subject\":\"a\"}\n", 1, "issued_at"),
        (b"\n", 1, ""),
        (b"{\"capability\":null,\"issued_at\":\"2026-11-30T00:00:00.000Z\",\"subject\":\"a\"}\n{\"capability\":null,\"issued_at\":\"2026-11-30T00:00:00.000Z\",\"subject\":\"a\"}\n", 2, "stands twice"),
        (b"{\"capability\":\"\",\"issued_at\":\"2026-11-30T00:00:00.000Z\",\"subject\":\"a\"}\n{\"capability\":null,\"issued_at\":\"2026-11-30T00:00:00.000Z\",\"subject\":\"a\"}\n", 2, "not sorted"),
        (b"{\"subject\":\"a\",\"capability\":null,\"issued_at\":\"2026-11-30T00:00:00.000Z\"}\n", 1, "canonical"),
    ];
    for (text, at, message) in cases {
        let house = House::new();
        let draft = house.draft(T, &[]);
        fs::write(&draft.documents[0].1, text).unwrap();
        let refused = house.run_through(&Real, &draft, PLAIN).unwrap_err();
        assert!(
            matches!(&refused, SnapshotError::Document { line, reason, .. } if *line == at && reason.contains(message)),
            "{refused}"
        );
        assert!(house.names().is_empty());
    }
}

#[test]
fn a_key_that_has_signed_here_may_not_be_forgotten() {
    let house = House::new();
    house.run(T, &reports(T), PLAIN).unwrap();
    let rotated = House { folder: house.folder, key: BureauKey::generate().unwrap() };
    let refused = rotated.run(NEXT, &reports(NEXT), PLAIN).unwrap_err();
    assert!(
        refused.to_string().contains("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
            && refused.to_string().contains("--key-history"),
        "{refused}"
    );

    // The last keys.json, with an end written beside the key that goes, is the history.
    let mut history: Value =
        serde_json::from_slice(&fs::read(rotated.out().join("latest/keys.json")).unwrap()).unwrap();
    let file = rotated.folder.path().join("history.json");
    let publish_with = |as_of: i64| {
        let keys = KeySet::with_history(rotated.key.public(), &file)?;
        publish(&rotated.out(), &rotated.draft(as_of, &reports(as_of)), &rotated.key, &keys, PLAIN)
    };
    fs::write(&file, history.to_string()).unwrap();
    assert!(publish_with(NEXT).unwrap_err().to_string().contains("needs its end"));
    history["keys"][0]["valid_to"] = "2026-12-01T00:00:00Z".into();
    fs::write(&file, history.to_string()).unwrap();
    let path = publish_with(NEXT).unwrap().path;
    assert_eq!(check(&path, None, None).unwrap().keys, 2);
    // Its end does not move, and the key does not come back.
    history["keys"][0]["valid_to"] = "2027-12-01T00:00:00Z".into();
    fs::write(&file, history.to_string()).unwrap();
    assert!(publish_with(NEXT + 1).unwrap_err().to_string().contains("ended at 2026-12-01T00:00:00.000Z"));
    let old = House { folder: rotated.folder, key: key() };
    assert!(old.run(NEXT + 1, &reports(NEXT + 1), PLAIN).is_err());
}

#[test]
fn a_draft_that_cannot_be_is_refused_before_anything_is_written() {
    let house = House::new();
    let mut twice = house.draft(T, &reports(T));
    twice.tables.push(twice.tables[0].clone());
    assert!(
        house
            .run_through(&Real, &twice, PLAIN)
            .unwrap_err()
            .to_string()
            .contains("tables/reports.parquet is given twice")
    );
    let mut named = house.draft(T, &reports(T));
    named.tables[0].0 = "../x".to_owned();
    assert!(house.run_through(&Real, &named, PLAIN).is_err());
    assert!(
        house
            .run_through(
                &Real,
                &Draft { facts: RunFacts { as_of: i64::MAX, ..named.facts.clone() }, ..named.clone() },
                PLAIN
            )
            .is_err()
    );
    assert!(!house.out().exists());
    let missing =
        Draft { documents: vec![(Kind::Report, PathBuf::from("/nowhere/reports.jsonl"))], ..house.draft(T, &[]) };
    let fault = house.run_through(&Real, &missing, PLAIN).unwrap_err();
    assert!(fault.exit_code() == 3 && fault.to_string().contains("/nowhere/reports.jsonl"), "{fault}");
    assert!(house.names().is_empty());
}
