//! Reports from the rows of the core queries, each read once.
//!
//! `report_index` says which reports there are; every other result is looked up by its key. A subject without a row has none of
//! what the row would count.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

use super::number::Prior;
use super::subject::{self, Enrolled, Report, ReportTerms, State};
use super::subject_blocks::{Candor, Enrollment, Facts, Lent, Pool, Promise, Refusals};
use crate::engine::{EngineError, Rows};
use crate::policy::Policy;

/// A subject and a capability.
pub type Key = (String, Option<String>);

/// The rows of the core queries, named as these are.
pub struct SubjectRows<'a> {
    /// One row a report.
    pub report_index: &'a Rows,
    /// One row an enrollment.
    pub enrollment_interval: &'a Rows,
    /// One row a declaration.
    pub declaration: &'a Rows,
    /// One row a pool that holds an event.
    pub pool: &'a Rows,
    /// One row a report with a lent prior.
    pub prior: &'a Rows,
    /// One row a subject and capability with an interaction in the window.
    pub candor: &'a Rows,
    /// One row a subject and capability with a refusal in the window.
    pub refusal: &'a Rows,
    /// One row a subject with a fact in the window.
    pub facts: &'a Rows,
    /// One row a subject and promise with a check in the window.
    pub promise_held: &'a Rows,
}

/// Why the rows make no reports.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectFault {
    /// A result is not of the shape that this room reads.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A table could not be built.
    #[error("a table of figures: {0}")]
    Table(#[from] ArrowError),
    /// A state that §3.1 does not know.
    #[error("report_index: {subject} has the state {state:?}")]
    State {
        /// Whose.
        subject: String,
        /// As the query gave it.
        state: String,
    },
}

impl ReportTerms {
    /// The terms of a policy.
    pub fn of(policy: &Policy) -> ReportTerms {
        ReportTerms {
            half_life_days: policy.to_json()["half_life_days"].clone(),
            unproven_threshold: policy.unproven_threshold_units(),
        }
    }
}

/// Every report, by subject, then capability.
pub fn reports(rows: &SubjectRows<'_>, policy: &Policy) -> Result<Vec<Report>, SubjectFault> {
    let facts = facts(rows.facts)?;
    let enrollments = enrollments(rows.enrollment_interval)?;
    let promises = promises(rows.declaration, rows.promise_held)?;
    let (mut pools, mut lent) = (pools(rows.pool)?, lent(rows.prior, policy)?);
    let mut candor = candor(rows.candor, rows.refusal)?;
    let index = rows.report_index;
    let (subject, capability, state) = (index.text("subject")?, index.text("capability")?, index.text("state")?);
    let mut reports = Vec::with_capacity(index.len());
    for row in 0..index.len() {
        let (Some(subject), Some(state)) = (subject.get(row), state.get(row)) else { continue };
        let Some(state) = State::parse(state) else {
            return Err(SubjectFault::State { subject: subject.to_owned(), state: state.to_owned() });
        };
        let key: Key = (subject.to_owned(), capability.get(row).map(str::to_owned));
        let enrolled = (state != State::Unenrolled).then(|| Enrolled {
            enrollments: enrollments.get(subject).cloned().unwrap_or_default(),
            pool: pools.remove(&key).unwrap_or_default(),
            lent: lent.remove(&key),
            candor: candor.remove(&key).unwrap_or_default(),
            promises: promises.get(subject).cloned().unwrap_or_default(),
        });
        let facts = facts.get(subject).cloned().unwrap_or_default();
        reports.push(Report { subject: key.0, capability: key.1, state, facts, enrolled });
    }
    reports.sort_by(Report::order);
    Ok(reports)
}

/// The input table `pool_mean (subject, capability, mean)`: the published mean of every pool that holds an event, `DECIMAL(7,6)`, also of
/// those that no report serves (2.7, `offset`).
pub fn pool_means(pool: &Rows, prior: &Rows, policy: &Policy) -> Result<RecordBatch, SubjectFault> {
    let (pools, lent) = (pools(pool)?, lent(prior, policy)?);
    let mean = |(key, pool): (&Key, &Pool)| {
        let mean = subject::posterior(pool, lent.get(key)).mean;
        i128::from(super::number::six_places_of_f64(mean).unwrap_or(0))
    };
    let subjects = pools.keys().map(|(subject, _)| Some(subject.as_str())).collect::<StringArray>();
    let capabilities = pools.keys().map(|(_, capability)| capability.as_deref()).collect::<StringArray>();
    let means = pools.iter().map(mean).collect::<Vec<_>>();
    let means = Decimal128Array::from(means).with_data_type(DataType::Decimal128(7, 6));
    let schema = Schema::new(vec![
        Field::new("subject", DataType::Utf8, false),
        Field::new("capability", DataType::Utf8, true),
        Field::new("mean", DataType::Decimal128(7, 6), false),
    ]);
    let columns: Vec<ArrayRef> = vec![Arc::new(subjects), Arc::new(capabilities), Arc::new(means)];
    Ok(RecordBatch::try_new(Arc::new(schema), columns)?)
}

pub(super) fn pools(rows: &Rows) -> Result<BTreeMap<Key, Pool>, EngineError> {
    let (subject, capability) = (rows.text("subject")?, rows.text("capability")?);
    let (events, oldest, newest) = (rows.int("events")?, rows.instant("oldest")?, rows.instant("newest")?);
    let (sum_w, sum_wv) = (rows.decimal("sum_w", 15)?, rows.decimal("sum_wv", 17)?);
    let (probe_w, value_w) = (rows.decimal("probe_w", 15)?, rows.decimal("value_w", 15)?);
    let (attested_w, top_anchor_w) = (rows.decimal("attested_w", 15)?, rows.decimal("top_anchor_w", 15)?);
    let (anchors, judgments) = (rows.int("attester_anchors")?, rows.int("value_events")?);
    let without_amount = rows.int("value_events_without_amount")?;
    let mut pools = BTreeMap::new();
    for row in 0..rows.len() {
        let Some(subject) = subject.get(row) else { continue };
        let pool = Pool {
            events: events.get(row).unwrap_or(0),
            sum_w: sum_w.get(row).unwrap_or(0),
            sum_wv: sum_wv.get(row).unwrap_or(0),
            oldest: oldest.get(row),
            newest: newest.get(row),
            probe_w: probe_w.get(row).unwrap_or(0),
            value_w: value_w.get(row).unwrap_or(0),
            attested_w: attested_w.get(row).unwrap_or(0),
            top_anchor_w: top_anchor_w.get(row),
            attester_anchors: anchors.get(row).unwrap_or(0),
            value_events: judgments.get(row).unwrap_or(0),
            value_events_without_amount: without_amount.get(row).unwrap_or(0),
        };
        pools.insert((subject.to_owned(), capability.get(row).map(str::to_owned)), pool);
    }
    Ok(pools)
}

/// The priors that are lent. Lenders without any weight lend nothing, and the prior stays uniform.
fn lent(rows: &Rows, policy: &Policy) -> Result<BTreeMap<Key, Lent>, EngineError> {
    let (subject, capability, agents) = (rows.text("subject")?, rows.text("capability")?, rows.int("from_agents")?);
    let (sum_w, sum_wv) = (rows.decimal("sum_w", 15)?, rows.decimal("sum_wv", 17)?);
    let mut lent = BTreeMap::new();
    for row in 0..rows.len() {
        if let (Some(subject), Some(from_agents), Some(sum_w), Some(sum_wv)) =
            (subject.get(row), agents.get(row), sum_w.get(row), sum_wv.get(row))
            && let Some(prior) = Prior::portfolio(sum_w, sum_wv, &policy.prior_weight_events)
        {
            lent.insert((subject.to_owned(), capability.get(row).map(str::to_owned)), Lent { from_agents, prior });
        }
    }
    Ok(lent)
}

fn candor(candor: &Rows, refusal: &Rows) -> Result<BTreeMap<Key, Candor>, EngineError> {
    let mut found: BTreeMap<Key, Candor> = BTreeMap::new();
    let (subject, capability) = (candor.text("subject")?, candor.text("capability")?);
    let (declined, worked, silent) = (candor.int("declined")?, candor.int("worked")?, candor.int("failed_silent")?);
    for row in 0..candor.len() {
        let Some(subject) = subject.get(row) else { continue };
        let counts = Candor {
            declined: declined.get(row).unwrap_or(0),
            worked: worked.get(row).unwrap_or(0),
            failed_silent: silent.get(row).unwrap_or(0),
            refusals: None,
        };
        found.insert((subject.to_owned(), capability.get(row).map(str::to_owned)), counts);
    }
    let (subject, capability) = (refusal.text("subject")?, refusal.text("capability")?);
    let (refused, callers) = (refusal.int("refused")?, refusal.int("caller_anchors")?);
    let (top, corroborated) = (refusal.int("top_caller")?, refusal.int("corroborated")?);
    for row in 0..refusal.len() {
        let Some(subject) = subject.get(row) else { continue };
        let refusals = Refusals {
            refused: refused.get(row).unwrap_or(0),
            caller_anchors: callers.get(row).unwrap_or(0),
            top_caller: top.get(row).unwrap_or(0),
            corroborated: corroborated.get(row).unwrap_or(0),
        };
        let key = (subject.to_owned(), capability.get(row).map(str::to_owned));
        found.entry(key).or_default().refusals = Some(refusals);
    }
    Ok(found)
}

fn facts(rows: &Rows) -> Result<BTreeMap<String, Facts>, EngineError> {
    let (subject, facts) = (rows.text("subject")?, rows.int("facts")?);
    let (unreachable, unavailable) = (rows.int("unreachable")?, rows.int("unavailable")?);
    let (violations, unstated) = (rows.int("contract_violations")?, rows.int("unstated_refusals")?);
    let parked = rows.int("input_required")?;
    let (p50, p95) = (rows.int("latency_p50")?, rows.int("latency_p95")?);
    let mut found = BTreeMap::new();
    for row in 0..rows.len() {
        let Some(subject) = subject.get(row) else { continue };
        let counts = Facts {
            facts: facts.get(row).unwrap_or(0),
            unreachable: unreachable.get(row).unwrap_or(0),
            unavailable: unavailable.get(row).unwrap_or(0),
            contract_violations: violations.get(row).unwrap_or(0),
            unstated_refusals: unstated.get(row).unwrap_or(0),
            input_required: parked.get(row).unwrap_or(0),
            latency_p50: p50.get(row),
            latency_p95: p95.get(row),
        };
        found.insert(subject.to_owned(), counts);
    }
    Ok(found)
}

fn enrollments(rows: &Rows) -> Result<BTreeMap<String, Vec<Enrollment>>, EngineError> {
    let (subject, ordinal) = (rows.text("subject")?, rows.int("ordinal")?);
    let (enrolled_at, withdrew_at) = (rows.instant("enrolled_at")?, rows.instant("withdrew_at")?);
    let mut numbered: BTreeMap<String, BTreeMap<i64, Enrollment>> = BTreeMap::new();
    for row in 0..rows.len() {
        if let (Some(subject), Some(ordinal), Some(enrolled_at)) =
            (subject.get(row), ordinal.get(row), enrolled_at.get(row))
        {
            let enrollment = Enrollment { enrolled_at, withdrew_at: withdrew_at.get(row) };
            numbered.entry(subject.to_owned()).or_default().insert(ordinal, enrollment);
        }
    }
    Ok(numbered.into_iter().map(|(subject, ones)| (subject, ones.into_values().collect())).collect())
}

/// The promises of every subject's latest declaration, in their order, with the checks of the window.
fn promises(declaration: &Rows, promise_held: &Rows) -> Result<BTreeMap<String, Vec<Promise>>, EngineError> {
    let (subject, promise) = (promise_held.text("subject")?, promise_held.text("promise_id")?);
    let (checks, held) = (promise_held.int("checks")?, promise_held.int("held")?);
    let mut kept: BTreeMap<(&str, &str), (i64, i64)> = BTreeMap::new();
    for row in 0..promise_held.len() {
        if let (Some(subject), Some(promise)) = (subject.get(row), promise.get(row)) {
            kept.insert((subject, promise), (checks.get(row).unwrap_or(0), held.get(row).unwrap_or(0)));
        }
    }
    let (subject, until, lists) =
        (declaration.text("subject")?, declaration.int("until_seq")?, declaration.list("promises")?);
    let mut promises = BTreeMap::new();
    for row in 0..declaration.len() {
        let Some(subject) = subject.get(row) else { continue };
        if until.get(row).is_some() || lists.is_null(row) {
            continue;
        }
        let list = declared(&lists.value(row)).ok_or_else(|| EngineError::Column {
            query: "declaration".to_owned(),
            column: "promises".to_owned(),
            wanted: "a list of id, class and text",
        })?;
        let list = list.into_iter().map(|(id, class, text)| {
            let (checks, held) = kept.get(&(subject, id.as_str())).copied().unwrap_or_default();
            Promise { id, class, text, checks, held }
        });
        promises.insert(subject.to_owned(), list.collect());
    }
    Ok(promises)
}

/// The id, class and text of each promise of a declaration.
fn declared(items: &ArrayRef) -> Option<Vec<(String, String, String)>> {
    let items = items.as_struct_opt()?;
    let member = |name| items.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
    let (id, class, text) = (member("id")?, member("class")?, member("text")?);
    let texts = id.iter().zip(class.iter()).zip(text.iter());
    texts.map(|((id, class), text)| Some((id?.to_owned(), class?.to_owned(), text?.to_owned()))).collect()
}
