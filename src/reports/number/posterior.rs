//! The prior and the posterior of a pool (specification §7.3, §7.5; profile 2.2, 2.5).

use num_bigint::{BigInt, Sign};

use crate::policy::Decimal;

use super::round::{divide, six_places};

/// Places of an exact a or b: enough for sums of `w·v` (17), for a portfolio's `p` (15) and for a policy's decimal (28).
const PLACES: u32 = 28;

/// What a posterior starts from: `a0` and `b0`, exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prior {
    /// In units of 10^-28.
    a0: BigInt,
    b0: BigInt,
    weight_events: BigInt,
}

impl Prior {
    /// The uniform prior: `a0 = b0 = 1`.
    pub fn uniform() -> Prior {
        Prior { a0: ten_to(PLACES), b0: ten_to(PLACES), weight_events: BigInt::ZERO }
    }

    /// The prior that an anchor's other rated agents lend (2.5): `m = Σ(w·v) / Σw` over their pools together, `W = min(prior_weight_events, Σw)`,
    /// `p = W·m`, m and then p rounded to 15 places; `a0 = 1 + p`, `b0 = 1 + W − p`.
    ///
    /// `sum_w` is in units of 1e-15, `sum_wv` in units of 1e-17. `None` where there is no weight to draw on.
    pub fn portfolio(sum_w: i128, sum_wv: i128, prior_weight_events: &Decimal) -> Option<Prior> {
        if sum_w <= 0 {
            return None;
        }
        // m in units of 1e-15: (sum_wv / 10^17) / (sum_w / 10^15) · 10^15.
        let m = divide(&(BigInt::from(sum_wv) * ten_to(13)), &BigInt::from(sum_w));
        let most = BigInt::from(prior_weight_events.mantissa()) * ten_to(PLACES - prior_weight_events.scale());
        let weight_events = most.min(BigInt::from(sum_w) * ten_to(PLACES - 15));
        let p = divide(&(&weight_events * m), &ten_to(PLACES)) * ten_to(PLACES - 15);
        Some(Prior { a0: ten_to(PLACES) + &p, b0: ten_to(PLACES) + &weight_events - p, weight_events })
    }

    /// W rounded to 6 places, in millionths; 0 for the uniform prior.
    pub fn weight_events_millionths(&self) -> i64 {
        six_places(&self.weight_events, &ten_to(PLACES)).unwrap_or(i64::MAX)
    }
}

/// A Beta posterior summarised. All are doubles as 2.2 orders their calculation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    /// `a0 + Σ w·v`.
    pub a: f64,
    /// `b0 + Σ w·(1 − v)`.
    pub b: f64,
    /// `a / (a + b)`.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The lower confidence bound, `mean − 1.2816 · sd`, not below 0.
    pub lcb: f64,
}

/// The posterior of a pool with `Σw = sum_w` in units of 1e-15 and `Σ(w·v) = sum_wv` in units of 1e-17.
///
/// a and b are exact decimals, each converted once to the nearest double; then every operation is one IEEE-754 operation in the order of 2.2.
pub fn posterior(sum_w: i128, sum_wv: i128, prior: &Prior) -> Posterior {
    let wv = BigInt::from(sum_wv) * ten_to(PLACES - 17);
    let w = BigInt::from(sum_w) * ten_to(PLACES - 15);
    let a = double_of_decimal(&(&prior.a0 + &wv), PLACES);
    let b = double_of_decimal(&(&prior.b0 + w - wv), PLACES);
    let s = a + b;
    let mean = a / s;
    let sd = ((a * b) / ((s * s) * (s + 1.0))).sqrt();
    let low = mean - 1.2816 * sd;
    let lcb = if low > 0.0 { low } else { 0.0 };
    Posterior { a, b, mean, sd, lcb }
}

/// The double nearest to `units · 10^-scale`, ties to even.
pub fn double_of_decimal(units: &BigInt, scale: u32) -> f64 {
    // The standard library's reading of a decimal is correctly rounded for any length of text, ties to even.
    format!("{units}e-{scale}").parse().unwrap_or(f64::NAN)
}

fn ten_to(places: u32) -> BigInt {
    BigInt::from_biguint(Sign::Plus, num_bigint::BigUint::from(10u8).pow(places))
}
