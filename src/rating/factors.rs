//! The seven factors of 4.3: integers in, one exact value and one rounded contribution out.

use super::exact::{Millionths, Ratio};
use super::figures::{Agent, Controller, Sums};

/// A factor that is a smoothed rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rated {
    /// Its key in `factors[]`.
    pub key: &'static str,
    /// Points it can earn.
    pub weight: i64,
    /// Full observations at which it is scored in full, N.
    pub full_confidence: i64,
    /// Units that one ten-millionth of a dollar makes: 2 where a weight may be halved.
    pub scale: i128,
}

/// The rated factors, in the order of 4.3's table.
pub const RATED: [Rated; 5] = [
    Rated { key: "mandate_compliance", weight: 300, full_confidence: 50, scale: 1 },
    Rated { key: "attestation_coverage", weight: 200, full_confidence: 30, scale: 1 },
    Rated { key: "anomaly_history", weight: 150, full_confidence: 50, scale: 2 },
    Rated { key: "operator_review", weight: 100, full_confidence: 10, scale: 1 },
    Rated { key: "settlement_reliability", weight: 100, full_confidence: 20, scale: 1 },
];

/// Points of controller_standing.
pub const STANDING_WEIGHT: i64 = 100;
/// Material decisions of a controller at which its good standing counts in full.
pub const STANDING_MATERIAL: i128 = 200;
/// Points of tenure.
pub const TENURE_WEIGHT: i64 = 50;
/// Days, and material decisions, at which tenure is full.
pub const TENURE_DAYS: i128 = 90;
/// See [`TENURE_DAYS`].
pub const TENURE_MATERIAL: i128 = 100;

const DAY_MS: i128 = 86_400_000;

/// A scored rate with the steps that lead to it.
#[derive(Debug, Clone, Copy)]
pub struct Scored {
    /// What was counted.
    pub sums: Sums,
    /// One full observation, in the unit of the sums.
    pub unit: i128,
    /// `(good + 1) / (good + bad + 2)`.
    pub rate: Millionths,
    /// `min(1, n / N)`.
    pub confidence: Millionths,
    /// `0.5 + (rate − 0.5) · confidence`.
    pub value: Millionths,
    /// Whole points.
    pub contribution: i64,
    /// Full observations.
    pub n: Millionths,
}

/// Scores a rated factor. See [`super::exact`] for the bounds.
pub fn rated(factor: Rated, sums: Sums, observation: i128) -> Scored {
    let unit = observation * factor.scale;
    let full = i128::from(factor.full_confidence) * unit;
    let smoothed = sums.good + sums.bad + 2 * unit;
    let counted = sums.n.min(full);
    let value = Ratio::new(full * smoothed + (sums.good - sums.bad) * counted, 2 * full * smoothed);
    Scored {
        sums,
        unit,
        rate: Ratio::new(sums.good + unit, smoothed).millionths(),
        confidence: Ratio::new(counted, full).millionths(),
        value: value.millionths(),
        contribution: value.times(i128::from(factor.weight)).rounded(),
        n: Ratio::new(sums.n, unit).millionths(),
    }
}

/// controller_standing with the steps that lead to it.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    /// `raw`, in hundredths.
    pub raw_hundredths: i64,
    /// True where raw is at or above the prior, so that the controller's own record scales it.
    pub scaled: bool,
    /// The value.
    pub value: Millionths,
    /// Whole points.
    pub contribution: i64,
    /// The controller's material decisions, M.
    pub n: Millionths,
}

/// Scores the standing of a controller. Every step of raw is a multiple of 0.05, so it is counted in twentieths.
pub fn standing(controller: &Controller) -> Standing {
    const FULL: i128 = STANDING_MATERIAL * 1_000_000_000_000_000;
    let executed = controller.slashes.executed.min(2) * 10;
    let unadjudicated = controller.slashes.unadjudicated.min(2) * 5;
    let revoked = if controller.active_grave_revocations > 0 { 6 } else { 0 };
    let raw = (20 - executed - unadjudicated - revoked).max(0);
    let scaled = raw >= 10;
    let twentieths = i128::from(raw);
    let value = if scaled {
        Ratio::new(10 * FULL + (twentieths - 10) * controller.material.min(FULL), 20 * FULL)
    } else {
        Ratio::new(twentieths, 20)
    };
    Standing {
        raw_hundredths: raw * 5,
        scaled,
        value: value.millionths(),
        contribution: value.times(i128::from(STANDING_WEIGHT)).rounded(),
        n: Ratio::new(controller.material, 1_000_000_000_000_000).millionths(),
    }
}

/// tenure with the steps that lead to it.
#[derive(Debug, Clone, Copy)]
pub struct Tenure {
    /// Milliseconds since the first eligible decision.
    pub age_ms: i64,
    /// The same in days.
    pub days: Millionths,
    /// The value.
    pub value: Millionths,
    /// Whole points.
    pub contribution: i64,
    /// `material`.
    pub n: Millionths,
}

/// Scores the tenure of an agent at `as_of` (milliseconds since 1970 UTC).
pub fn tenure(agent: &Agent, as_of: i64) -> Tenure {
    let age_ms = agent.all_time.first_decision_at.map_or(0, |first| as_of.saturating_sub(first).max(0));
    let (age, material, unit) = (i128::from(age_ms), agent.observed.material, agent.observation);
    let value = Ratio::new(
        age.min(TENURE_DAYS * DAY_MS) * material.min(TENURE_MATERIAL * unit),
        TENURE_DAYS * DAY_MS * TENURE_MATERIAL * unit,
    );
    Tenure {
        age_ms,
        days: Ratio::new(age, DAY_MS).millionths(),
        value: value.millionths(),
        contribution: value.times(i128::from(TENURE_WEIGHT)).rounded(),
        n: agent.material().millionths(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Slashes;
    use super::*;

    fn sums(good: i128, bad: i128) -> Sums {
        Sums { good, bad, n: good + bad, ..Sums::default() }
    }

    #[test]
    fn ten_full_approvals_lift_operator_review_by_forty_two() {
        let unit = 10_000_000;
        assert_eq!(rated(RATED[3], sums(10 * unit, 0), unit).contribution, 92);
        assert_eq!(rated(RATED[3], sums(0, 0), unit).contribution, 50);
    }

    #[test]
    fn three_thirds_are_one_full_observation() {
        let unit = 30_000_000;
        let scored = rated(RATED[4], sums(3 * (unit / 3), 0), unit);
        assert_eq!(scored.n, Millionths::whole(1));
        assert_eq!(scored.rate, Millionths(666_667));
    }

    /// 0.5 + (2/3 − 1/2)·n/20 at n = 1 is 61/120; half points come from N = 50 and 150: n = 1 safe of weight 1.
    #[test]
    fn an_exact_half_goes_away_from_zero() {
        // tenure: 50 · (90 d / 90 d) · 1/100 = 0.5.
        let mut agent = Agent { observation: 7, ..Agent::default() };
        agent.observed.material = 7;
        agent.all_time.first_decision_at = Some(0);
        let tenure = tenure(&agent, 90 * 86_400_000);
        assert_eq!(tenure.value, Millionths(10_000));
        assert_eq!(tenure.contribution, 1);
    }

    #[test]
    fn the_largest_sums_stay_inside_the_integers() {
        let observation = 999_999_999_999_999;
        for factor in RATED {
            let unit = observation * factor.scale;
            let all_good = rated(factor, sums(1000 * unit, 0), observation);
            assert_eq!(all_good.rate, Ratio::new(1001, 1002).millionths());
            assert_eq!(all_good.value, all_good.rate);
            assert_eq!(all_good.contribution, Ratio::new(i128::from(factor.weight) * 1001, 1002).rounded());
            let worst = Sums { bad: 2000 * unit, n: 1000 * unit, ..Sums::default() };
            let all_bad = rated(factor, worst, observation);
            assert_eq!(all_bad.value, Ratio::new(1, 2002).millionths());
            assert_eq!(all_bad.contribution, 0);
        }
    }

    #[test]
    fn a_controllers_record_scales_good_standing_and_never_bad() {
        let with = |executed, unadjudicated, grave, material: i128| {
            standing(&Controller {
                agents: 1,
                slashes: Slashes { executed, unadjudicated },
                active_grave_revocations: grave,
                material: material * 1_000_000_000_000_000,
            })
            .contribution
        };
        assert_eq!(with(0, 0, 0, 0), 50);
        assert_eq!(with(0, 0, 0, 200), 100);
        assert_eq!(with(0, 0, 0, 100_000), 100);
        assert_eq!(with(1, 0, 0, 1000), 50);
        assert_eq!(with(0, 9, 0, 1000), 50);
        assert_eq!(with(1, 0, 1, 0), 20);
        assert_eq!(with(1, 0, 9, 1000), 20);
        assert_eq!(with(1, 1, 0, 1000), 25);
        assert_eq!(with(2, 0, 0, 1000), 0);
        assert_eq!(with(1, 2, 1, 0), 0);
    }
}
