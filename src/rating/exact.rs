//! Exact rationals with one rounding (2.2, 4.3).
//!
//! A weight is an integer of ten-millionths of a dollar over the agent's observation u, so every figure here is a
//! quotient of integers. They stay inside `i128`:
//!
//! - An observation is below 10^15 (4.1: nine digits and six places of dollars, a tenth of it, in ten-millionths), and
//!   2·10^15 in the twenty-millionths of anomaly_history. At most 1000 decisions are observed, each of weight at most u.
//! - A rated factor's value has the denominator `2·N·u·(g + b + 2u)`. For anomaly_history `g + b ≤ 2000u` and `N = 50`, so it is
//!   at most `100·2002·u² ≤ 8.1·10^35`; the value is at most 1, and 150 times its numerator at most 1.3·10^38, under the
//!   1.7·10^38 of `i128`. The other factors have half the u, and stay below 10^38 with weight 300.
//! - Long division multiplies a remainder, which is below its denominator, by ten: at most 8.1·10^36.
//! - Sums over all time count at most 10^9 rows of 10^15 and are multiplied by less than 10^6 nowhere.

use std::fmt;

use serde_json::{Number, Value};

/// A quotient of integers, neither of them negative and the divisor not zero.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    over: i128,
    under: i128,
}

impl Ratio {
    /// `over / under`.
    pub fn new(over: i128, under: i128) -> Ratio {
        debug_assert!(over >= 0 && under > 0, "{over} / {under}");
        Ratio { over, under }
    }

    /// This times a whole number.
    pub fn times(self, factor: i128) -> Ratio {
        Ratio::new(self.over * factor, self.under)
    }

    /// The nearest whole number, halves up, which is away from zero.
    pub fn rounded(self) -> i64 {
        let (whole, rest) = (self.over / self.under, self.over % self.under);
        to_i64(if 2 * rest >= self.under { whole + 1 } else { whole })
    }

    /// To six places, halves away from zero.
    pub fn millionths(self) -> Millionths {
        let (digits, rest) = self.digits(6);
        Millionths(if 2 * rest >= self.under { digits + 1 } else { digits })
    }

    /// To six places, cut.
    pub fn millionths_down(self) -> Millionths {
        Millionths(self.digits(6).0)
    }

    /// To fifteen places, halves away from zero, in units of 10^-15.
    pub fn quadrillionths(self) -> i128 {
        let (digits, rest) = self.digits(15);
        if 2 * rest >= self.under { digits + 1 } else { digits }
    }

    /// The whole part and `places` digits as one integer, and the remainder, by long division.
    fn digits(self, places: u32) -> (i128, i128) {
        let (mut digits, mut rest) = (self.over / self.under, self.over % self.under);
        for _ in 0..places {
            rest *= 10;
            digits = digits * 10 + rest / self.under;
            rest %= self.under;
        }
        (digits, rest)
    }
}

fn to_i64(whole: i128) -> i64 {
    i64::try_from(whole).unwrap_or(i64::MAX)
}

/// A published decimal of six places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millionths(
    /// In units of 10^-6.
    pub i128,
);

impl Millionths {
    /// A whole number.
    pub fn whole(number: i64) -> Millionths {
        Millionths(i128::from(number) * 1_000_000)
    }

    /// The JSON number: the double nearest to the decimal, which JCS spells as the decimal again.
    pub fn json(self) -> Value {
        let whole = self.0 / 1_000_000;
        if self.0 % 1_000_000 == 0
            && let Ok(whole) = i64::try_from(whole)
        {
            return Value::from(whole);
        }
        self.to_string().parse().ok().and_then(Number::from_f64).map_or(Value::Null, Value::Number)
    }
}

impl fmt::Display for Millionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal(self.0, 6))
    }
}

/// An integer of 10^-places as decimal text without trailing zeros.
pub fn decimal(digits: i128, places: usize) -> String {
    let sign = if digits < 0 { "-" } else { "" };
    let padded = format!("{:0>width$}", digits.unsigned_abs(), width = places + 1);
    let (whole, places) = padded.split_at(padded.len() - places);
    let places = places.trim_end_matches('0');
    if places.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{places}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_up_and_nothing_else_does() {
        assert_eq!(Ratio::new(5, 2).rounded(), 3);
        assert_eq!(Ratio::new(4_999_999, 2_000_000).rounded(), 2);
        assert_eq!(Ratio::new(1, 2_000_000).millionths(), Millionths(1));
        assert_eq!(Ratio::new(1, 2_000_001).millionths(), Millionths(0));
        assert_eq!(Ratio::new(1_999_999, 1_000_000_000_000).millionths_down(), Millionths(1));
        assert_eq!(Ratio::new(2, 3).quadrillionths(), 666_666_666_666_667);
    }

    #[test]
    fn decimals_have_no_trailing_zeros() {
        assert_eq!(decimal(0, 6), "0");
        assert_eq!(decimal(1, 6), "0.000001");
        assert_eq!(decimal(-1_500_000, 6), "-1.5");
        assert_eq!(decimal(12_000_000, 6), "12");
        assert_eq!(Millionths(1_250_000).json().to_string(), "1.25");
        assert_eq!(Millionths(7_000_000).json().to_string(), "7");
    }
}
