//! One flipped bit anywhere in a ledger file is refused by the parser, found by the chain, or leaves the canonical form as it was.

use std::sync::Arc;

use bureau::ledger::json::{Literals, Parser};
use bureau::ledger::{Chain, Entry, HASH_MEMBERS, Head, Link, Segment, canonical, entry_hash};
use proptest::prelude::*;

/// What the loader makes of a file: refused, broken, or the canonical form of all entries.
#[derive(Debug, PartialEq)]
enum Verdict {
    Refused,
    Broken,
    Holds(Vec<u8>),
}

fn judge(file: &[u8]) -> Verdict {
    let mut parser = Parser::new(Literals::Export);
    let mut segment = Segment::new(Arc::from("ledger.jsonl"));
    let mut all = Vec::new();
    let file = file.strip_suffix(b"\n").unwrap_or(file);
    for (line, number) in file.split(|byte| *byte == b'\n').zip(1..) {
        let Ok(document) = parser.parse(line) else { return Verdict::Refused };
        let from = all.len();
        canonical::write_without(document.root(), &HASH_MEMBERS, &mut all);
        let entry = Entry::read(document.root());
        let computed = entry_hash(&all[from..], entry.prev_hash.unwrap_or_default());
        let link = Link { seq: entry.seq, prev_hash: entry.prev_hash, entry_hash: entry.entry_hash, computed };
        segment.push(number, &link);
        all.extend(entry.entry_hash.unwrap_or_default().bytes());
    }
    let mut chain = Chain::new(Head::start());
    chain.join(segment);
    if chain.finish().is_err() { Verdict::Broken } else { Verdict::Holds(all) }
}

fn ledger() -> Vec<u8> {
    let text = std::fs::read_to_string(crate::command::fixture("small/export/ledger.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').take(60).collect();
    lines.concat().into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn every_flip_is_accounted_for(place in any::<prop::sample::Index>(), bit in 0..8u8) {
        let file = ledger();
        let mut flipped = file.clone();
        flipped[place.index(file.len())] ^= 1 << bit;
        match judge(&flipped) {
            Verdict::Refused | Verdict::Broken => {}
            held => prop_assert_eq!(held, judge(&file)),
        }
    }
}

#[test]
fn each_verdict_happens() {
    let file = ledger();
    assert!(matches!(judge(&file), Verdict::Holds(_)));
    let count = |verdict: fn(&Verdict) -> bool| {
        let flips = (0..file.len()).step_by(97).map(|place| {
            let mut flipped = file.clone();
            flipped[place] ^= 0x10;
            judge(&flipped)
        });
        flips.filter(verdict).count()
    };
    assert!(count(|verdict| *verdict == Verdict::Refused) > 10);
    assert!(count(|verdict| *verdict == Verdict::Broken) > 10);
}
