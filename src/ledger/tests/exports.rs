//! The exports of `fixtures`: their chains hold to the head expected, and `entry.schema` finds exactly what it should.

use crate::export::{Blocks, Export};
use crate::ledger::json::{Literals, Parser};
use crate::ledger::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Loads an export in blocks of `size`: the chain, and of each seq its hash as it stands and its fault.
fn load(name: &str, size: usize) -> (Chain, BTreeMap<i64, (String, Option<String>)>) {
    let export = Export::open(&fixture(name).join("export")).unwrap();
    let (mut chain, mut entries) = (Chain::new(Head::start()), BTreeMap::new());
    let (mut parser, mut canonical) = (Parser::new(Literals::Export), Vec::new());
    for block in Blocks::with_size(&export.ledger, size) {
        let block = block.unwrap();
        let mut segment = Segment::new(block.file.clone());
        for line in block.lines() {
            let root = parser
                .parse(line.bytes)
                .unwrap_or_else(|fault| panic!("{}: line {}: {fault}", block.file, line.number))
                .root();
            let entry = Entry::read(root);
            canonical.clear();
            canonical::write_without(root, &HASH_MEMBERS, &mut canonical);
            segment.push(line.number, &entry.link(&canonical));
            entries.insert(entry.seq.unwrap(), (entry.entry_hash.unwrap().to_owned(), entry.fault));
        }
        chain.join(segment);
    }
    (chain, entries)
}

#[test]
fn every_chain_holds_past_the_head_expected() {
    for name in ["small", "policy", "attacks"] {
        let run = fs::read_to_string(fixture(name).join("expected/run.json")).unwrap();
        let head = serde_json::from_str::<Value>(&run).unwrap()["head"].clone();
        for size in [1, 1000, 1 << 20] {
            let (chain, entries) = load(name, size);
            assert_eq!(chain.entries(), entries.len() as u64, "{name}");
            let last = chain.finish().unwrap_or_else(|broken| panic!("{name}: {broken}"));
            // The run's head is the last entry up to its T; the file goes on.
            let seq = head["seq"].as_i64().unwrap();
            assert!(last.seq >= seq && head["entries"] == head["seq"], "{name}");
            assert_eq!(entries[&seq].0, head["entry_hash"].as_str().unwrap(), "{name}");
        }
    }
}

#[test]
fn entry_schema_is_found_where_it_is_expected_and_nowhere_else() {
    for name in ["small", "policy", "attacks"] {
        let findings = fs::read_to_string(fixture(name).join("expected/findings.jsonl")).unwrap();
        let expected: Vec<i64> = findings
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|finding| finding["rule"] == "entry.schema")
            .map(|finding| finding["seq"].as_i64().unwrap())
            .collect();
        let faults: BTreeMap<i64, String> =
            load(name, 1 << 20).1.into_iter().filter_map(|(seq, entry)| Some((seq, entry.1?))).collect();
        assert_eq!(faults.keys().copied().collect::<Vec<_>>(), expected, "{name}: {faults:#?}");
        assert_eq!(expected.len(), if name == "attacks" { 33 } else { 0 });
    }
}

/// Nanoseconds that this thread has run, so that other work on the machine counts less.
fn on_cpu() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// Prints entries a second on one core: `cargo test --release -- --ignored --nocapture throughput`.
#[test]
#[ignore = "a measurement"]
fn throughput_of_one_core() {
    let text = fs::read(fixture("small/export/ledger.jsonl")).unwrap();
    // Canonical bytes may hold integer literals that a line may not.
    let mut parser = Parser::new(Literals::Canonical);
    let mut plain = Vec::new();
    for line in text.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        canonical::write(parser.parse(line).unwrap().root(), &mut plain);
        plain.push(b'\n');
    }
    for (name, text) in [("as spelt", &text), ("canonical", &plain)] {
        let lines: Vec<&[u8]> = text.split(|b| *b == b'\n').filter(|line| !line.is_empty()).collect();
        let rate = |work: &mut dyn FnMut(&[u8])| {
            let best = (0..15).map(|_| {
                let started = on_cpu();
                (0..4).for_each(|_| lines.iter().for_each(|line| work(line)));
                on_cpu() - started
            });
            4e9 * lines.len() as f64 / best.min().unwrap_or(1) as f64
        };
        let mut out = Vec::new();
        let parsed = rate(&mut |line| {
            std::hint::black_box(parser.parse(line).unwrap().root().kind());
        });
        let written = rate(&mut |line| {
            out.clear();
            canonical::write_without(parser.parse(line).unwrap().root(), &HASH_MEMBERS, &mut out);
        });
        let hashed = rate(&mut |line| {
            out.clear();
            canonical::write_without(parser.parse(line).unwrap().root(), &HASH_MEMBERS, &mut out);
            std::hint::black_box(entry_hash(&out, NO_HASH));
        });
        let mut segment = Segment::new("small".into());
        let all = rate(&mut |line| {
            let root = parser.parse(line).unwrap().root();
            let entry = Entry::read(root);
            out.clear();
            canonical::write_without(root, &HASH_MEMBERS, &mut out);
            segment.push(1, &entry.link(&out));
            std::hint::black_box(entry);
        });
        println!(
            "{name}: entries/s: parse {parsed:.0}, + canonical {written:.0}, + hash {hashed:.0}, + typed detail and chain {all:.0}"
        );
    }
}
