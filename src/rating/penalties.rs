//! The four penalties of 4.4, each rounded once, and the stop at zero.

use super::exact::{Millionths, Ratio};
use super::figures::{AllTime, Slashes, Sums};

/// Points a breach: of scope, of budget, and the floor of either.
pub const SCOPE_TARIFF: i64 = 40;
/// See [`SCOPE_TARIFF`].
pub const BUDGET_TARIFF: i64 = 15;
/// See [`SCOPE_TARIFF`].
pub const BREACH_FLOOR: i64 = 5;
/// The most that breaches cost together.
pub const BREACH_CAP: i64 = 240;
/// Points a confirmed true positive, and the most.
pub const CONFIRMED: (i64, i64) = (60, 240);
/// Points a sanctions match, and the most.
pub const SANCTIONS: (i64, i64) = (150, 300);
/// Points an executed slash, and the most.
pub const SLASH_EXECUTED: (i64, i64) = (150, 300);
/// Points a pending or disputed slash, and the most.
pub const SLASH_UNADJUDICATED: (i64, i64) = (75, 225);

/// What gave a penalty its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// There is nothing to charge.
    Nothing,
    /// The tariff, times the breach rate's multiplier.
    ScaledTariff,
    /// The least that breaches cost.
    Floor,
    /// The events, each at its price.
    Count,
    /// The most that the penalty costs.
    Cap,
}

/// A penalty before the stop at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assessed {
    /// Whole points, not negative.
    pub points: i64,
    /// What gave the number.
    pub source: Source,
}

/// mandate_breach_incidence with the steps that lead to it.
#[derive(Debug, Clone, Copy)]
pub struct Breaches {
    /// 40 a scope breach and 15 a budget breach.
    pub tariff: i64,
    /// 5 a breach.
    pub floor: i64,
    /// Breached over cleared or breached, by materiality; none where there is neither.
    pub rate: Option<Millionths>,
    /// `min(1, rate / 0.10)`, and 1 without a rate.
    pub multiplier: Millionths,
    /// Tariff times multiplier.
    pub scaled: Millionths,
    /// The penalty.
    pub assessed: Assessed,
}

/// The breaches of all time at the breach rate of the observed decisions (mandate_compliance's sums).
pub fn breaches(all_time: &AllTime, compliance: &Sums) -> Breaches {
    let (scope, budget) = (all_time.scope_breaches, all_time.budget_breaches);
    let (tariff, floor) = (SCOPE_TARIFF * scope + BUDGET_TARIFF * budget, BREACH_FLOOR * (scope + budget));
    let (breached, all) = (compliance.bad, compliance.good + compliance.bad);
    let multiplier = if all == 0 { Ratio::new(1, 1) } else { Ratio::new((10 * breached).min(all), all) };
    let scaled = multiplier.times(i128::from(tariff));
    // The larger of two numbers rounds to the larger of them rounded, and the floor is whole.
    let (rounded, source) = match scaled.rounded() {
        points if floor > points => (floor, Source::Floor),
        points => (points, Source::ScaledTariff),
    };
    let source = match rounded {
        0 => Source::Nothing,
        points if points > BREACH_CAP => Source::Cap,
        _ => source,
    };
    Breaches {
        tariff,
        floor,
        rate: (all > 0).then(|| Ratio::new(breached, all).millionths()),
        multiplier: multiplier.millionths(),
        scaled: scaled.millionths(),
        assessed: Assessed { points: rounded.min(BREACH_CAP), source },
    }
}

/// A flat penalty: a price an event, up to a cap.
pub fn flat(events: i64, (price, cap): (i64, i64)) -> Assessed {
    let points = price.saturating_mul(events);
    let source = match points {
        0 => Source::Nothing,
        points if points > cap => Source::Cap,
        _ => Source::Count,
    };
    Assessed { points: points.min(cap), source }
}

/// slash_events: two flat penalties in one.
pub fn slashes(own: &Slashes) -> Assessed {
    let (executed, open) = (flat(own.executed, SLASH_EXECUTED), flat(own.unadjudicated, SLASH_UNADJUDICATED));
    let source = match (executed.source, open.source) {
        (Source::Cap, _) | (_, Source::Cap) => Source::Cap,
        (Source::Nothing, Source::Nothing) => Source::Nothing,
        _ => Source::Count,
    };
    Assessed { points: executed.points + open.points, source }
}

/// What a penalty costs where `left` points are left: it stops at zero.
pub fn charged(assessed: Assessed, left: i64) -> i64 {
    assessed.points.min(left.max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(scope: i64, budget: i64, good: i128, bad: i128) -> Assessed {
        let all_time = AllTime { scope_breaches: scope, budget_breaches: budget, ..AllTime::default() };
        breaches(&all_time, &Sums { good, bad, n: good + bad, ..Sums::default() }).assessed
    }

    #[test]
    fn a_tenth_or_more_pays_the_full_tariff() {
        assert_eq!(with(1, 1, 90, 10), Assessed { points: 55, source: Source::ScaledTariff });
        assert_eq!(with(1, 1, 0, 10), Assessed { points: 55, source: Source::ScaledTariff });
        assert_eq!(with(1, 1, 0, 0), Assessed { points: 55, source: Source::ScaledTariff });
        assert_eq!(with(1, 0, 95, 5), Assessed { points: 20, source: Source::ScaledTariff });
    }

    #[test]
    fn clean_volume_ends_at_the_floor_and_the_cap_holds() {
        assert_eq!(with(2, 0, i128::from(i64::MAX), 1), Assessed { points: 10, source: Source::Floor });
        assert_eq!(with(6, 0, 0, 1), Assessed { points: 240, source: Source::ScaledTariff });
        assert_eq!(with(7, 0, 0, 1), Assessed { points: 240, source: Source::Cap });
        assert_eq!(with(49, 0, 1_000_000, 1), Assessed { points: 240, source: Source::Cap });
        assert_eq!(with(0, 0, 5, 5), Assessed { points: 0, source: Source::Nothing });
    }

    #[test]
    fn a_half_point_rounds_away_from_zero() {
        // 15 · 10 · 1/20 = 7.5.
        assert_eq!(with(0, 1, 19, 1).points, 8);
    }

    #[test]
    fn slashes_are_capped_apart_and_stop_at_zero() {
        let own = |executed, unadjudicated| slashes(&Slashes { executed, unadjudicated });
        assert_eq!(own(1, 1).points, 225);
        assert_eq!(own(9, 9), Assessed { points: 525, source: Source::Cap });
        assert_eq!(charged(own(9, 9), 100), 100);
        assert_eq!(charged(own(9, 9), 0), 0);
        assert_eq!(flat(i64::MAX, SANCTIONS).points, 300);
    }
}
