//! Signatures a second on one core: `verify_strict`, one by one, against the batches of `bureau::audit::signature`.
//!
//! The shape is a ledger's: three of four signatures are on documents of a few hundred bytes by one of 36 reporters, one
//! of four on a line by one of 4,000 evaluators. `spoilt` has one bad signature in every batch, `torsion` one whose R
//! has a point of order 2 added, `thick` one bad in two; all three must cost no more than strict alone by more than a batch.
//!
//! `cargo bench --bench signature` measures with this project's backend. The library's own default build is measured
//! with `RUSTFLAGS="" cargo bench --bench signature -- strict`, in a target directory of its own.

use std::hint::black_box;

use bureau::audit::signature::{BATCH, Item, Key, verify_all, verify_strict};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::hazmat::ExpandedSecretKey;
use ed25519_dalek::{Signer as _, SigningKey};
use sha2::{Digest, Sha512};

const REPORTERS: u64 = 36;
const EVALUATORS: u64 = 4000;

struct Signed {
    signer: usize,
    message: Vec<u8>,
    signature: [u8; 64],
}

struct Workload {
    signing: Vec<SigningKey>,
    keys: Vec<Key>,
    signed: Vec<Signed>,
}

impl Workload {
    fn new(count: usize) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % below
        };
        let signing: Vec<SigningKey> = (0..REPORTERS + EVALUATORS)
            .map(|i| SigningKey::from_bytes(&Sha512::digest(i.to_le_bytes())[..32].try_into().expect("32 bytes")))
            .collect();
        let keys = signing.iter().map(|key| Key::from_bytes(key.verifying_key().as_bytes()).expect("a key")).collect();
        let signed = (0..count)
            .map(|i| {
                let fact = draw(4) != 0;
                let signer = if fact { draw(REPORTERS) } else { REPORTERS + draw(EVALUATORS) } as usize;
                let message = if fact { fact_text(i, signer) } else { line_text(i) };
                let signature = signing[signer].sign(&message).to_bytes();
                Signed { signer, message, signature }
            })
            .collect();
        Self { signing, keys, signed }
    }

    fn items(&self) -> Vec<Item<'_>> {
        self.signed
            .iter()
            .map(|s| Item { key: &self.keys[s.signer], signature: &s.signature, message: &s.message })
            .collect()
    }

    /// Signs anew with a point of order 2 added to R: right but for the torsion.
    fn add_torsion(&mut self, at: usize) {
        let signed = &mut self.signed[at];
        let secret = ExpandedSecretKey::from(self.signing[signed.signer].as_bytes()).scalar;
        let r = Scalar::from(1_234_567u64 + at as u64);
        let encoded = (EdwardsPoint::mul_base(&r) + EIGHT_TORSION[4]).compress().to_bytes();
        let hash = Sha512::new()
            .chain_update(encoded)
            .chain_update(self.keys[signed.signer].as_bytes())
            .chain_update(&signed.message);
        let k = Scalar::from_bytes_mod_order_wide(&hash.finalize().into());
        signed.signature[..32].copy_from_slice(&encoded);
        signed.signature[32..].copy_from_slice((r + k * secret).as_bytes());
    }
}

fn fact_text(i: usize, reporter: usize) -> Vec<u8> {
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    format!(
        "fdbk-fact-v1\n{{\"capability\":\"freight-audit\",\"detail\":{{\"caller_anchor_hash\":\"sha256:{hash}\",\
         \"derived_outcome\":null,\"ended_at\":\"2026-03-01T10:00:01.250Z\",\"interaction_id\":\"itx_{i:016x}\",\
         \"latency_ms\":1250,\"promise_checks\":[{{\"held\":true,\"promise_id\":\"p95\"}}],\
         \"reporter\":\"https://runtime{reporter}.example.net\",\"started_at\":\"2026-03-01T10:00:00.000Z\",\
         \"transport\":\"OK\"}},\"subject\":\"Agent{}.name@example.org\"}}",
        i % 977
    )
    .into_bytes()
}

fn line_text(i: usize) -> Vec<u8> {
    format!("fdbk-attest-v1:itx_{i:016x}:Agent{}.name@example.org:freight-audit:OK:2026-03-01T12:00:00.000Z", i % 977)
        .into_bytes()
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("signature");
    group.sample_size(10);
    let good = Workload::new(BATCH);
    let items = good.items();

    group.throughput(Throughput::Elements(1024));
    group.bench_function("strict", |b| {
        b.iter(|| items[..1024].iter().all(|item| verify_strict(item.key, black_box(item.message), item.signature)));
    });
    for size in [1024, 8192, BATCH] {
        group.throughput(Throughput::Elements(size as u64));
        group
            .bench_with_input(BenchmarkId::new("batch", size), &items[..size], |b, items| b.iter(|| verify_all(items)));
    }

    group.throughput(Throughput::Elements(BATCH as u64));
    let mut spoilt = Workload::new(BATCH);
    spoilt.signed[BATCH / 3].signature[40] ^= 1;
    group.bench_function("spoilt", |b| b.iter(|| verify_all(&spoilt.items())));
    let mut torsion = Workload::new(BATCH);
    torsion.add_torsion(BATCH / 3);
    group.bench_function("torsion", |b| b.iter(|| verify_all(&torsion.items())));
    let mut thick = Workload::new(BATCH);
    thick.signed.iter_mut().step_by(2).for_each(|signed| signed.signature[40] ^= 1);
    group.bench_function("thick", |b| b.iter(|| verify_all(&thick.items())));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
