//! The fast path: thousands of signatures decided by one equation, with the verdicts of [`verify_strict`].
//! The argument for it is at the head of [the module](super).

use std::collections::HashMap;
use std::sync::LazyLock;

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{IsIdentity, VartimeMultiscalarMul};
use sha2::{Digest, Sha512};

use super::sums::{is_torsion_free, subset_sums, weighted};
use super::wide::Wide;
use super::{Key, verify_strict};

/// A signature to decide.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The key it must verify under.
    pub key: &'a Key,
    /// R and S.
    pub signature: &'a [u8; 64],
    /// What was signed.
    pub message: &'a [u8],
}

/// A spoilt batch is searched in this many parts.
const PARTS: usize = 16;
/// Parts of one search that may fail in a row from its start before the rest is decided one by one: whoever spoils
/// signatures thickly gains nothing from being searched for.
const PATIENCE: usize = 3;
/// The fewest signatures that one check of the equation decides in less time than singly.
const FEWEST: usize = 16;
/// The same where the absence of torsion is still to be proved, at 128 scalar multiplications whatever the size.
const FEWEST_UNPROVED: usize = 256;

/// Whether each item verifies, in order: what [`verify_strict`] says of each.
///
/// Give it about [`BATCH`](super::BATCH) items at a time, from as many threads as there are.
pub fn verify_all(items: &[Item<'_>]) -> Vec<bool> {
    let mut verdicts = vec![false; items.len()];
    let mut batch = Vec::with_capacity(items.len());
    for (index, (item, verdict)) in items.iter().zip(verdicts.iter_mut()).enumerate() {
        match Ready::decode(index, item) {
            Ok(ready) => batch.push(ready),
            Err(Unfit::Single) => *verdict = decide_singly(item),
            Err(Unfit::Rejected) => {}
        }
    }
    Search { items, verdicts: &mut verdicts }.decide(&batch, Torsion::Unproved);
    verdicts
}

fn decide_singly(item: &Item<'_>) -> bool {
    verify_strict(item.key, item.message, item.signature)
}

/// Why an item is in no batch.
enum Unfit {
    /// Strict verification rejects it, whatever the message.
    Rejected,
    /// Its key has a torsion component: only `verify_strict` decides it.
    Single,
}

/// An item of a batch, decoded: R canonical and not of small order, S < L, the key of prime order.
struct Ready {
    index: usize,
    r: EdwardsPoint,
    s: Scalar,
    k: Scalar,
}

impl Ready {
    fn decode(index: usize, item: &Item<'_>) -> Result<Self, Unfit> {
        if !item.key.is_prime_order() {
            return Err(Unfit::Single);
        }
        let (halves, _) = item.signature.as_chunks::<32>();
        let [r_bytes, s_bytes] = halves else {
            return Err(Unfit::Rejected);
        };
        let Some(s) = Option::<Scalar>::from(Scalar::from_canonical_bytes(*s_bytes)) else {
            return Err(Unfit::Rejected);
        };
        if !is_reduced(r_bytes) || is_small_order(r_bytes) {
            return Err(Unfit::Rejected);
        }
        let Some(r) = CompressedEdwardsY(*r_bytes).decompress() else {
            return Err(Unfit::Rejected);
        };
        let hash = Sha512::new().chain_update(r_bytes).chain_update(item.key.as_bytes()).chain_update(item.message);
        let k = Scalar::from_bytes_mod_order_wide(&hash.finalize().into());
        Ok(Self { index, r, s, k })
    }
}

/// Whether the y of an encoding is below p = 2^255 - 19. With the points of small order left out, among them those with
/// x = 0, this is all that makes an encoding canonical.
fn is_reduced(bytes: &[u8; 32]) -> bool {
    let [first, middle @ .., last] = bytes;
    *first < 0xed || last & 0x7f != 0x7f || middle.iter().any(|&byte| byte != 0xff)
}

/// Whether a reduced encoding names a point of small order: there are eight of them, with five values of y.
fn is_small_order(bytes: &[u8; 32]) -> bool {
    static ENCODINGS: LazyLock<[[u8; 32]; 8]> =
        LazyLock::new(|| EIGHT_TORSION.map(|point| without_sign(&point.compress().to_bytes())));
    ENCODINGS.contains(&without_sign(bytes))
}

fn without_sign(bytes: &[u8; 32]) -> [u8; 32] {
    let mut bytes = *bytes;
    if let Some(last) = bytes.last_mut() {
        *last &= 0x7f;
    }
    bytes
}

/// What is known of the Rs of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Torsion {
    /// Nothing yet.
    Unproved,
    /// None of them has a torsion component.
    Absent,
}

/// What a batch's checks say.
enum Outcome {
    /// Every signature is good.
    Good,
    /// A signature is bad, and no R has torsion.
    Unequal,
    /// An R has torsion, so that signature is bad.
    TorsionFound,
    /// The system gives no random coefficients.
    NoCoefficients,
}

struct Search<'a> {
    items: &'a [Item<'a>],
    verdicts: &'a mut [bool],
}

impl Search<'_> {
    /// Decides a batch whole, or part by part where it is spoilt. Returns whether it was good as a whole.
    fn decide(&mut self, batch: &[Ready], torsion: Torsion) -> bool {
        let fewest = if torsion == Torsion::Absent { FEWEST } else { FEWEST_UNPROVED };
        if batch.len() < fewest {
            return self.decide_each(batch);
        }
        match self.check(batch, torsion) {
            Outcome::Good => {
                batch.iter().for_each(|ready| self.settle(ready, true));
                true
            }
            Outcome::Unequal => self.search(batch, Torsion::Absent),
            Outcome::TorsionFound => self.search(batch, Torsion::Unproved),
            Outcome::NoCoefficients => self.decide_each(batch),
        }
    }

    /// Looks for what spoils a batch. The parts have their own coefficients; nothing carries over but the proof.
    fn search(&mut self, batch: &[Ready], torsion: Torsion) -> bool {
        let mut spoilt = 0;
        for (part, ready) in batch.chunks(batch.len().div_ceil(PARTS)).enumerate() {
            let hopeless = part >= PATIENCE && spoilt == part;
            let good = if hopeless { self.decide_each(ready) } else { self.decide(ready, torsion) };
            spoilt += usize::from(hopeless || !good);
        }
        false
    }

    fn decide_each(&mut self, batch: &[Ready]) -> bool {
        let mut all = true;
        for ready in batch {
            let good = self.items.get(ready.index).is_some_and(decide_singly);
            self.settle(ready, good);
            all &= good;
        }
        all
    }

    fn settle(&mut self, ready: &Ready, good: bool) {
        if let Some(verdict) = self.verdicts.get_mut(ready.index) {
            *verdict = good;
        }
    }

    fn check(&self, batch: &[Ready], torsion: Torsion) -> Outcome {
        let Some(coefficients) = coefficients(batch.len()) else {
            return Outcome::NoCoefficients;
        };
        let mut scalars = Vec::with_capacity(batch.len() + 1);
        let mut points = Vec::with_capacity(batch.len() + 1);
        let mut base = Wide::default();
        let mut slots: HashMap<*const Key, usize> = HashMap::new();
        let mut keys: Vec<(&Key, Wide)> = Vec::new();
        for (ready, &z) in batch.iter().zip(&coefficients) {
            base.add_product(z, &ready.s);
            let Some(item) = self.items.get(ready.index) else {
                continue;
            };
            // Two decodings of one key only cost a point more.
            let slot = *slots.entry(item.key).or_insert_with(|| {
                keys.push((item.key, Wide::default()));
                keys.len() - 1
            });
            if let Some((_, sum)) = keys.get_mut(slot) {
                sum.add_product(z, &ready.k);
            }
        }
        match torsion {
            Torsion::Unproved => {
                points.extend(batch.iter().map(|ready| ready.r));
                let sums = subset_sums(&coefficients, &points);
                if !sums.iter().all(is_torsion_free) {
                    return Outcome::TorsionFound;
                }
                points.clear();
                scalars.push(Scalar::ONE);
                points.push(weighted(&sums));
            }
            Torsion::Absent => {
                scalars.extend(coefficients.iter().map(|&z| Scalar::from(z)));
                points.extend(batch.iter().map(|ready| ready.r));
            }
        }
        scalars.push(-base.reduce());
        points.push(ED25519_BASEPOINT_POINT);
        scalars.extend(keys.iter().map(|(_, sum)| sum.reduce()));
        points.extend(keys.iter().map(|(key, _)| key.point()));
        if EdwardsPoint::vartime_multiscalar_mul(&scalars, &points).is_identity() {
            Outcome::Good
        } else {
            Outcome::Unequal
        }
    }
}

/// `n` coefficients from the operating system, drawn after the signatures are fixed.
fn coefficients(n: usize) -> Option<Vec<u128>> {
    let mut bytes = vec![0u8; n * size_of::<u128>()];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.as_chunks().0.iter().map(|chunk| u128::from_le_bytes(*chunk)).collect())
}

#[cfg(test)]
mod tests {
    use super::super::adversary::{GOOD, Signed, with_torsion};
    use super::*;

    /// What the checks say of a batch, every item of which they must take.
    fn check(batch: &[Signed], torsion: Torsion) -> Outcome {
        let items: Vec<Item<'_>> = batch.iter().map(Signed::item).collect();
        let ready: Vec<Ready> = items
            .iter()
            .enumerate()
            .map(|(index, item)| Ready::decode(index, item).unwrap_or_else(|_| panic!("{index} is for no batch")))
            .collect();
        Search { items: &items, verdicts: &mut [] }.check(&ready, torsion)
    }

    #[test]
    fn the_checks_themselves() {
        // That verdicts equal the strict ones would not show a check that always fails.
        let mut batch = GOOD[..700].to_vec();
        for _ in 0..20 {
            assert!(matches!(check(&batch, Torsion::Unproved), Outcome::Good));
            assert!(matches!(check(&batch, Torsion::Absent), Outcome::Good));
        }
        batch[3] = batch[3].with_message_of(&batch[4]);
        assert!(matches!(check(&batch, Torsion::Unproved), Outcome::Unequal));
        assert!(matches!(check(&batch, Torsion::Absent), Outcome::Unequal));
    }

    #[test]
    fn torsion_never_slips_through() {
        // With the proof of torsion left out, half of these pairs would pass: the equation alone sees z1 + z2 modulo 2.
        let mut passed = 0;
        for i in 0..40 {
            let mut batch = GOOD[..64].to_vec();
            batch[i] = with_torsion(&batch[i], 4, 1);
            batch[i + 1] = with_torsion(&batch[i + 1], 4, 2);
            assert!(matches!(check(&batch, Torsion::Unproved), Outcome::TorsionFound));
            passed += usize::from(matches!(check(&batch, Torsion::Absent), Outcome::Good));
        }
        assert!((5..=35).contains(&passed), "{passed} of 40");
    }

    #[test]
    fn canonical_encodings() {
        let encoding = |first: u8, last: u8| {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (first, last);
            bytes
        };
        assert!(is_reduced(&encoding(0xec, 0x7f)), "p - 1");
        assert!(!is_reduced(&encoding(0xed, 0x7f)), "p");
        assert!(!is_reduced(&encoding(0xff, 0xff)), "2^255 - 1 with the sign set");
        assert!(is_reduced(&encoding(0xff, 0x7e)));
        for point in EIGHT_TORSION {
            let bytes = point.compress().to_bytes();
            assert!(is_reduced(&bytes) && is_small_order(&bytes));
        }
        let mut minus_zero = [0u8; 32];
        (minus_zero[0], minus_zero[31]) = (1, 0x80);
        assert!(is_small_order(&minus_zero));
        assert!(!is_small_order(&ED25519_BASEPOINT_POINT.compress().to_bytes()));
    }
}
