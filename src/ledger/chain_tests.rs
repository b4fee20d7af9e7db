use super::*;
use crate::ledger::entry_hash;

/// One entry of a made-up ledger.
#[derive(Clone)]
struct Made {
    seq: Option<i64>,
    prev_hash: Option<String>,
    entry_hash: Option<String>,
    computed: [u8; 32],
}

fn ledger(count: i64) -> Vec<Made> {
    let mut prev = NO_HASH.to_owned();
    let entry = |seq: i64| {
        let computed = entry_hash(format!("{{\"seq\":{seq}}}").as_bytes(), &prev);
        let made =
            Made { seq: Some(seq), prev_hash: Some(prev.clone()), entry_hash: Some(encode_hash(&computed)), computed };
        prev = encode_hash(&computed);
        made
    };
    (1..=count).map(entry).collect()
}

/// Joins the entries in blocks of `size`.
fn chain(from: Head, entries: &[Made], size: usize) -> Chain {
    let mut chain = Chain::new(from);
    for (block, part) in entries.chunks(size).enumerate() {
        let mut segment = Segment::new("ledger.jsonl".into());
        for (i, made) in part.iter().enumerate() {
            let link = Link {
                seq: made.seq,
                prev_hash: made.prev_hash.as_deref(),
                entry_hash: made.entry_hash.as_deref(),
                computed: made.computed,
            };
            segment.push((block * size + i + 1) as u64, &link);
        }
        chain.join(segment);
        chain.join(Segment::new("empty".into()));
    }
    chain
}

/// The breaks, which must not depend on the block size, as (line, rule).
fn breaks(entries: &[Made]) -> Vec<(u64, &'static str)> {
    let whole = chain(Head::start(), entries, entries.len());
    for size in 1..entries.len() {
        let parts = chain(Head::start(), entries, size);
        assert_eq!(parts.breaks(), whole.breaks(), "blocks of {size}");
        assert_eq!((parts.broken(), parts.entries()), (whole.broken(), whole.entries()));
    }
    whole.breaks().iter().map(|b| (b.line, b.rule)).collect()
}

#[test]
fn a_whole_chain_gives_its_head_and_goes_on_from_it() {
    let all = ledger(10);
    assert_eq!(breaks(&all), []);
    let first = chain(Head::start(), &all[..6], 4).finish().unwrap();
    assert_eq!((first.seq, Some(&first.entry_hash)), (6, all[5].entry_hash.as_ref()));
    let second = chain(first.clone(), &all[6..], 3).finish().unwrap();
    assert_eq!((second.seq, Some(&second.entry_hash)), (10, all[9].entry_hash.as_ref()));
    assert_eq!(chain(first.clone(), &[], 1).finish().unwrap(), first);
    let torn = chain(first, &all[7..], 3).finish().unwrap_err();
    assert_eq!((torn.first.rule, torn.first.seq, torn.following), ("chain.link", Some(8), 1));
}

#[test]
fn each_fault_is_one_break_in_its_place() {
    let all = ledger(6);
    let with = |at: usize, change: &dyn Fn(&mut Made)| {
        let mut entries = all.clone();
        change(&mut entries[at]);
        breaks(&entries)
    };
    assert_eq!(with(2, &|e| e.computed[0] ^= 1), [(3, "chain.hash")]);
    assert_eq!(with(0, &|e| e.prev_hash = Some("x".into())), [(1, "chain.link")]);
    assert_eq!(with(3, &|e| e.seq = Some(3)), [(4, "chain.seq"), (5, "chain.seq")]);
    assert_eq!(with(3, &|e| e.entry_hash = Some(NO_HASH.into())), [(4, "chain.hash"), (5, "chain.link")]);
    assert_eq!(with(3, &|e| e.entry_hash = None), [(4, "chain.hash"), (5, "chain.link")]);
    assert_eq!(with(3, &|e| e.prev_hash = None), [(4, "chain.link")]);
    assert_eq!(with(3, &|e| e.seq = None), [(4, "chain.seq")]);
    assert_eq!(with(5, &|e| e.seq = Some(i64::MAX)), [(6, "chain.seq")]);
    let mut gap = all.clone();
    gap.remove(2);
    assert_eq!(breaks(&gap), [(3, "chain.link"), (3, "chain.seq")]);
    let mut twice = all.clone();
    twice.insert(2, all[1].clone());
    assert_eq!(breaks(&twice), [(3, "chain.link"), (3, "chain.seq")]);
    assert_eq!(breaks(&all[1..]), [(1, "chain.link"), (1, "chain.seq")], "a ledger starts at seq 1");
}

#[test]
fn the_first_break_is_told_and_the_others_counted() {
    let mut all = ledger(400);
    for made in &mut all[9..] {
        made.computed[31] ^= 0xff;
    }
    let parts = chain(Head::start(), &all, 7);
    assert_eq!((parts.breaks().len(), parts.broken()), (REPORTED_BREAKS, 391));
    let broken = parts.finish().unwrap_err();
    assert_eq!((broken.first.seq, broken.first.line, broken.following), (Some(10), 10, 390));
    let stated = all[9].entry_hash.clone().unwrap();
    let text = broken.to_string();
    assert!(text.starts_with("the chain is broken: chain.hash: ledger.jsonl: line 10: seq 10: expected "), "{text}");
    assert!(text.ends_with(&format!("found {stated}; 390 more breaks come after it")), "{text}");
}

#[test]
fn a_hash_of_any_length_is_repeated_in_part() {
    let mut all = ledger(2);
    all[0].entry_hash = Some("ä".repeat(100_000));
    let joined = chain(Head::start(), &all, 2);
    let lengths: Vec<_> =
        joined.breaks().iter().map(|b| (b.rule, b.expected.chars().count(), b.found.chars().count())).collect();
    assert_eq!(lengths, [("chain.hash", 44, 101), ("chain.link", 101, 44)]);
}
