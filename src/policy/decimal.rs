//! A decimal exactly as the policy file writes it (profile 2.1): an integer and a power of ten, never a double.

use std::cmp::Ordering;
use std::fmt;

/// The most digits that a decimal may have before its point, and the most after it.
pub const MAX_DIGITS: u32 = 28;

/// An exact, non-negative decimal: `mantissa · 10^-scale`, with no trailing zero in the mantissa behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    mantissa: u128,
    scale: u32,
}

/// Why a text is no decimal of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalFault {
    /// `inf`, `nan`, a hexadecimal number, or no number at all.
    #[error("is not a decimal number")]
    NotADecimal,
    /// Below zero.
    #[error("is negative")]
    Negative,
    /// More digits than an exact calculation is offered for.
    #[error(
        "has too many digits: at most {MAX_DIGITS} significant ones, {MAX_DIGITS} before the point and {MAX_DIGITS} after it"
    )]
    TooManyDigits,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal::whole(0);
    /// One.
    pub const ONE: Decimal = Decimal::whole(1);

    /// A whole number.
    pub const fn whole(number: u64) -> Decimal {
        Decimal { mantissa: number as u128, scale: 0 }
    }

    /// A number of one place behind the point, not a whole one.
    pub(super) const fn tenths(number: u64) -> Decimal {
        Decimal { mantissa: number as u128, scale: 1 }
    }

    /// Reads `60`, `45.5`, `1e3`, `+2.50E-1`. What TOML allows beside it (underscores) must be gone already.
    pub fn parse(text: &str) -> Result<Decimal, DecimalFault> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, read_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || (digits.contains('.') && fraction.is_empty()) {
            return Err(DecimalFault::NotADecimal);
        }
        if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return Err(DecimalFault::NotADecimal);
        }
        let written = format!("{whole}{fraction}");
        let significant = written.trim_start_matches('0').trim_end_matches('0');
        if significant.is_empty() {
            return Ok(Decimal::ZERO);
        }
        if negative {
            return Err(DecimalFault::Negative);
        }
        if significant.len() > MAX_DIGITS as usize {
            return Err(DecimalFault::TooManyDigits);
        }
        let mantissa: u128 = significant.parse().map_err(|_| DecimalFault::NotADecimal)?;
        let dropped = written.len() - written.trim_end_matches('0').len();
        let scale = fraction.len() as i64 - dropped as i64 - exponent;
        Decimal::of(mantissa, significant.len() as i64, scale)
    }

    /// The decimal of a mantissa with no trailing zero, which has `digits` digits.
    fn of(mantissa: u128, digits: i64, scale: i64) -> Result<Decimal, DecimalFault> {
        let most = i64::from(MAX_DIGITS);
        if scale > most || digits - scale > most {
            return Err(DecimalFault::TooManyDigits);
        }
        let (mantissa, scale) =
            if scale < 0 { (mantissa * 10u128.pow(scale.unsigned_abs() as u32), 0) } else { (mantissa, scale as u32) };
        Ok(Decimal { mantissa, scale })
    }

    /// The integer in front of the power of ten; below 10^28.
    pub fn mantissa(&self) -> u128 {
        self.mantissa
    }

    /// How many places behind the point; at most 28.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    /// The number, where it is whole.
    pub fn as_whole(&self) -> Option<u64> {
        if self.scale == 0 { u64::try_from(self.mantissa).ok() } else { None }
    }

    /// The smallest integer `n` with `n · 10^-places` not below the number, for a comparison of exact sums (2.2).
    pub fn units_ceil(&self, places: u32) -> Option<i128> {
        if places >= self.scale {
            let factor = 10i128.checked_pow(places - self.scale)?;
            i128::try_from(self.mantissa).ok()?.checked_mul(factor)
        } else {
            i128::try_from(self.mantissa.div_ceil(10u128.pow(self.scale - places))).ok()
        }
    }

    /// `number · factor`, rounded down and rounded up, each cut to `i64::MAX`.
    pub(crate) fn times(&self, factor: u64) -> (i64, i64) {
        let unit = 10u128.pow(self.scale);
        let cut = |n: Option<u128>| n.and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::MAX);
        match self.mantissa.checked_mul(u128::from(factor)) {
            Some(product) => (cut(Some(product / unit)), cut(Some(product.div_ceil(unit)))),
            None => (i64::MAX, i64::MAX),
        }
    }

    /// The number as a JSON number where the double that JCS writes is this very decimal, else its digits as a JSON string,
    /// so that what is published is what is in force.
    pub(crate) fn to_json(self) -> serde_json::Value {
        const SAFE: u128 = (1 << 53) - 1;
        let text = self.to_string();
        if self.scale == 0 && self.mantissa <= SAFE {
            return serde_json::Value::from(self.mantissa as u64);
        }
        // `{:e}` writes the shortest digits that read back as the same double, as ECMAScript does.
        let number = text.parse::<f64>().ok();
        match number.filter(|n| Decimal::parse(&format!("{n:e}")) == Ok(self)).and_then(serde_json::Number::from_f64) {
            Some(number) => serde_json::Value::Number(number),
            None => serde_json::Value::String(text),
        }
    }
}

fn read_exponent(text: &str) -> Result<i64, DecimalFault> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DecimalFault::NotADecimal);
    }
    // An exponent of more than nine digits is out of every bound; the cut value is too.
    let size = digits.parse::<i64>().unwrap_or(i64::MAX).min(1_000_000_000);
    Ok(if text.starts_with('-') { -size } else { size })
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let (own, theirs) = (self.mantissa / 10u128.pow(self.scale), other.mantissa / 10u128.pow(other.scale));
        own.cmp(&theirs).then_with(|| self.behind_the_point().cmp(&other.behind_the_point()))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Decimal {
    /// The part behind the point in units of 10^-28.
    fn behind_the_point(&self) -> u128 {
        (self.mantissa % 10u128.pow(self.scale)) * 10u128.pow(MAX_DIGITS - self.scale)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10u128.pow(self.scale);
        match self.scale {
            0 => write!(f, "{}", self.mantissa),
            places => write!(f, "{}.{:0width$}", self.mantissa / unit, self.mantissa % unit, width = places as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Decimal::parse(text).map_or_else(|fault| fault.to_string(), |d| d.to_string())
    }

    #[test]
    fn a_decimal_is_what_is_written() {
        for (text, value) in [
            ("60", "60"),
            ("45.5", "45.5"),
            ("+0.50", "0.5"),
            ("1e3", "1000"),
            ("2.50E-1", "0.25"),
            ("0.1", "0.1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e999999999999", "0"),
            ("100", "100"),
            ("1.10e1", "11"),
            ("1e-28", "0.0000000000000000000000000001"),
            ("007.0", "7"),
        ] {
            assert_eq!(shown(text), value, "{text}");
        }
        assert_eq!(Decimal::parse("0.1").map(|d| (d.mantissa(), d.scale())), Ok((1, 1)));
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in ["", ".", "1.", ".5", "inf", "nan", "0x10", "1e", "1e+", "e3", "1_0", "1.2.3", "--1", "+", "١"] {
            assert_eq!(Decimal::parse(text), Err(DecimalFault::NotADecimal), "{text}");
        }
        assert_eq!(Decimal::parse("-0.1"), Err(DecimalFault::Negative));
        for text in [
            "1e28",
            "1e-29",
            "12345678901234567890123456789",
            "0.12345678901234567890123456789",
            "1e999999999999999999999",
        ] {
            assert_eq!(Decimal::parse(text), Err(DecimalFault::TooManyDigits), "{text}");
        }
    }

    #[test]
    fn order_is_that_of_the_numbers() {
        let sorted =
            ["0", "0.1", "0.10000000000001", "0.5", "1", "9.99", "10", "1e27"].map(|t| Decimal::parse(t).unwrap());
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn units_are_rounded_up_and_products_both_ways() {
        let d = |text| Decimal::parse(text).unwrap();
        assert_eq!(d("12.5").units_ceil(15), Some(12_500_000_000_000_000));
        assert_eq!(d("0.0000000000000001").units_ceil(15), Some(1));
        assert_eq!(d("1e27").units_ceil(15), None);
        assert_eq!(d("0.00000001").times(86_400_000), (0, 1));
        assert_eq!(d("45.5").times(86_400_000), (3_931_200_000, 3_931_200_000));
        assert_eq!(d("1e27").times(86_400_000), (i64::MAX, i64::MAX));
    }

    #[test]
    fn json_says_what_is_in_force() {
        let json = |text| Decimal::parse(text).unwrap().to_json().to_string();
        assert_eq!(json("45.5"), "45.5");
        assert_eq!(json("0.1"), "0.1");
        assert_eq!(json("1825"), "1825");
        assert_eq!(json("0.123456789012345678"), "\"0.123456789012345678\"");
        assert_eq!(json("9007199254740993"), "\"9007199254740993\"");
        assert_eq!(Decimal::parse("1e20").unwrap().to_json().as_f64(), Some(1e20));
    }
}
