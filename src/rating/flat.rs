//! The ratings flat, for SQL: one row a rating, and one row a factor, with units in the column metadata (3.3).
//! `data_provenance` stands in both, so that no index of ratings is without it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;

use super::exact::Millionths;
use super::verdict::{Factor, PriorHeld, Rating, Unscorable};

/// Columns on their way into one batch. Every one is nullable, so that the schema does not depend on the rows.
#[derive(Default)]
struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn put(&mut self, name: &str, unit: &str, array: ArrayRef) {
        let metadata = HashMap::from([("unit".to_owned(), unit.to_owned())]);
        self.fields.push(Field::new(name, array.data_type().clone(), true).with_metadata(metadata));
        self.arrays.push(array);
    }

    fn text<'a>(&mut self, name: &str, unit: &str, values: impl Iterator<Item = Option<&'a str>>) {
        self.put(name, unit, Arc::new(values.collect::<StringArray>()));
    }

    fn whole(&mut self, name: &str, unit: &str, values: impl Iterator<Item = Option<i64>>) {
        self.put(name, unit, Arc::new(values.collect::<Int64Array>()));
    }

    fn truth(&mut self, name: &str, unit: &str, values: impl Iterator<Item = Option<bool>>) {
        self.put(name, unit, Arc::new(values.collect::<BooleanArray>()));
    }

    fn instant(&mut self, name: &str, values: impl Iterator<Item = Option<i64>>) {
        let array = values.collect::<TimestampMillisecondArray>().with_timezone("UTC");
        self.put(name, "instant", Arc::new(array));
    }

    fn decimal(
        &mut self,
        name: &str,
        unit: &str,
        values: impl Iterator<Item = Option<Millionths>>,
    ) -> Result<(), ArrowError> {
        let array = values.map(|value| value.map(|value| value.0)).collect::<Decimal128Array>();
        self.put(name, unit, Arc::new(array.with_precision_and_scale(38, 6)?));
        Ok(())
    }

    fn batch(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)
    }
}

/// `ratings`: one row a rating, in the order given.
pub fn ratings(ratings: &[Rating]) -> Result<RecordBatch, ArrowError> {
    let all = || ratings.iter();
    let mut columns = Columns::default();
    columns.text("agent_id", "id", all().map(|r| Some(r.agent_id.as_str())));
    columns.text("mpp_did", "id", all().map(|r| Some(r.mpp_did.as_str())));
    columns.text("organization_id", "id", all().map(|r| Some(r.organization_id.as_str())));
    columns.text(
        "data_provenance",
        "live, synthetic_fixture or test_harness",
        all().map(|r| Some(r.data_provenance.as_str())),
    );
    columns.text("tier", "tier, starred where the denominator is reduced", all().map(|r| Some(r.tier.as_str())));
    columns.text("tier_letter", "tier", all().map(|r| Some(r.tier_letter)));
    columns.whole("score", "points of denominator", all().map(|r| Some(r.score)));
    columns.whole("denominator", "points", all().map(|r| Some(r.denominator)));
    columns.whole("uncapped_score", "points of 1000", all().map(|r| r.uncapped_score));
    columns.whole("normalized_score", "points of 1000", all().map(|r| r.normalized_score));
    columns.text("cap_code", "code", all().map(|r| Some(r.ceiling.code)));
    columns.whole("cap_ceiling", "points of 1000", all().map(|r| Some(r.ceiling.ceiling)));
    columns.truth("cap_binding", "true or false", all().map(|r| Some(r.ceiling_binds)));
    let proofs = || ratings.iter().map(|r| r.proof.as_ref());
    columns.text("verification_level", "none, domain or kyb", proofs().map(|p| Some(p.map_or("none", |p| p.level))));
    columns.text("verification_state", "current, grace or lapsed", proofs().map(|p| p.map(|p| p.state.name())));
    columns.instant("verified_at", proofs().map(|p| p.map(|p| p.verified_at)));
    columns.instant("verification_expires_at", proofs().map(|p| p.map(|p| p.expires_at)));
    columns.instant("verification_grace_ends_at", proofs().map(|p| p.map(|p| p.grace_ends_at)));
    let seen = || ratings.iter().map(|r| &r.evidence);
    columns.whole("window_decisions", "decisions", seen().map(|e| Some(e.window_decisions)));
    columns.whole("decisions", "decisions", seen().map(|e| Some(e.decisions)));
    columns.decimal("material", "full observations, cut", seen().map(|e| Some(e.material)))?;
    columns.decimal("material_all_time", "full observations, cut", seen().map(|e| Some(e.material_all_time)))?;
    columns.whole("cleared_decisions", "decisions", seen().map(|e| Some(e.cleared_decisions)));
    columns.whole("cleared_decisions_all_time", "decisions", seen().map(|e| Some(e.cleared_decisions_all_time)));
    columns.whole("attestable_decisions_all_time", "decisions", seen().map(|e| Some(e.attestable_decisions_all_time)));
    columns.whole(
        "unauthenticated_decisions_excluded",
        "decisions",
        seen().map(|e| Some(e.unauthenticated_decisions_excluded)),
    );
    columns.whole("parked_decisions_approved", "decisions", seen().map(|e| Some(e.parked_decisions_approved)));
    columns.whole("parked_decisions_denied", "decisions", seen().map(|e| Some(e.parked_decisions_denied)));
    columns.instant("first_decision_at", seen().map(|e| e.first_decision_at));
    columns.text("summary", "text", all().map(|r| Some(r.summary.as_str())));
    columns.instant("issued_at", all().map(|r| Some(r.issued_at)));
    columns.instant("expires_at", all().map(|r| Some(r.expires_at)));
    columns.batch()
}

enum Part<'a> {
    Scored(&'a Factor, Option<&'a PriorHeld>),
    Unscorable(&'a Unscorable),
}

/// `rating_factors`: one row a factor or penalty of a rating, in the order of its document, the unscorable ones last.
pub fn factors(ratings: &[Rating]) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<(&Rating, Part<'_>)> =
        ratings.iter().flat_map(|rating| parts(rating).map(move |part| (rating, part))).collect();
    let scored = || {
        rows.iter().map(|(_, part)| match part {
            Part::Scored(factor, _) => Some(*factor),
            Part::Unscorable(_) => None,
        })
    };
    let held = || {
        rows.iter().map(|(_, part)| match part {
            Part::Scored(_, held) => *held,
            Part::Unscorable(_) => None,
        })
    };
    let mut columns = Columns::default();
    columns.text("agent_id", "id", rows.iter().map(|(rating, _)| Some(rating.agent_id.as_str())));
    columns.text(
        "data_provenance",
        "live, synthetic_fixture or test_harness",
        rows.iter().map(|(rating, _)| Some(rating.data_provenance.as_str())),
    );
    columns.text("key", "factor", rows.iter().map(|(_, part)| Some(part.key())));
    columns.text("kind", "factor, penalty or unscorable", rows.iter().map(|(_, part)| Some(part.kind())));
    columns.whole("weight", "points", rows.iter().map(|(_, part)| Some(part.weight())));
    columns.decimal("value", "share of weight", scored().map(|factor| factor.and_then(|factor| factor.value)))?;
    columns.whole("contribution", "points", scored().map(|factor| factor.map(|factor| factor.contribution)));
    columns.whole(
        "assessed",
        "points, before the stop at zero",
        scored().map(|factor| factor.and_then(|factor| factor.assessed)),
    );
    columns.decimal(
        "n",
        "full observations, or events of a penalty",
        scored().map(|factor| factor.map(|factor| factor.n)),
    )?;
    columns.truth("prior_held", "true or false", held().map(|held| Some(held.is_some())));
    columns.text(
        "route",
        "route on which the evidence never arrives",
        held().map(|held| held.and_then(|held| held.route)),
    );
    columns.text("code", "code of an unscorable factor", rows.iter().map(|(_, part)| part.code()));
    columns.text("detail", "text", rows.iter().map(|(_, part)| Some(part.detail())));
    columns.batch()
}

fn parts(rating: &Rating) -> impl Iterator<Item = Part<'_>> {
    let scored = rating
        .factors
        .iter()
        .map(|factor| Part::Scored(factor, rating.prior_held.iter().find(|held| held.key == factor.key)));
    scored.chain(rating.unscorable.iter().map(Part::Unscorable))
}

impl Part<'_> {
    fn key(&self) -> &'static str {
        match self {
            Part::Scored(factor, _) => factor.key,
            Part::Unscorable(unscorable) => unscorable.key,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Part::Scored(factor, _) if factor.assessed.is_some() => "penalty",
            Part::Scored(..) => "factor",
            Part::Unscorable(_) => "unscorable",
        }
    }

    fn weight(&self) -> i64 {
        match self {
            Part::Scored(factor, _) => factor.weight,
            Part::Unscorable(unscorable) => unscorable.weight,
        }
    }

    fn code(&self) -> Option<&str> {
        match self {
            Part::Scored(..) => None,
            Part::Unscorable(unscorable) => Some(unscorable.code),
        }
    }

    fn detail(&self) -> &str {
        match self {
            Part::Scored(factor, _) => &factor.detail,
            Part::Unscorable(unscorable) => &unscorable.reason,
        }
    }
}
