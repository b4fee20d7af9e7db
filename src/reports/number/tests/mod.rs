//! The numbers of profile 2.2 against calculations that share nothing with them.

mod rounding;
mod vectors;
mod weights;

use super::*;
use crate::policy::Decimal;

pub(super) fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

pub(super) fn weigher(half_life: &str, value_weight: &str) -> Weigher {
    Weigher::new(&decimal(half_life), &decimal(value_weight)).unwrap()
}
