//! The few functions that turn integers into published numbers (profile 2.2). Everything else counts and sums.
//!
//! | what | where | exact in |
//! | --- | --- | --- |
//! | a weight, units of 1e-15 | `weight.rs`, its fallback in `exact.rs` | integers, correctly rounded |
//! | a prior and a posterior | `posterior.rs` | decimals, then IEEE-754 doubles in one fixed order |
//! | six places, rates, ranks | `round.rs` | integers |
//!
//! *Rounded* is always half away from zero, but for the one step from a decimal to the nearest double, which is IEEE-754's own
//! (ties to even). No platform function is called but the square root, which IEEE-754 defines to the last bit.

mod exact;
mod posterior;
mod round;
mod weight;

pub use posterior::{Posterior, Prior, double_of_decimal, posterior};
pub use round::{millionths_to_json, rank, six_places_of_decimal, six_places_of_f64, six_places_of_ratio};
pub use weight::{ONE, Weigher};

#[cfg(test)]
mod tests;
