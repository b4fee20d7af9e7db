//! The audit from end to end: the fixtures' findings, and a night's audit against one from nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::engine::{Resources, Session};
use crate::export::{Export, ExportFile, read_whole};
use crate::identity::{AnchorHashes, Charters, Identities, Reporters, Salt};
use crate::instant;
use crate::policy::Policy;
use crate::warehouse::schema::{ACTIONS, LEDGER};
use crate::warehouse::{LoadOptions, Warehouse, load};

const AS_OF: &str = "2026-11-30T00:00:00Z";

/// An export that has been loaded.
struct Loaded {
    folder: TempDir,
    warehouse: Warehouse,
    given: Given,
}

/// What stands beside the ledger in an export.
struct Given {
    identities: Identities,
    charters: Charters,
    reporters: Reporters,
    policy: Policy,
    hashes: AnchorHashes,
}

fn read<T>(file: Option<&ExportFile>, parse: impl FnOnce(&str, Vec<(u64, Vec<u8>)>) -> T) -> T {
    let block = file.map(|file| read_whole(file).unwrap());
    let lines = block.iter().flat_map(|block| block.lines().map(|line| (line.number, line.bytes.to_vec())));
    parse("input", lines.collect())
}

macro_rules! parsed {
    ($kind:ident, $file:expr) => {
        read($file.as_ref(), |name, lines| {
            $kind::read(name, lines.iter().map(|(number, bytes)| (*number, bytes.as_slice()))).unwrap()
        })
    };
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn load_fixture(name: &str) -> Loaded {
    load_entries(name, usize::MAX)
}

/// The first entries of a fixture whose ledger is one plain file, or all of any.
fn load_entries(name: &str, entries: usize) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let root = fixture(name).join("export");
    let mut export = Export::open(&root).unwrap();
    if entries < usize::MAX {
        let text = std::fs::read_to_string(root.join("ledger.jsonl")).unwrap();
        export.ledger[0].path = folder.path().join("ledger.jsonl");
        let first: Vec<&str> = text.split_inclusive('\n').take(entries).collect();
        std::fs::write(&export.ledger[0].path, first.concat()).unwrap();
    }
    let mut warehouse = Warehouse::open_or_create(&folder.path().join("warehouse")).unwrap();
    load(&export, &mut warehouse, &LoadOptions { inputs: &[], new_ledger: false, anew: false, progress: &|_| () })
        .unwrap();
    let policy = std::fs::read_to_string(root.join("policy.toml")).unwrap();
    let salt = Salt::read(&root.join("anchor.salt")).unwrap();
    let identities = parsed!(Identities, export.identities);
    let given = Given {
        hashes: AnchorHashes::of(&identities, &salt),
        identities,
        charters: parsed!(Charters, export.charters),
        reporters: parsed!(Reporters, export.reporters),
        policy: Policy::parse(&policy, "policy.toml").unwrap(),
    };
    Loaded { folder, warehouse, given }
}

fn run(loaded: &Loaded, given: &Given, as_of: i64, previous: Option<Previous<'_>>) -> Audit {
    let resources = Resources::new(2, 1 << 30);
    let session = Session::open(&resources, &loaded.folder.path().join("spill")).unwrap();
    for table in ACTIONS.iter().chain([&LEDGER]) {
        let parts = loaded.warehouse.parts(table.name);
        match table.runs() {
            1 => session.register_parquet(table.name, &parts).unwrap(),
            _ => session.register_sliced(table.name, &parts).unwrap(),
        }
    }
    session.register_batch("policy", given.policy.table(as_of).unwrap()).unwrap();
    let scratch = loaded.folder.path().join("scratch");
    audit(
        &session,
        &Inputs {
            identities: &given.identities,
            charters: &given.charters,
            reporters: &given.reporters,
            policy: &given.policy,
            hashes: &given.hashes,
            as_of,
            scratch: &scratch,
            previous,
        },
    )
    .unwrap()
}

fn expected(name: &str) -> BTreeSet<(i64, String, String)> {
    let text = std::fs::read_to_string(fixture(name).join("expected/findings.jsonl")).unwrap();
    let finding = |line: &str| {
        let finding: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| finding[name].as_str().unwrap().to_owned();
        (finding["seq"].as_i64().unwrap(), text("rule"), text("severity"))
    };
    text.lines().filter(|line| !line.is_empty()).map(finding).collect()
}

fn found(audit: &Audit) -> BTreeSet<(i64, String, String)> {
    let findings = audit.findings().iter();
    findings.map(|f| (f.seq, f.rule.name().to_owned(), f.rule.severity().as_str().to_owned())).collect()
}

fn equals_expected(name: &str) -> Audit {
    let loaded = load_fixture(name);
    let audit = run(&loaded, &loaded.given, instant::parse(AS_OF).unwrap(), None);
    let (expected, found) = (expected(name), found(&audit));
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(&expected).collect();
    assert!(missing.is_empty() && extra.is_empty(), "{name}: missing {missing:?}, extra {extra:?}");
    audit
}

#[test]
fn a_clean_export_has_its_warnings_and_no_error() {
    for name in ["small", "policy"] {
        let audit = equals_expected(name);
        assert_eq!((audit.errors(), audit.warnings()), (0, 5), "{name}");
        assert!(!audit.withheld().is_empty(), "{name}");
    }
}

#[test]
fn every_attack_is_found_and_nothing_else() {
    let audit = equals_expected("attacks");
    let mut seqs: Vec<i64> = audit.findings().iter().map(|finding| finding.seq).collect();
    assert!(seqs.is_sorted());
    seqs.dedup();
    assert!(audit.withheld().iter().all(|seq| seqs.binary_search(seq).is_err()), "what is withheld is no finding");
}

/// Every eighth identity and reporter as it is not yet known, and the keys of every fifth a century older: an earlier night's view.
fn earlier_view(name: &str) -> (Identities, Reporters) {
    let export = Export::open(&fixture(name).join("export")).unwrap();
    let thin = |lines: Vec<(u64, Vec<u8>)>| -> Vec<(u64, Vec<u8>)> {
        let kept = lines.into_iter().filter(|(number, _)| number % 8 != 3);
        let older = |(number, bytes): (u64, Vec<u8>)| match number % 5 {
            0 => (number, String::from_utf8(bytes).unwrap().replace("\"from\": \"20", "\"from\": \"19").into_bytes()),
            _ => (number, bytes),
        };
        kept.map(older).collect()
    };
    let identities = read(export.identities.as_ref(), |name, lines| {
        Identities::read(name, thin(lines).iter().map(|(number, bytes)| (*number, bytes.as_slice()))).unwrap()
    });
    let reporters = read(export.reporters.as_ref(), |name, lines| {
        Reporters::read(name, thin(lines).iter().map(|(number, bytes)| (*number, bytes.as_slice()))).unwrap()
    });
    (identities, reporters)
}

#[test]
fn a_night_that_takes_over_the_last_one_finds_what_a_full_audit_finds() {
    let loaded = load_fixture("attacks");
    let as_of = instant::parse(AS_OF).unwrap();
    let full = run(&loaded, &loaded.given, as_of, None);
    let (identities, reporters) = earlier_view("attacks");
    let salt = Salt::read(&fixture("attacks").join("export/anchor.salt")).unwrap();
    let mut then = Given {
        hashes: AnchorHashes::of(&identities, &salt),
        identities,
        reporters,
        charters: loaded.given.charters.clone(),
        policy: loaded.given.policy.clone(),
    };
    builds_on(&loaded, &then, as_of, &full);
    // Where the same reporters are known, all that the earlier audit found may be built on.
    then.reporters = loaded.given.reporters.clone();
    builds_on(&loaded, &then, as_of, &full);
}

/// That audits which build on earlier ones, of the file up to some entry at some instant, find what a full one finds.
fn builds_on(loaded: &Loaded, then: &Given, as_of: i64, full: &Audit) {
    for earlier in ["2026-03-01T00:00:00Z", "2026-09-15T12:00:00Z", AS_OF] {
        let earlier = instant::parse(earlier).unwrap();
        for head in [1_000, 2_000, 3_000, 3_500, 3_845] {
            let first = load_entries("attacks", head);
            let before = run(&first, then, earlier, None);
            assert_ne!(before.findings(), full.findings());
            let correction_span = first.folder.path().join("scratch/correction_span.parquet");
            let carried = Before {
                as_of: earlier,
                identities: &then.identities,
                hashes: &then.hashes,
                withheld: before.withheld(),
                correction_span: &correction_span,
            };
            for carried in [None, Some(carried)] {
                let previous = Previous {
                    head: i64::try_from(head).unwrap(),
                    as_of: earlier,
                    bureau: &then.policy.bureau,
                    identities: &then.identities,
                    reporters: &then.reporters,
                    findings: before.findings(),
                    before: carried,
                };
                let night = run(loaded, &loaded.given, as_of, Some(previous));
                assert!(night.findings() == full.findings(), "{earlier} {head}");
                assert_eq!(night.withheld(), full.withheld());
            }
        }
    }
}

#[test]
fn what_lies_after_t_does_not_exist() {
    let loaded = load_fixture("attacks");
    let as_of = instant::parse("2026-06-01T00:00:00Z").unwrap();
    let audit = run(&loaded, &loaded.given, as_of, None);
    let whole = run(&loaded, &loaded.given, instant::parse(AS_OF).unwrap(), None);
    assert!(!audit.findings().is_empty() && audit.findings().len() < whole.findings().len());
    let last =
        audit.findings().iter().filter(|finding| finding.rule != Rule::EntrySchema).map(|finding| finding.seq).max();
    assert!(last.is_some_and(|last| last < 1_200), "{last:?}");
}

#[test]
fn another_bureau_s_enrollments_and_an_unknown_salt_are_found() {
    let mut loaded = load_fixture("small");
    let as_of = instant::parse(AS_OF).unwrap();
    loaded.given.policy.bureau = "https://elsewhere.example".to_owned();
    let audit = run(&loaded, &loaded.given, as_of, None);
    assert!(audit.counts().get("sig.invalid").is_some_and(|(_, count)| *count > 0));
    assert!(audit.counts().get("attest.unenrolled").is_some_and(|(_, count)| *count > 0));
    let another = Salt::of_bytes(b"another".to_vec());
    loaded.given.hashes = AnchorHashes::of(&loaded.given.identities, &another);
    let audit = run(&loaded, &loaded.given, as_of, None);
    assert!(audit.counts().get("attest.not_caller").is_some_and(|(_, count)| *count > 0));
}
