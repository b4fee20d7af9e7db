//! Six places, rates and ranks (profile 2.2): one rounding each, half away from zero, in integers.

use num_bigint::{BigInt, Sign};

const MILLION: i128 = 1_000_000;

/// A double's exact value rounded to 6 places, in millionths. `None` where it is not finite or does not fit.
pub fn six_places_of_f64(x: f64) -> Option<i64> {
    if !x.is_finite() {
        return None;
    }
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7FF) as i32;
    let fraction = bits & ((1 << 52) - 1);
    // |x| = mantissa · 2^power
    let (mantissa, power) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let scaled = u128::from(mantissa) * MILLION.unsigned_abs();
    // `scaled` is below 2^73: past a shift of 75 it is below a half, and from 2^63 on nothing fits.
    let rounded = match power {
        ..=-75 => 0,
        -74..=-1 => (scaled + (1 << (-power - 1))) >> -power,
        0..=53 => scaled << power,
        _ => return if scaled == 0 { Some(0) } else { None },
    };
    let magnitude = i64::try_from(rounded).ok()?;
    Some(if x.is_sign_negative() { -magnitude } else { magnitude })
}

/// `num / den` rounded to 6 places, in millionths. `None` where `den` is 0 or the result does not fit.
pub fn six_places_of_ratio(num: i128, den: i128) -> Option<i64> {
    let small = |n: i128| n.checked_mul(2 * MILLION).is_some();
    if den > 0 && small(num) && small(den) {
        // Half away from zero: the magnitude of twice the number plus one, halved.
        let magnitude = (num.abs() * (2 * MILLION) + den) / (2 * den);
        return i64::try_from(if num < 0 { -magnitude } else { magnitude }).ok();
    }
    six_places(&BigInt::from(num), &BigInt::from(den))
}

/// `units · 10^-scale` rounded to 6 places, in millionths. `None` where the result does not fit.
pub fn six_places_of_decimal(units: i128, scale: u32) -> Option<i64> {
    match 10i128.checked_pow(scale) {
        Some(den) => six_places_of_ratio(units, den),
        None => six_places(&BigInt::from(units), &BigInt::from(10u8).pow(scale)),
    }
}

/// `num / den` rounded to 6 places, in millionths, of any size.
pub(super) fn six_places(num: &BigInt, den: &BigInt) -> Option<i64> {
    if den.sign() == Sign::NoSign {
        return None;
    }
    i64::try_from(divide(&(num * MILLION), den)).ok()
}

/// `num / den` rounded to a whole number, half away from zero, for a `den` that is not 0.
pub(super) fn divide(num: &BigInt, den: &BigInt) -> BigInt {
    let negative = (num.sign() == Sign::Minus) != (den.sign() == Sign::Minus);
    let (num, den) = (num.magnitude(), den.magnitude());
    let magnitude = (num * 2u8 + den) / (den * 2u8);
    BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, magnitude)
}

/// A number of 6 places as JSON: an integer where it is whole, else the double nearest to it, which JCS writes with those places.
pub fn millionths_to_json(millionths: i64) -> serde_json::Number {
    let whole = millionths / 1_000_000;
    if millionths % 1_000_000 == 0 {
        return serde_json::Number::from(whole);
    }
    // Beyond 2^53 the integer itself is not a double; then the text is read, which is correctly rounded too.
    let number = if millionths.unsigned_abs() <= 1 << 53 {
        millionths as f64 / 1e6
    } else {
        format!("{millionths}e-6").parse().unwrap_or(f64::NAN)
    };
    serde_json::Number::from_f64(number).unwrap_or_else(|| serde_json::Number::from(whole))
}

/// The nearest rank of a percentile `p_num / p_den` among `n` values: `⌈p·n⌉`, counted from 1 and at least 1. `None` with no value.
pub fn rank(p_num: u64, p_den: u64, n: u64) -> Option<u64> {
    if n == 0 || p_den == 0 {
        return None;
    }
    let rank = (u128::from(p_num) * u128::from(n)).div_ceil(u128::from(p_den));
    u64::try_from(rank).ok().map(|rank| rank.clamp(1, n))
}
