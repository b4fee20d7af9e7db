//! Sums of products of a 128-bit coefficient and a scalar, reduced modulo L once at the end.

use curve25519_dalek::scalar::Scalar;

/// Σ zᵢ·xᵢ as an integer of 512 bits, for at most 2^64 terms of less than 2^(128+253).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wide([u64; 8]);

impl Wide {
    /// Adds `z · x`.
    pub(super) fn add_product(&mut self, z: u128, x: &Scalar) {
        let (words, _) = x.as_bytes().as_chunks::<8>();
        for (shift, zw) in [z as u64, (z >> 64) as u64].into_iter().enumerate() {
            let mut carry = 0u64;
            let mut rows = self.0.iter_mut().skip(shift);
            for (word, row) in words.iter().zip(rows.by_ref()) {
                (*row, carry) = u64::from_le_bytes(*word).carrying_mul_add(zw, carry, *row);
            }
            for row in rows {
                let (sum, over) = row.overflowing_add(carry);
                *row = sum;
                carry = u64::from(over);
            }
        }
    }

    /// The sum modulo L.
    pub(super) fn reduce(&self) -> Scalar {
        let mut bytes = [0u8; 64];
        for (to, from) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(self.0) {
            *to = from.to_le_bytes();
        }
        Scalar::from_bytes_mod_order_wide(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_scalar_arithmetic(terms in prop::collection::vec((any::<u128>(), any::<[u8; 64]>()), 0..40)) {
            let mut wide = Wide::default();
            let mut sum = Scalar::ZERO;
            for (z, bytes) in &terms {
                let x = Scalar::from_bytes_mod_order_wide(bytes);
                wide.add_product(*z, &x);
                sum += Scalar::from(*z) * x;
            }
            prop_assert_eq!(wide.reduce(), sum);
        }
    }

    #[test]
    fn carries_through_every_word() {
        let mut wide = Wide([u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, 0, 0]);
        wide.add_product(1, &Scalar::ONE);
        assert_eq!(wide.0, [0, 0, 0, 0, 0, 0, 1, 0]);
        let mut wide = Wide::default();
        for _ in 0..1000 {
            wide.add_product(u128::MAX, &-Scalar::ONE);
        }
        assert_eq!(wide.reduce(), Scalar::from(u128::MAX) * -Scalar::ONE * Scalar::from(1000u64));
    }
}
