//! The 128 subset sums of a batch: sum b takes every point whose coefficient has bit b.

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;

/// Bits of a coefficient, and so sums of a batch.
pub(super) const BITS: u32 = u128::BITS;

/// For each bit, the sum of the points whose coefficient has it.
///
/// A round takes `width` bits: every point is added into one of 2^width buckets, and the buckets are folded in half,
/// once a bit, after the upper half has been added up. 128/width · (n + 2^(width+1)) additions in all.
pub(super) fn subset_sums(coefficients: &[u128], points: &[EdwardsPoint]) -> Vec<EdwardsPoint> {
    let width = width_for(points.len());
    let mut sums = vec![EdwardsPoint::identity(); BITS as usize];
    let mut buckets = vec![EdwardsPoint::identity(); 1 << width];
    for first in (0..BITS).step_by(width as usize) {
        let taken = width.min(BITS - first);
        let mask = (1u128 << taken) - 1;
        buckets.fill(EdwardsPoint::identity());
        for (z, point) in coefficients.iter().zip(points) {
            let digit = ((z >> first) & mask) as usize;
            if let Some(bucket) = buckets.get_mut(digit) {
                *bucket += point;
            }
        }
        for (bit, sum) in (0..taken).zip(sums.iter_mut().skip(first as usize)).rev() {
            let (low, high) = buckets.split_at_mut(1 << bit);
            for (l, h) in low.iter_mut().zip(high) {
                *sum += &*h;
                *l += &*h;
            }
        }
    }
    sums
}

/// The bits a round should take for `n` points.
fn width_for(n: usize) -> u32 {
    let cost = |width: u32| BITS.div_ceil(width) as usize * (n + (2 << width));
    (1..=12).min_by_key(|&width| cost(width)).unwrap_or(8)
}

/// Σ 2^b · sums\[b\], which is Σ zᵢ·Pᵢ.
pub(super) fn weighted(sums: &[EdwardsPoint]) -> EdwardsPoint {
    sums.iter().rev().fold(EdwardsPoint::identity(), |total, sum| total + total + sum)
}

/// Whether the point has no torsion component. \[L-1\]P = -P says so, and L-1 is a scalar of the public interface with
/// few non-zero digits, for a multiplication that need not hide it.
pub(super) fn is_torsion_free(point: &EdwardsPoint) -> bool {
    EdwardsPoint::vartime_double_scalar_mul_basepoint(&-Scalar::ONE, point, &Scalar::ZERO) == -point
}

#[cfg(test)]
mod tests {
    use super::*;
    use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};

    fn points(n: usize) -> (Vec<u128>, Vec<EdwardsPoint>) {
        let mut point = ED25519_BASEPOINT_POINT + EIGHT_TORSION[1];
        let mut z = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835_u128;
        (0..n)
            .map(|_| {
                point = point + point + ED25519_BASEPOINT_POINT;
                z = z.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(7).rotate_left(29);
                (z, point)
            })
            .unzip()
    }

    #[test]
    fn sums_are_those_of_the_bits() {
        for n in [0, 1, 2, 33, 700] {
            let (z, p) = points(n);
            let sums = subset_sums(&z, &p);
            assert_eq!(sums.len(), 128);
            for (bit, sum) in sums.iter().enumerate() {
                let plain: EdwardsPoint = z.iter().zip(&p).filter(|(z, _)| *z >> bit & 1 == 1).map(|(_, p)| p).sum();
                assert_eq!(*sum, plain, "bit {bit} of {n}");
            }
            let plain: EdwardsPoint = z.iter().zip(&p).map(|(z, p)| p * Scalar::from(*z)).sum();
            assert_eq!(weighted(&sums), plain);
        }
    }

    #[test]
    fn torsion_is_seen_in_every_order() {
        let point = ED25519_BASEPOINT_POINT * Scalar::from(77u8);
        for (i, torsion) in EIGHT_TORSION.iter().enumerate() {
            assert_eq!(is_torsion_free(&(point + torsion)), i == 0);
            assert_eq!(is_torsion_free(torsion), i == 0);
        }
    }

    #[test]
    fn widths() {
        assert_eq!(width_for(8192), 10);
        assert!((1..=12).contains(&width_for(0)));
        assert!(width_for(1 << 30) <= 12);
    }
}
