//! The kernels of a night, each by itself on one core: `cargo bench --bench kernels`.
//!
//! Lines are those of `fixtures/small`, and the same with white space behind every comma, which are not canonical. `pool` is
//! `queries/pool.sql` over a million events of 5,000 subjects and 10,000 evaluators, as a report stage runs it. Signatures checked are in
//! `signature.rs`.

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, RecordBatch, StringArray, TimestampMillisecondArray};
use bureau::engine::{Resources, Session};
use bureau::ledger::json::{Literals, Parser};
use bureau::ledger::{Entry, HASH_MEMBERS, canonical, entry_hash};
use bureau::reports::number::Weigher;
use bureau::snapshot::document::sign_line;
use bureau::snapshot::keys::BureauKey;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// The lines of the fixture in canonical form, and in another.
fn lines() -> [(&'static str, Vec<String>); 2] {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/small/export/ledger.jsonl");
    let text = std::fs::read_to_string(path).expect("the fixture is there");
    let mut parser = Parser::new(Literals::Export);
    let mut same = |line: &str| {
        let mut bytes = Vec::new();
        canonical::write(parser.parse(line.as_bytes()).expect("a line").root(), &mut bytes);
        String::from_utf8(bytes).expect("canonical text")
    };
    let plain: Vec<String> = text.lines().map(&mut same).collect();
    let spaced = plain.iter().map(|line| line.replace(",\"", ", \"")).collect();
    [("canonical", plain), ("spaced", spaced)]
}

fn of_lines(criterion: &mut Criterion) {
    for (spelling, lines) in lines() {
        let bytes: u64 = lines.iter().map(|line| line.len() as u64).sum();
        let mut parser = Parser::new(Literals::Canonical);
        let mut group = criterion.benchmark_group(format!("lines/{spelling}"));
        group.throughput(Throughput::ElementsAndBytes { elements: lines.len() as u64, bytes });
        group.bench_function("parse", |bencher| {
            bencher.iter(|| {
                for line in &lines {
                    black_box(parser.parse(line.as_bytes()).expect("a line"));
                }
            });
        });
        let mut parser = Parser::new(Literals::Canonical);
        group.bench_function("parse and type", |bencher| {
            bencher.iter(|| {
                for line in &lines {
                    black_box(Entry::read(parser.parse(line.as_bytes()).expect("a line").root()));
                }
            });
        });
        let (mut parser, mut out) = (Parser::new(Literals::Canonical), Vec::new());
        group.bench_function("parse and canonical form", |bencher| {
            bencher.iter(|| {
                for line in &lines {
                    out.clear();
                    let document = parser.parse(line.as_bytes()).expect("a line");
                    canonical::write_without(document.root(), &HASH_MEMBERS, &mut out);
                    black_box(&out);
                }
            });
        });
        let hashed: Vec<Vec<u8>> = lines
            .iter()
            .map(|line| {
                let mut out = Vec::new();
                let document = parser.parse(line.as_bytes()).expect("a line");
                canonical::write_without(document.root(), &HASH_MEMBERS, &mut out);
                out
            })
            .collect();
        group.bench_function("hash", |bencher| {
            bencher.iter(|| {
                for bytes in &hashed {
                    black_box(entry_hash(bytes, bureau::ledger::NO_HASH));
                }
            });
        });
        group.finish();
    }
}

fn of_documents(criterion: &mut Criterion) {
    let key = BureauKey::generate().expect("a key");
    let inner = vec![b'x'; 1900];
    criterion.bench_function("sign a report of 1,900 bytes", |bencher| {
        bencher.iter(|| black_box(sign_line(&key, "fdbk/report", "report", &inner)));
    });
    let policy = bureau::policy::Policy::with_defaults("https://bureau.example");
    let weigher = Weigher::new(&policy.half_life_days, &policy.value_weight).expect("a half-life");
    let mut age = 0;
    criterion.bench_function("weight", |bencher| {
        bencher.iter(|| {
            age = (age + 7_919_993) % 31_536_000_000;
            black_box(weigher.weight(age, false))
        });
    });
}

fn events(count: usize) -> RecordBatch {
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    };
    // The product of two even draws crowds the first subjects, as a ledger does.
    let subjects: Vec<u64> = (0..count).map(|_| draw(5000) * draw(5000) / 5000).collect();
    let kinds: Vec<&str> =
        (0..count).map(|_| ["derived", "derived", "attested", "attested", "value"][draw(5) as usize]).collect();
    let anchors = kinds.iter().map(|kind| (*kind != "derived").then(|| format!("sha256:{:064x}", draw(10_000))));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("evaluator_anchor_hash", Arc::new(anchors.collect::<StringArray>())),
        (
            "subject",
            Arc::new(subjects.iter().map(|s| Some(format!("Agent.{s}@host.example"))).collect::<StringArray>()),
        ),
        ("capability", Arc::new(subjects.iter().map(|s| Some(format!("task-{}", s % 5))).collect::<StringArray>())),
        ("kind", Arc::new(StringArray::from(kinds))),
        (
            "v",
            Arc::new(
                (0..count)
                    .map(|_| Some([100, 60, 15, 0][draw(4) as usize]))
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(3, 2)
                    .expect("a decimal"),
            ),
        ),
        (
            "t",
            Arc::new(
                (0..count)
                    .map(|_| Some(draw(31_536_000_000) as i64))
                    .collect::<TimestampMillisecondArray>()
                    .with_timezone("UTC"),
            ),
        ),
        ("amounted", Arc::new((0..count).map(|_| Some(draw(2) == 0)).collect::<BooleanArray>())),
        (
            "weight",
            Arc::new(
                (0..count)
                    .map(|_| Some(i128::from(draw(1_000_000_000_000_000))))
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(16, 15)
                    .expect("a decimal"),
            ),
        ),
    ];
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("a table")
}

fn of_pools(criterion: &mut Criterion) {
    const EVENTS: usize = 1_000_000;
    let spill = tempfile::tempdir().expect("a folder");
    let session = Session::open(&Resources::new(1, 2 << 30), spill.path()).expect("a session");
    session.register_batch("event", events(EVENTS)).expect("a table");
    let mut group = criterion.benchmark_group("queries");
    group.throughput(Throughput::Elements(EVENTS as u64)).sample_size(10);
    group.bench_function("pool", |bencher| {
        bencher.iter(|| black_box(session.rows("pool", include_str!("../queries/pool.sql")).expect("pools")));
    });
    group.finish();
}

criterion_group!(benches, of_lines, of_documents, of_pools);
criterion_main!(benches);
