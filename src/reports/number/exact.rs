//! The weight in integers as long as it takes (Ziv's method): the fallback of `weight.rs`, right for every decimal of a policy.
//!
//! With `p` bits behind the point, `2^-f` is computed as `e^(-f · ln 2)`: the argument is divided by 2^16, its series summed, and the sum squared 16
//! times. `ln 2 = 18 L(26) − 2 L(4801) + 8 L(8749)` with `L(m) = Σ 1 / ((2k+1) · m^(2k+1))` (Gauss; a test holds it against √2).
//!
//! **Error bound**, in units of 2^-p, for p ≥ 64. A term of `L` is cut by less than 2, there are fewer than p/9 + 2 of them, and what is left out is
//! below 3; so `ln 2` errs by less than 28 · (2p/9 + 7) < 7p + 200. The argument `g = f · ln 2 / 2^16` then errs by less than p + 4. A
//! term of the series of `e^-g` is cut by less than 3, with what its predecessors' cuts do to it, there are fewer than p/16 + 2, and
//! what is left out is below 3; so the sum errs by less than (p + 4) + 3 · (p/16 + 2) + 3 < 2p + 16. A square of a value of at most 1 doubles the
//! error and adds less than 2; after 16 of them it is below `2^16 · (2p + 18)`. The enclosure taken is `2^48` to both sides, which covers
//! every p up to 2^30.
//!
//! If both ends of the enclosure round to one integer, it is the weight; if not, p is doubled. `weight.rs` shows why that ends.

use num_bigint::BigUint;

use crate::policy::Decimal;

/// The first precision: an enclosure of width 2^-143, so that a second round is needed once in 10^27.
const FIRST_BITS: u64 = 192;
/// Half the width of an enclosure, as a power of two in units of 2^-p.
const SLACK_BITS: u64 = 48;
/// From this many whole half-lives on a weight is below half a unit.
const VANISHED: u64 = 51;

/// A half-life and a factor K, as exact fractions.
#[derive(Debug, Clone)]
pub(super) struct Exact {
    /// `x = age · numerator / denominator`.
    numerator: BigUint,
    denominator: BigUint,
    /// `c = K · 10^15 = units / unit_of`.
    units: BigUint,
    unit_of: BigUint,
}

impl Exact {
    pub(super) fn new(half_life_days: &Decimal, factor: &Decimal) -> Exact {
        Exact {
            numerator: ten_to(half_life_days.scale()),
            denominator: BigUint::from(half_life_days.mantissa()) * 86_400_000u32,
            units: BigUint::from(factor.mantissa()) * ten_to(15),
            unit_of: ten_to(factor.scale()),
        }
    }

    pub(super) fn weight(&self, age_ms: u64) -> u64 {
        self.weight_from(age_ms, FIRST_BITS).0
    }

    /// The weight, and the precision that decided it, with `bits` to begin with. An exact case takes none.
    pub(super) fn weight_from(&self, age_ms: u64, bits: u64) -> (u64, u64) {
        let scaled = BigUint::from(age_ms) * &self.numerator;
        let whole = &scaled / &self.denominator;
        if whole >= BigUint::from(VANISHED) || self.units == BigUint::ZERO {
            return (0, 0);
        }
        let n = u64::try_from(&whole).unwrap_or(VANISHED);
        let remainder = scaled - whole * &self.denominator;
        if remainder == BigUint::ZERO {
            return (self.rounded(&self.units, n), 0);
        }
        let slack = BigUint::from(1u8) << SLACK_BITS;
        let mut bits = bits.max(SLACK_BITS + 16);
        loop {
            let power = power(&((&remainder << bits) / &self.denominator), bits);
            let above = self.rounded(&(&self.units * (&power + &slack)), n + bits);
            // The power is above 1/2, and the slack below 2^-16.
            let below = self.rounded(&(&self.units * (&power - &slack)), n + bits);
            if above == below {
                return (above, bits);
            }
            bits *= 2;
        }
    }

    /// `value / (unit_of · 2^shift)`, rounded half away from zero.
    fn rounded(&self, value: &BigUint, shift: u64) -> u64 {
        let divisor = &self.unit_of << (shift + 1);
        let doubled: BigUint = (value << 1u8) + (&self.unit_of << shift);
        u64::try_from(doubled / divisor).unwrap_or(u64::MAX)
    }
}

fn ten_to(places: u32) -> BigUint {
    BigUint::from(10u8).pow(places)
}

/// `2^-f` for `f` of `bits` fraction bits, to within the bound of the head comment (`f` itself may be cut by one unit).
fn power(f: &BigUint, bits: u64) -> BigUint {
    let one = BigUint::from(1u8) << bits;
    let g = (f * ln2(bits)) >> (bits + 16);
    // e^-g = Σ (−g)^k / k!, the positive and the negative terms apart.
    let (mut plus, mut minus) = (one.clone(), BigUint::ZERO);
    let mut term = one;
    for k in 1u32.. {
        term = ((term * &g) >> bits) / k;
        if term == BigUint::ZERO {
            break;
        }
        *(if k % 2 == 0 { &mut plus } else { &mut minus }) += &term;
    }
    let mut power = plus - minus;
    for _ in 0..16 {
        power = (&power * &power) >> bits;
    }
    power
}

/// `ln 2` with `bits` fraction bits, a little below or above.
pub(super) fn ln2(bits: u64) -> BigUint {
    (inverse_series(26, bits) * 18u8 + inverse_series(8749, bits) * 8u8) - inverse_series(4801, bits) * 2u8
}

/// `L(m)`, the inverse hyperbolic tangent of 1/m.
fn inverse_series(m: u32, bits: u64) -> BigUint {
    let mut power = (BigUint::from(1u8) << bits) / m;
    let mut sum = BigUint::ZERO;
    for k in 0u32.. {
        let term = &power / (2 * k + 1);
        if term == BigUint::ZERO {
            break;
        }
        sum += term;
        power /= m;
        power /= m;
    }
    sum
}

/// The square root, cut, of a number of `bits` fraction bits.
pub(super) fn isqrt_shifted(number: &BigUint, bits: u64) -> BigUint {
    (number << bits).sqrt()
}
