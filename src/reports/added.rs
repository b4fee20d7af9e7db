//! The two columns that the queries leave to the run, because they need arithmetic that SQL dialects do not share: an instant plus
//! a span (`enrollment_interval.takes_effect_at`, profile 2.4), and a power of two (`event.weight`, profile 2.2).

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimestampMillisecondType};
use arrow::error::ArrowError;

use super::number::Weigher;
use crate::engine::{Anew, EngineError, Finish};
use crate::policy::Policy;

const WEIGHT: &str = "weight";

/// A weight is one of *T*, so that every event's is another one each night.
const WEIGHED: Anew = Anew { column: WEIGHT, from: &["kind", "t"] };

/// What is added to rows at *T* under a policy.
pub struct Added {
    policy: Policy,
    weigher: Option<Weigher>,
    as_of: i64,
}

impl Added {
    /// For `as_of`, in milliseconds.
    pub fn new(policy: &Policy, as_of: i64) -> Added {
        Added { policy: policy.clone(), weigher: Weigher::new(&policy.half_life_days, &policy.value_weight), as_of }
    }

    /// Adds it to rows of `query`.
    pub fn finish(&self, query: &str, rows: RecordBatch) -> Result<RecordBatch, EngineError> {
        match (query, &self.weigher) {
            ("enrollment_interval", _) => takes_effect_at(&rows, &self.policy),
            ("event", Some(weigher)) => weight(&rows, weigher, self.as_of),
            _ => Ok(rows),
        }
    }

    /// The column of `query` that is another one at another *T*.
    pub fn anew(&self, query: &str) -> Option<Anew> {
        (query == "event" && self.weigher.is_some()).then_some(WEIGHED)
    }

    /// What is added to rows of `query`, for the engine's own threads.
    pub fn of(self: &Arc<Self>, query: &'static str) -> Finish {
        let added = Arc::clone(self);
        Arc::new(move |rows| added.finish(query, rows))
    }
}

/// Adds `takes_effect_at` to rows of `enrollment_interval`: the instant at which the withdrawal takes effect. Null where there is no
/// withdrawal, and where the subject enrolled again before that instant, which cancels it.
pub fn takes_effect_at(rows: &RecordBatch, policy: &Policy) -> Result<RecordBatch, EngineError> {
    const QUERY: &str = "enrollment_interval";
    let (ends, nexts) = (instants(rows, QUERY, "withdrew_at")?, instants(rows, QUERY, "next_enrolled_at")?);
    let effects: TimestampMillisecondArray = ends
        .iter()
        .zip(nexts)
        .map(|(end, next)| {
            let effect = policy.takes_effect_at(end?);
            next.is_none_or(|next| next >= effect).then_some(effect)
        })
        .collect();
    append(rows, QUERY, "takes_effect_at", Arc::new(effects.with_timezone("UTC")))
}

/// Adds `weight` to rows of `event`: the decayed weight at `as_of`, `DECIMAL(16,15)`. A weight that they have, of another night, goes.
pub fn weight(rows: &RecordBatch, weigher: &Weigher, as_of: i64) -> Result<RecordBatch, EngineError> {
    const QUERY: &str = "event";
    let bare = match rows.schema().index_of(WEIGHT) {
        Ok(column) => {
            let others: Vec<usize> = (0..rows.num_columns()).filter(|other| *other != column).collect();
            &rows.project(&others).map_err(|source| broken(QUERY, source))?
        }
        Err(_) => rows,
    };
    let at = instants(rows, QUERY, "t")?;
    let kinds = rows
        .column_by_name("kind")
        .and_then(|column| column.as_string_opt::<i32>())
        .ok_or_else(|| wrong(QUERY, "kind", "text"))?;
    let weights: Decimal128Array = at
        .iter()
        .zip(kinds)
        .map(|(t, kind)| Some(i128::from(weigher.weight_at(as_of, t?, kind == Some("value")))))
        .collect();
    let weights = weights.with_data_type(DataType::Decimal128(16, 15));
    append(bare, QUERY, WEIGHT, Arc::new(weights))
}

fn instants<'a>(
    rows: &'a RecordBatch,
    query: &str,
    column: &str,
) -> Result<&'a TimestampMillisecondArray, EngineError> {
    rows.column_by_name(column)
        .and_then(|array| array.as_primitive_opt::<TimestampMillisecondType>())
        .ok_or_else(|| wrong(query, column, "an instant in milliseconds"))
}

fn append(rows: &RecordBatch, query: &str, name: &str, column: ArrayRef) -> Result<RecordBatch, EngineError> {
    let mut fields: Vec<Arc<Field>> = rows.schema().fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
    let mut columns = rows.columns().to_vec();
    columns.push(column);
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|source| broken(query, source))
}

fn wrong(query: &str, column: &str, wanted: &'static str) -> EngineError {
    EngineError::Column { query: query.to_owned(), column: column.to_owned(), wanted }
}

fn broken(query: &str, source: ArrowError) -> EngineError {
    EngineError::Query { query: query.to_owned(), source: Box::new(source.into()) }
}

#[cfg(test)]
mod tests {
    use arrow::array::StringArray;
    use arrow::datatypes::Decimal128Type;

    use super::*;
    use crate::instant::DAY_MS;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
    }

    fn instants_of(values: Vec<Option<i64>>) -> ArrayRef {
        Arc::new(TimestampMillisecondArray::from(values).with_timezone("UTC"))
    }

    #[test]
    fn a_withdrawal_takes_effect_after_the_cooling_off_unless_the_subject_comes_back_before() {
        let days = |days: i64| Some(days * DAY_MS);
        let rows = batch(vec![
            ("withdrew_at", instants_of(vec![None, days(1), days(1), days(1)])),
            ("next_enrolled_at", instants_of(vec![None, None, Some(31 * DAY_MS - 1), days(31)])),
        ]);
        let out = takes_effect_at(&rows, &Policy::with_defaults("https://bureau.example")).unwrap();
        let effects = out.column_by_name("takes_effect_at").unwrap().as_primitive::<TimestampMillisecondType>();
        assert_eq!(effects.iter().collect::<Vec<_>>(), [None, days(31), None, days(31)]);
        assert_eq!(out.column(2).data_type(), rows.column(0).data_type());
    }

    #[test]
    fn a_weight_halves_at_the_half_life_and_a_value_judgment_brings_its_share() {
        let policy = Policy::with_defaults("https://bureau.example");
        let weigher = Weigher::new(&policy.half_life_days, &policy.value_weight).unwrap();
        let rows = batch(vec![
            ("t", instants_of(vec![Some(60 * DAY_MS), Some(0), Some(0), Some(61 * DAY_MS)])),
            ("kind", Arc::new(StringArray::from(vec!["derived", "attested", "value", "probe"]))),
        ]);
        let out = weight(&rows, &weigher, 60 * DAY_MS).unwrap();
        assert_eq!(out.column(2).data_type(), &DataType::Decimal128(16, 15));
        let weights = out.column(2).as_primitive::<Decimal128Type>();
        let one = 1_000_000_000_000_000;
        assert_eq!(weights.values().to_vec(), [one, one / 2, one / 4, one]);
    }

    #[test]
    fn a_result_of_another_shape_is_named() {
        let rows = batch(vec![("t", Arc::new(StringArray::from(vec!["yesterday"])))]);
        let policy = Policy::with_defaults("https://bureau.example");
        let weigher = Weigher::new(&policy.half_life_days, &policy.value_weight).unwrap();
        let fault = weight(&rows, &weigher, 0).unwrap_err().to_string();
        assert_eq!(fault, "query event: column t is not an instant in milliseconds");
    }
}
