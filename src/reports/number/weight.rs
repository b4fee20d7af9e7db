//! A weight: `K · 2^(−age / (H · 86 400 000))`, correctly rounded to 15 places (profile 2.2), in units of 1e-15.
//!
//! Write `x = age / (H · 86 400 000) = n + f` with a whole `n` and `0 ≤ f < 1`, and `c = K · 10^15`. The weight is `c · 2^-f / 2^n`, rounded. All
//! below is in integers; one *ulp* is 2^-64.
//!
//! **The exact case.** When `f = 0` the weight is the rational `c / 2^n`, rounded as it stands. Otherwise `x` is a rational that is no
//! integer, so `2^-x` is irrational: were it `u/v`, then with `x = p/q` in lowest terms and `q > 1`, `v^q = 2^p · u^q`, and the
//! exponents of 2 on both sides give `q | p`. Hence for `K > 0` the value lies on no rounding boundary, and a fine enough enclosure decides.
//!
//! **The fast path** encloses `y = 2^-f` in 64 bits. With `F = ⌊f · 2^64⌋ = i · 2^56 + j · 2^48 + r`:
//!
//! - `2^-f` differs from `y0 = 2^-(F/2^64)` by less than `ln 2` ulp, downwards.
//! - `t1 = 2^-(i/2^8)` and `t2 = 2^-(j/2^16)` come from tables that hold their floors (1 as 2^64 − 1): at most 1 ulp below. With
//!   `A = ⌊T1 · T2 / 2^64⌋`, `t1 · t2 · 2^64` is in `[A, A + 3)`: the floor takes less than 1, the two table errors less than 2.
//! - `z = (r / 2^64) · ln 2 < 2^-16.5` gives `2^-(r/2^64) = 1 − q`, `q = z − z²/2 + z³/6 − …`. The series alternates and falls, so
//!   what is left out is below `z⁴/24 < 2^-70`. In units of 2^-80, `z` is computed from `ln 2` cut to 64 bits and then cut: less than 2 units
//!   below; `z²/2` and `z³/6` carry less than 3 units each, either way. So `Q`, the sum cut to 64 bits, has
//!   `q · 2^64 ∈ (Q − τ, Q + 1 + τ)` with `τ = 8 · 2^-16 + 2^-6 < 0.02`.
//! - `Y = A − ⌊A · Q / 2^64⌋`. From `a ∈ [A, A + 3)` and that `q`: `y0 · 2^64 ∈ (Y − 2 − τ, Y + 3 + τ]`, and with the first point
//!   `y · 2^64 ∈ (Y − 3, Y + 4)`.
//!
//! The weight is between `c · (Y − 3)` and `c · (Y + 4)`, each over `2^(64 + n)`. Where both round to one integer, that is it. They do
//! not in about 7 · 10^15 / 2^64, one in 2,600, of the ages below one half-life, and more rarely beyond; `exact.rs` decides those in
//! longer integers. From `n = 51` on, `10^15 / 2^51 < 1/2`: the weight is 0.

use std::sync::LazyLock;

use super::exact::{Exact, isqrt_shifted};
use crate::policy::Decimal;
use num_bigint::BigUint;

/// The weight 1: 10^15 units of 1e-15.
pub const ONE: u64 = 1_000_000_000_000_000;

/// `⌊ln 2 · 2^64⌋`; a test holds it against `exact.rs`.
const LN2: u64 = 0xB172_17F7_D1CF_79AB;

/// From this many whole half-lives on, a weight is below half a unit.
const VANISHED: u64 = 51;

/// Computes weights of one half-life and one `value_weight`.
#[derive(Debug, Clone)]
pub struct Weigher {
    /// `x = age · numerator / denominator`, in lowest terms; absent where the two do not fit, and `exact` does all the work.
    ratio: Option<(u64, u64)>,
    /// `value_weight · 10^15`, where it is an integer.
    value_units: Option<u64>,
    plain: Exact,
    value: Exact,
}

impl Weigher {
    /// A weigher for a half-life in days and the factor of value judgments. `None` where the half-life is 0 or the factor above 1.
    ///
    /// A half-life of up to 11 significant digits and a factor of up to 15 places take the fast path; others are exact as well, and slow.
    pub fn new(half_life_days: &Decimal, value_weight: &Decimal) -> Option<Weigher> {
        if half_life_days.is_zero() || *value_weight > Decimal::ONE {
            return None;
        }
        let value_units = if value_weight.scale() <= 15 {
            value_weight.units_ceil(15).and_then(|units| u64::try_from(units).ok())
        } else {
            None
        };
        Some(Weigher {
            ratio: ratio(half_life_days),
            value_units,
            plain: Exact::new(half_life_days, &Decimal::ONE),
            value: Exact::new(half_life_days, value_weight),
        })
    }

    /// The weight of an event of this age, in units of 1e-15: 0 to 10^15.
    pub fn weight(&self, age_ms: u64, is_value: bool) -> u64 {
        let units = if is_value { self.value_units } else { Some(ONE) };
        let fast = match (self.ratio, units) {
            (Some(ratio), Some(units)) => fast(age_ms, ratio, units),
            _ => None,
        };
        match fast {
            Some(weight) => weight,
            None if is_value => self.value.weight(age_ms),
            None => self.plain.weight(age_ms),
        }
    }

    /// The weight at `as_of` of an event that ended at `t`: its age is `max(0, T − t)` (2.2).
    pub fn weight_at(&self, as_of: i64, t: i64, is_value: bool) -> u64 {
        self.weight(u64::try_from(i128::from(as_of) - i128::from(t)).unwrap_or(0), is_value)
    }
}

/// `10^scale / (mantissa · 86 400 000)` in lowest terms, where both fit 64 bits.
fn ratio(half_life_days: &Decimal) -> Option<(u64, u64)> {
    let numerator = 10u128.checked_pow(half_life_days.scale())?;
    let denominator = half_life_days.mantissa().checked_mul(86_400_000)?;
    let (mut a, mut b) = (denominator, numerator);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some((u64::try_from(numerator / a).ok()?, u64::try_from(denominator / a).ok()?))
}

/// The weight, or `None` where 64 bits do not decide.
fn fast(age_ms: u64, (numerator, denominator): (u64, u64), units: u64) -> Option<u64> {
    let scaled = u128::from(age_ms) * u128::from(numerator);
    let whole = scaled / u128::from(denominator);
    if whole >= u128::from(VANISHED) {
        return Some(0);
    }
    let n = whole as u32;
    // Below 2^64, since the remainder is below the denominator.
    let remainder = (scaled % u128::from(denominator)) as u64;
    if remainder == 0 {
        return Some(rounded(u128::from(units), n));
    }
    let f = ((u128::from(remainder) << 64) / u128::from(denominator)) as u64;
    let y = power(f);
    let below = rounded(u128::from(units) * u128::from(y.saturating_sub(3)), n + 64);
    let above = rounded(u128::from(units) * (u128::from(y) + 4), n + 64);
    (below == above).then_some(above)
}

/// `value / 2^shift`, rounded half away from zero, of at most 2^115 and a shift of at most 114.
fn rounded(value: u128, shift: u32) -> u64 {
    let half = if shift == 0 { 0 } else { 1u128 << (shift - 1) };
    ((value + half) >> shift) as u64
}

/// `Y` of the head comment: `2^-(f/2^64) · 2^64` less its error.
fn power(f: u64) -> u64 {
    let tables = &*TABLES;
    // Both indexes are one byte and both tables have 256 entries.
    let (i, j) = ((f >> 56) as usize, (f >> 48) as usize & 0xFF);
    let r = u128::from(f & 0xFFFF_FFFF_FFFF);
    let a = (u128::from(tables.coarse[i]) * u128::from(tables.fine[j])) >> 64;
    let z = ((r << 16) * u128::from(LN2)) >> 64;
    let z2 = (z * z) >> 80;
    let z3 = (z2 * z) >> 80;
    let q = (z + z3 / 6 - z2 / 2) >> 16;
    (a - ((a * q) >> 64)) as u64
}

/// Floors of `2^64 · 2^-(i/2^8)` and of `2^64 · 2^-(j/2^16)`, with 2^64 − 1 for 1.
struct Tables {
    coarse: [u64; 256],
    fine: [u64; 256],
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    // 2^-(1/2^k) in 256 bits by k square roots, each cut. A root of a number above 1/2 takes an error times at most 0.71, and the cut adds
    // 1, so no root errs by 4 units of 2^-256; a product of up to 255 of them, cut each time, errs by less than 255 · 5 < 2^11. So the
    // entries are floors but where a multiple of 2^-64 lies within 2^-245, and a test finds none with 512 bits.
    let bits = 256;
    let mut root = BigUint::from(1u8) << (bits - 1);
    let mut roots = Vec::with_capacity(16);
    for _ in 0..16 {
        root = isqrt_shifted(&root, bits);
        roots.push(root.clone());
    }
    Tables { coarse: powers(&roots[7], bits), fine: powers(&roots[15], bits) }
});

/// The floors of `2^64 · base^i`, for a base of `bits` fraction bits.
fn powers(base: &BigUint, bits: u64) -> [u64; 256] {
    let mut power = BigUint::from(1u8) << bits;
    let mut table = [u64::MAX; 256];
    for entry in table.iter_mut().skip(1) {
        power = (power * base) >> bits;
        *entry = u64::try_from(&power >> (bits - 64)).unwrap_or(u64::MAX);
    }
    table
}

#[cfg(test)]
pub(super) mod inside {
    //! What the tests of this room look at.
    use super::*;

    pub fn fast_or_none(age: u64, half_life: &Decimal, units: u64) -> Option<u64> {
        fast(age, ratio(half_life)?, units)
    }

    pub const LN2_BITS: u64 = LN2;

    /// `2^-(f/2^64)` as the fast path encloses it, in ulp of 2^-64.
    pub fn enclosure(f: u64) -> (u128, u128) {
        let y = u128::from(power(f));
        (y.saturating_sub(3), y + 4)
    }

    pub fn tables() -> ([u64; 256], [u64; 256]) {
        (TABLES.coarse, TABLES.fine)
    }
}
