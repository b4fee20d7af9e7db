//! Evaluators as subjects of a record of their own (§6.5; profile 2.7).
//!
//! What an evaluator said, how it compares with what reporters derived and with probes, and how far it stands from the pools
//! it fell in. Under `fdbk-evw-0` none of it moves a score. Rows of `evaluator_figure`, `evaluator_outcome` and `evaluator_offset` come in;
//! the inner object of an `evaluator_report` goes out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::number;
use crate::engine::{EngineError, Rows};
use crate::policy::EVALUATOR_WEIGHTING;

/// Why the evaluators' rows make no documents.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluatorFault {
    /// A result is not of the shape that this room reads.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Attestations are events of pools that have no mean: the tables are not of one run.
    #[error("evaluator {evaluator}: {attestations} attestations are events of pools that have no mean")]
    NoMean {
        /// Who attested.
        evaluator: String,
        /// How many.
        attestations: i64,
    },
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

/// Reads the evaluators that are published, by handle.
pub fn evaluators(
    figures: &Rows,
    outcomes: &Rows,
    offsets: &Rows,
) -> Result<BTreeMap<String, Evaluator>, EvaluatorFault> {
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
    let (evaluator, events, lacking) =
        (offsets.text("evaluator")?, offsets.int("events")?, offsets.int("without_mean")?);
    let (sum_v, sum_mean) = (offsets.decimal("sum_v", 2)?, offsets.decimal("sum_mean", 6)?);
    for row in 0..offsets.len() {
        let Some(evaluator) = evaluator.get(row) else { continue };
        if let Some(attestations) = lacking.get(row).filter(|count| *count > 0) {
            return Err(EvaluatorFault::NoMean { evaluator: evaluator.to_owned(), attestations });
        }
        if let Some(found) = evaluators.get_mut(evaluator) {
            found.pooled = events.get(row).unwrap_or(0).into();
            found.apart = sum_v.get(row).unwrap_or(0) * 10_000 - sum_mean.get(row).unwrap_or(0);
        }
    }
    Ok(evaluators)
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
    fn an_offset_rounds_away_from_zero_in_the_sixth_place() {
        let offset = |pooled, apart| Evaluator { pooled, apart, ..attested(&[("OK", 3)]) }.offset().to_string();
        // (2 * 0.3 - 0.750001) / 3 = -0.050000333...
        assert_eq!(offset(3, 600_000 - 750_001), "-0.05");
        assert_eq!(
            (offset(2, 1), offset(2, -1)),
            ("1e-6".to_owned(), "-1e-6".to_owned()),
            "half of what two are apart"
        );
        assert_eq!(offset(0, 0), "null");
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
