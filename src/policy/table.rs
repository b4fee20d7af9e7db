//! The one-row table `policy`, through which the queries get every parameter (design: no query has interval arithmetic).

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, Int64Array, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

use super::Policy;

/// The largest number of `DECIMAL(38,15)`: no sum of weights reaches a threshold beyond it.
const MOST: i128 = 99_999_999_999_999_999_999_999_999_999_999_999_999;

impl Policy {
    /// The row for `as_of`: the borders of [`Policy::windows`] as UTC milliseconds, `unproven_threshold` rounded up to 15 places (sums
    /// have no more), the two thresholds that are counts, and whether the portfolio prior is on.
    pub fn table(&self, as_of: i64) -> Result<RecordBatch, ArrowError> {
        let windows = self.windows(as_of);
        let instant = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        let mut fields = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        for (name, value) in [
            ("as_of", windows.as_of),
            ("window_from", windows.window_from),
            ("cooling_from", windows.cooling_from),
            ("claim_open_from", windows.claim_open_from),
            ("claim_record_from", windows.claim_record_from),
        ] {
            fields.push(Field::new(name, instant.clone(), false));
            columns.push(Arc::new(TimestampMillisecondArray::from(vec![value]).with_timezone("UTC")));
        }
        fields.push(Field::new("unproven_threshold", DataType::Decimal128(38, 15), false));
        let threshold =
            Decimal128Array::from(vec![self.unproven_threshold_units().min(MOST)]).with_precision_and_scale(38, 15)?;
        columns.push(Arc::new(threshold));
        for (name, value) in
            [("evaluator_min_volume", self.evaluator_min_volume), ("sender_threshold", self.sender_threshold)]
        {
            fields.push(Field::new(name, DataType::Int64, false));
            columns.push(Arc::new(Int64Array::from(vec![i64::try_from(value).unwrap_or(i64::MAX)])));
        }
        fields.push(Field::new("portfolio_prior", DataType::Boolean, false));
        columns.push(Arc::new(BooleanArray::from(vec![self.portfolio_prior])));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    }
}
