//! Evaluators as subjects of a record of their own (§6.5; profile 2.7).
//!
//! What an evaluator said, how it compares with what reporters derived and with probes, and how far it stands from the pools
//! it fell in. Under `fdbk-evw-0` none of it moves a score. Rows of `evaluator_figure`, `evaluator_outcome` and `evaluator_pool` come in,
//! and the published means of the pools; the inner object of an `evaluator_report` goes out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::number;
use crate::engine::{EngineError, Rows};
use crate::policy::EVALUATOR_WEIGHTING;

/// A pool: a subject and a capability.
pub type PoolKey = (String, Option<String>);

/// Why the evaluators' rows make no documents.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluatorFault {
    /// A result is not of the shape that this room reads.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An attestation is an event of a pool that has no mean: the tables are not of one run.
    #[error("evaluator {evaluator}: no mean for the pool of {subject}, capability {capability:?}")]
    NoMean {
        /// Who attested.
        evaluator: String,
        /// The pool's subject.
        subject: String,
        /// The pool's capability.
        capability: Option<String>,
    },
}

/// The attestations of one evaluator in one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolShare {
    /// Its final attestations that are events of the pool.
    pub events: i64,
    /// The sum of their values, in hundredths.
    pub sum_v: i128,
    /// The published mean of the pool, in millionths, also where no report serves it.
    pub mean: i64,
}

/// One evaluator's figures, all of them counts of final attestations but where a field says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluator {
    /// The handle.
    pub evaluator: String,
    /// All of them.
    pub volume: i64,
    /// Distinct subjects.
    pub subjects: i64,
    /// Those whose fact's derived outcome has a quality value.
    pub derived: i64,
    /// Of those, the ones with another code.
    pub disagreed: i64,
    /// Those on a probed interaction.
    pub checked: i64,
    /// Of those, the ones on the probe's side.
    pub agreed: i64,
    /// `excluded` entries about its attestations, by reason, under the reason's name.
    pub excluded: BTreeMap<&'static str, i64>,
    /// By code.
    pub outcomes: BTreeMap<String, i64>,
    /// Those that are events of a pool.
    pub pooled: i128,
    /// Over these, the sum of the value minus the pool's published mean, in millionths.
    pub apart: i128,
}

impl Evaluator {
    /// The inner object of its document. `frame` holds what every document carries: `formula_version`, `bureau`, `issued_at`,
    /// `expires_at`.
    pub fn document(&self, frame: &Map<String, Value>) -> Value {
        let mut document = frame.clone();
        let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
        put("evaluator", self.evaluator.as_str().into());
        put("evaluator_weighting", EVALUATOR_WEIGHTING.into());
        put("volume", self.volume.into());
        put("subjects", self.subjects.into());
        put("outcomes", json!(self.outcomes));
        put("disagreement_rate", ratio(self.disagreed.into(), self.derived.into()));
        put("truth", json!({ "checked": self.checked, "agreed": self.agreed }));
        put("excluded", json!(self.excluded));
        put("offset", self.offset());
        put("diversity", self.diversity());
        Value::Object(document)
    }

    /// Adds its attestations in one pool.
    pub fn add(&mut self, share: &PoolShare) {
        self.pooled += i128::from(share.events);
        self.apart += share.sum_v * 10_000 - i128::from(share.events) * i128::from(share.mean);
    }

    /// The mean of v minus the pool's published mean; null where none of its attestations is an event.
    fn offset(&self) -> Value {
        ratio(self.apart, self.pooled * 1_000_000)
    }

    /// 1 − Σ p² over the shares of its outcomes. 0 says that its ratings carry no information.
    fn diversity(&self) -> Value {
        let total: i128 = self.outcomes.values().map(|count| i128::from(*count)).sum();
        let squares: i128 = self.outcomes.values().map(|count| i128::from(*count) * i128::from(*count)).sum();
        ratio(total * total - squares, total * total)
    }
}

/// A published ratio, null where nothing is behind it (profile 2.2).
fn ratio(numerator: i128, denominator: i128) -> Value {
    json!(number::six_places_of_ratio(numerator, denominator).map(number::millionths_to_json))
}

/// Reads the evaluators that are published, by handle, but for their pools.
pub fn evaluators(figures: &Rows, outcomes: &Rows) -> Result<BTreeMap<String, Evaluator>, EvaluatorFault> {
    let mut evaluators = figures_of(figures)?;
    let (evaluator, outcome, count) =
        (outcomes.text("evaluator")?, outcomes.text("outcome")?, outcomes.int("attestations")?);
    for row in 0..outcomes.len() {
        if let (Some(evaluator), Some(outcome), Some(count)) = (evaluator.get(row), outcome.get(row), count.get(row))
            && let Some(found) = evaluators.get_mut(evaluator)
        {
            found.outcomes.insert(outcome.to_owned(), count);
        }
    }
    Ok(evaluators)
}

/// Adds rows of `evaluator_pool`, in any order. `means` has the published mean of every pool, in millionths.
pub fn add_pools(
    evaluators: &mut BTreeMap<String, Evaluator>,
    pools: &Rows,
    means: &BTreeMap<PoolKey, i64>,
) -> Result<(), EvaluatorFault> {
    let (evaluator, subject, capability) =
        (pools.text("evaluator")?, pools.text("subject")?, pools.text("capability")?);
    let (events, sum_v) = (pools.int("events")?, pools.decimal("sum_v", 2)?);
    for row in 0..pools.len() {
        if let (Some(evaluator), Some(subject), Some(events), Some(sum_v)) =
            (evaluator.get(row), subject.get(row), events.get(row), sum_v.get(row))
            && let Some(found) = evaluators.get_mut(evaluator)
        {
            let pool = (subject.to_owned(), capability.get(row).map(str::to_owned));
            let Some(mean) = means.get(&pool).copied() else {
                let (subject, capability) = pool;
                return Err(EvaluatorFault::NoMean { evaluator: evaluator.to_owned(), subject, capability });
            };
            found.add(&PoolShare { events, sum_v, mean });
        }
    }
    Ok(())
}

fn figures_of(rows: &Rows) -> Result<BTreeMap<String, Evaluator>, EngineError> {
    let evaluator = rows.text("evaluator")?;
    let (volume, subjects) = (rows.int("volume")?, rows.int("subjects")?);
    let (derived, disagreed) = (rows.int("derived")?, rows.int("disagreed")?);
    let (checked, agreed) = (rows.int("checked")?, rows.int("agreed")?);
    let reasons = ["self_dealing", "declared_competitor", "rate_limit"];
    let excluded = reasons.map(|reason| rows.int(reason).map(|column| (reason, column)));
    let excluded = excluded.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut evaluators = BTreeMap::new();
    for row in 0..rows.len() {
        let Some(evaluator) = evaluator.get(row) else { continue };
        let figures = Evaluator {
            evaluator: evaluator.to_owned(),
            volume: volume.get(row).unwrap_or(0),
            subjects: subjects.get(row).unwrap_or(0),
            derived: derived.get(row).unwrap_or(0),
            disagreed: disagreed.get(row).unwrap_or(0),
            checked: checked.get(row).unwrap_or(0),
            agreed: agreed.get(row).unwrap_or(0),
            excluded: excluded.iter().map(|(reason, column)| (*reason, column.get(row).unwrap_or(0))).collect(),
            ..Evaluator::default()
        };
        evaluators.insert(evaluator.to_owned(), figures);
    }
    Ok(evaluators)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attested(outcomes: &[(&str, i64)]) -> Evaluator {
        Evaluator {
            evaluator: "Audit.ops@harborandline.example".to_owned(),
            volume: outcomes.iter().map(|(_, count)| count).sum(),
            outcomes: outcomes.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect(),
            ..Evaluator::default()
        }
    }

    #[test]
    fn an_evaluator_that_always_says_ok_tells_nothing() {
        assert_eq!(attested(&[("OK", 5)]).diversity(), json!(0));
    }

    #[test]
    fn diversity_is_one_minus_the_sum_of_squared_shares() {
        // 1 - (12/15)^2 - (1/15)^2 - (2/15)^2 = 76/225
        assert_eq!(attested(&[("OK", 12), ("FAILED", 1), ("OK_CORRECTED", 2)]).diversity().to_string(), "0.337778");
    }

    #[test]
    fn the_offset_is_the_mean_over_attestations_not_over_pools() {
        let mut evaluator = attested(&[("OK", 2), ("FAILED", 1)]);
        evaluator.add(&PoolShare { events: 2, sum_v: 200, mean: 700_000 });
        evaluator.add(&PoolShare { events: 1, sum_v: 15, mean: 900_001 });
        // (2 * 0.3 - 0.750001) / 3 = -0.050000333...
        assert_eq!(evaluator.offset(), json!(-0.05));
        let mut evaluator = attested(&[("OK", 2)]);
        evaluator.add(&PoolShare { events: 2, sum_v: 100, mean: 499_999 });
        assert_eq!(evaluator.offset().to_string(), "1e-6", "0.000001, half of what two attestations are apart");
    }

    #[test]
    fn a_tie_in_the_seventh_place_rounds_away_from_zero() {
        let mut evaluator = attested(&[("OK", 2)]);
        for mean in [1, 0] {
            evaluator.add(&PoolShare { events: 1, sum_v: 0, mean });
        }
        assert_eq!(evaluator.offset(), json!(-0.000001));
    }

    #[test]
    fn nothing_behind_a_figure_is_null_and_a_count_never_is() {
        let frame = Map::from_iter([("bureau".to_owned(), json!("https://bureau.example"))]);
        let mut evaluator = attested(&[("OK", 3)]);
        evaluator.excluded = BTreeMap::from([("self_dealing", 2), ("declared_competitor", 0), ("rate_limit", 0)]);
        let expected = json!({
            "bureau": "https://bureau.example", "evaluator": "Audit.ops@harborandline.example",
            "evaluator_weighting": "fdbk-evw-0", "volume": 3, "subjects": 0, "outcomes": { "OK": 3 },
            "disagreement_rate": null, "truth": { "checked": 0, "agreed": 0 },
            "excluded": { "self_dealing": 2, "declared_competitor": 0, "rate_limit": 0 },
            "offset": null, "diversity": 0,
        });
        assert_eq!(evaluator.document(&frame), expected);
    }
}
