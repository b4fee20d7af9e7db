//! Signatures made to tell a batch from single verification, each among good ones: the verdicts are always the same.

use std::sync::{Arc, LazyLock};

use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use proptest::prelude::*;
use sha2::{Digest, Sha512};

use super::{Item, Key, verify_all, verify_strict};

/// A signature with all that decides it.
#[derive(Clone)]
pub(super) struct Signed {
    key: Arc<Key>,
    secret: Scalar,
    message: Vec<u8>,
    signature: [u8; 64],
}

impl Signed {
    pub(super) fn item(&self) -> Item<'_> {
        Item { key: &self.key, signature: &self.signature, message: &self.message }
    }

    /// The same signature under another's message.
    pub(super) fn with_message_of(&self, other: &Signed) -> Signed {
        Signed { message: other.message.clone(), ..self.clone() }
    }

    fn strict(&self) -> bool {
        verify_strict(&self.key, &self.message, &self.signature)
    }

    /// Signs anew with the R given, whatever its torsion: S = r + k·a.
    fn sign(&mut self, r: Scalar, point: EdwardsPoint) {
        let encoded = point.compress().to_bytes();
        let hash = Sha512::new().chain_update(encoded).chain_update(self.key.as_bytes()).chain_update(&self.message);
        let k = Scalar::from_bytes_mod_order_wide(&hash.finalize().into());
        self.signature[..32].copy_from_slice(&encoded);
        self.signature[32..].copy_from_slice((r + k * self.secret).as_bytes());
    }

    fn s(&self) -> Scalar {
        Scalar::from_bytes_mod_order(self.signature[32..].try_into().unwrap())
    }

    fn set_s(&mut self, s: Scalar) {
        self.signature[32..].copy_from_slice(s.as_bytes());
    }
}

fn scalar(seed: u64) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&Sha512::digest(seed.to_le_bytes()).into())
}

fn key(secret: Scalar, torsion: usize) -> Arc<Key> {
    let point = EdwardsPoint::mul_base(&secret) + EIGHT_TORSION[torsion];
    Arc::new(Key::from_bytes(&point.compress().to_bytes()).unwrap())
}

/// Good signatures under some forty keys.
pub(super) static GOOD: LazyLock<Vec<Signed>> = LazyLock::new(|| {
    let keys: Vec<(Scalar, Arc<Key>)> = (0..40).map(|i| (scalar(i), key(scalar(i), 0))).collect();
    (0..4000u64)
        .map(|i| {
            let (secret, key) = keys[(i * i % 40) as usize].clone();
            let message = format!("message {i}").into_bytes();
            let mut signed = Signed { key, secret, message, signature: [0; 64] };
            let r = scalar(1000 + i);
            signed.sign(r, EdwardsPoint::mul_base(&r));
            signed
        })
        .collect()
});

/// Signed anew with a torsion point added to R: right but for that.
pub(super) fn with_torsion(signed: &Signed, torsion: usize, seed: u64) -> Signed {
    let mut signed = signed.clone();
    Flaw::MixedR(torsion).apply(&mut signed, seed);
    signed
}

/// Ways to spoil a signature, or to make a good one that a careless batch refuses.
#[derive(Debug, Clone, Copy)]
enum Flaw {
    /// A torsion point added to R before signing: right but for the torsion.
    MixedR(usize),
    /// A torsion point in the key only: right where the hash happens to cancel it.
    MixedKey(usize),
    /// Torsion in the key and in R, so that single verification accepts.
    MatchedTorsion(usize),
    /// R is a point of small order, and S fits it.
    SmallR(usize),
    /// S + L.
    LargeS,
    /// y + p, for the y below 19 of a point, or -0.
    UnreducedR(u8),
    /// A bit of R, S or the message turned over.
    Flipped(usize),
    /// Another key.
    Stranger,
    /// R and S all zero or all one.
    Filled(u8),
}

impl Flaw {
    fn apply(self, signed: &mut Signed, seed: u64) {
        let r = scalar(seed);
        match self {
            Flaw::MixedR(t) => signed.sign(r, EdwardsPoint::mul_base(&r) + EIGHT_TORSION[t]),
            Flaw::MixedKey(t) => {
                signed.key = key(signed.secret, t);
                signed.sign(r, EdwardsPoint::mul_base(&r));
            }
            Flaw::MatchedTorsion(t) => {
                signed.key = key(signed.secret, t);
                (0u64..)
                    .map(|i| scalar(seed ^ i << 40))
                    .find(|r| {
                        let t = EIGHT_TORSION[(r.as_bytes()[0] & 7) as usize];
                        signed.sign(*r, EdwardsPoint::mul_base(r) + t);
                        signed.strict()
                    })
                    .unwrap();
            }
            Flaw::SmallR(t) => signed.sign(Scalar::ZERO, EIGHT_TORSION[t]),
            Flaw::LargeS => {
                let order = (-Scalar::ONE).to_bytes();
                let mut carry = 1u16;
                for (byte, add) in signed.signature[32..].iter_mut().zip(order) {
                    carry += u16::from(*byte) + u16::from(add);
                    *byte = carry as u8;
                    carry >>= 8;
                }
            }
            Flaw::UnreducedR(k) => {
                signed.signature[..32].fill(0xff);
                signed.signature[0] = 0xed + k % 19;
                signed.signature[31] = if k & 0x40 == 0 { 0x7f } else { 0xff };
            }
            Flaw::Flipped(bit) => {
                let bit = bit % (512 + 8 * signed.message.len());
                match signed.signature.get_mut(bit / 8) {
                    Some(byte) => *byte ^= 1 << (bit % 8),
                    None => signed.message[bit / 8 - 64] ^= 1 << (bit % 8),
                }
            }
            Flaw::Stranger => signed.key = key(scalar(seed ^ 5), 0),
            Flaw::Filled(byte) => signed.signature.fill(byte),
        }
    }
}

fn flaw() -> impl Strategy<Value = Flaw> {
    prop_oneof![
        (1usize..8).prop_map(Flaw::MixedR),
        (1usize..8).prop_map(Flaw::MixedKey),
        (1usize..8).prop_map(Flaw::MatchedTorsion),
        (0usize..8).prop_map(Flaw::SmallR),
        Just(Flaw::LargeS),
        any::<u8>().prop_map(Flaw::UnreducedR),
        any::<usize>().prop_map(Flaw::Flipped),
        Just(Flaw::Stranger),
        prop_oneof![Just(0u8), Just(0xff), any::<u8>()].prop_map(Flaw::Filled),
    ]
}

/// The verdicts of a batch, which must be those of each alone.
pub(super) fn assert_equal(batch: &[Signed]) {
    let items: Vec<Item<'_>> = batch.iter().map(Signed::item).collect();
    let strict: Vec<bool> = batch.iter().map(Signed::strict).collect();
    assert_eq!(verify_all(&items), strict);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn flaws_among_good_ones(
        length in prop_oneof![1usize..40, 200..400usize, 400..1500usize],
        flaws in prop::collection::vec((any::<prop::sample::Index>(), flaw(), any::<u64>()), 0..12),
    ) {
        let mut batch = GOOD[..length].to_vec();
        for (place, flaw, seed) in flaws {
            flaw.apply(place.get_mut(&mut batch), seed);
        }
        assert_equal(&batch);
    }

    #[test]
    fn nothing_but_flaws(flaws in prop::collection::vec((flaw(), any::<u64>()), 300..500)) {
        let mut batch = GOOD[..flaws.len()].to_vec();
        batch.iter_mut().zip(flaws).for_each(|(signed, (flaw, seed))| flaw.apply(signed, seed));
        assert_equal(&batch);
    }

    /// Defects that cancel in a sum with equal coefficients: of the scalars, and of the torsion.
    #[test]
    fn defects_that_cancel(
        pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..8, any::<u64>()), 1..6),
    ) {
        let mut batch = GOOD[..900].to_vec();
        for (one, other, t, seed) in pairs {
            let (one, other) = (one.index(900), other.index(900));
            if t == 0 {
                let (a, b) = (batch[one].s() + scalar(seed), batch[other].s() - scalar(seed));
                batch[one].set_s(a);
                batch[other].set_s(b);
            } else {
                Flaw::MixedR(t).apply(&mut batch[one], seed);
                Flaw::MixedR(8 - t).apply(&mut batch[other], seed ^ 1);
            }
        }
        assert_equal(&batch);
    }
}

#[test]
fn each_flaw_at_every_place() {
    // 257 is past the size below which everything is decided singly.
    let good = &GOOD[..257];
    let flaws = [Flaw::MixedR(4), Flaw::MixedR(1), Flaw::Flipped(300), Flaw::LargeS, Flaw::MatchedTorsion(4)];
    for place in 0..good.len() {
        let mut batch = good.to_vec();
        let flaw = flaws[place % flaws.len()];
        flaw.apply(&mut batch[place], 17);
        let items: Vec<Item<'_>> = batch.iter().map(Signed::item).collect();
        let accepted = matches!(flaw, Flaw::MatchedTorsion(_));
        let expected: Vec<bool> = (0..good.len()).map(|i| i != place || accepted).collect();
        assert_eq!(verify_all(&items), expected, "{flaw:?} at {place}");
    }
}

#[test]
fn one_flaw_among_thousands() {
    let flaws =
        [Flaw::MixedR(4), Flaw::MixedR(2), Flaw::MixedKey(4), Flaw::Flipped(1), Flaw::Flipped(520), Flaw::SmallR(3)];
    for (i, flaw) in flaws.into_iter().enumerate() {
        let mut batch = GOOD.clone();
        flaw.apply(&mut batch[i * 777], 3);
        assert_equal(&batch);
    }
}

#[test]
fn good_batches_of_every_small_size() {
    for length in (0..40).chain([255, 256, 257]) {
        assert_equal(&GOOD[..length]);
    }
}
