//! Why a subject scores as it does, from what the report stage left: the events that carry each score, the arithmetic, and what counts for
//! nothing.
//!
//! An evaluator stands as the hash of its anchor here as in the excerpt, so that the answer may be handed to the subject.

use serde::Serialize;

use super::ExcerptError;
use super::collect::excerpt;
use super::format::{EntryLine, Excerpt};
use super::source::Source;
use crate::engine::Resources;
use crate::instant::{self, DAY_MS};
use crate::policy::Policy;
use crate::reports::number::{self, ONE, Posterior, Prior, Weigher};
use crate::warehouse::Warehouse;

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// Whom it is about.
    pub subject: String,
    /// *T*, RFC 3339.
    pub as_of: String,
    /// One a report, by capability.
    pub capabilities: Vec<CapabilityScore>,
    /// Entries that count for nothing, or are excluded from scoring.
    pub nothing: Vec<Nothing>,
}

/// One capability's score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapabilityScore {
    /// The capability, or none.
    pub capability: Option<String>,
    /// UNENROLLED, UNPROVEN, RATED or WITHDRAWN.
    pub state: String,
    /// Whether a report serves mean and bound.
    pub served: bool,
    /// Σ w, 15 places.
    pub sum_w: String,
    /// Σ w·v, 17 places.
    pub sum_wv: String,
    /// The least Σ w of a RATED capability, 15 places.
    pub threshold: String,
    /// How many agents of the same anchor lend a prior; 0 for the uniform one.
    pub prior_from_agents: i64,
    /// What the prior adds to a.
    pub a0: f64,
    /// What the prior adds to b.
    pub b0: f64,
    /// `a0 + Σ w·v`.
    pub a: f64,
    /// `b0 + Σ w·(1 − v)`.
    pub b: f64,
    /// `a / (a + b)`.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The lower bound.
    pub lcb: f64,
    /// New events of full weight that would make it RATED at this instant; 0 where there is weight enough.
    pub missing_events: i64,
    /// The same in value judgments; none where they weigh nothing.
    pub missing_value_judgments: Option<i64>,
    /// Every event of the pool, the heaviest first.
    pub events: Vec<ScoredEvent>,
    /// Interactions of the capability that are in no pool, by reason.
    pub outside: Vec<Outside>,
}

/// One event of a pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredEvent {
    /// The entry that it rests on.
    pub seq: i64,
    /// The instant of the interaction's end.
    pub t: String,
    /// Its age in milliseconds.
    pub age_ms: i64,
    /// probe, attested, value or derived.
    pub kind: String,
    /// Its code.
    pub code: String,
    /// Its value, two places.
    pub v: String,
    /// Its weight, 15 places.
    pub weight: String,
    /// Its share of Σ w, in millionths.
    pub share_millionths: i64,
    /// The hash of the attester's anchor, where someone attested.
    pub attester: Option<String>,
}

/// Interactions that are in no pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outside {
    /// Why.
    pub reason: String,
    /// How many.
    pub interactions: i64,
    /// The first of the entries that they rest on.
    pub first_seq: i64,
    /// The last of them.
    pub last_seq: i64,
}

/// An entry that counts for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Nothing {
    /// The entry.
    pub seq: i64,
    /// Its action.
    pub action: String,
    /// Why.
    pub why: Vec<String>,
}

/// Explains a subject's score for every capability, or for one, at the instant of the last report stage.
pub fn explain(
    warehouse: &Warehouse,
    subject: &str,
    capability: Option<&str>,
    as_of: Option<i64>,
    resources: &Resources,
) -> Result<Explanation, ExcerptError> {
    let source = Source::open(warehouse, subject, as_of, resources)?;
    let excerpt = excerpt(&source)?;
    let wanted = |found: Option<&str>| capability.is_none_or(|wanted| found == Some(wanted));
    let mut capabilities = capabilities(&source)?;
    capabilities.retain(|score| wanted(score.capability.as_deref()));
    add_events(&source, &mut capabilities)?;
    add_outside(&source, &mut capabilities)?;
    Ok(Explanation {
        subject: subject.to_owned(),
        as_of: excerpt.as_of().to_owned(),
        capabilities,
        nothing: nothing(&excerpt),
    })
}

fn capabilities(source: &Source) -> Result<Vec<CapabilityScore>, ExcerptError> {
    let policy = &source.inputs.policy;
    let rows = source.rows(
        "explain_index",
        "select r.capability, r.state, p.sum_w, p.sum_wv, l.from_agents, l.sum_w as lent_w, l.sum_wv as lent_wv \
         from report_index r join excerpted x on x.subject = r.subject \
         left join pool p on p.subject = r.subject and p.capability is not distinct from r.capability \
         left join prior l on l.subject = r.subject and l.capability = r.capability \
         order by r.capability nulls first",
    )?;
    let (capability, state) = (rows.text("capability")?, rows.text("state")?);
    let (sum_w, sum_wv) = (rows.decimal("sum_w", 15)?, rows.decimal("sum_wv", 17)?);
    let (agents, lent_w, lent_wv) =
        (rows.int("from_agents")?, rows.decimal("lent_w", 15)?, rows.decimal("lent_wv", 17)?);
    let score = |row| {
        let sums = (sum_w.get(row).unwrap_or(0), sum_wv.get(row).unwrap_or(0));
        let lent = lent_w.get(row).zip(lent_wv.get(row));
        let prior = lent.and_then(|(w, wv)| Prior::portfolio(w, wv, &policy.prior_weight_events));
        let from_agents = prior.as_ref().map_or(0, |_| agents.get(row).unwrap_or(0));
        let state = state.get(row).unwrap_or_default();
        score(capability.get(row), state, sums, from_agents, &prior.unwrap_or_else(Prior::uniform), policy)
    };
    Ok((0..rows.len()).map(score).collect())
}

fn score(
    capability: Option<&str>,
    state: &str,
    (sum_w, sum_wv): (i128, i128),
    prior_from_agents: i64,
    prior: &Prior,
    policy: &Policy,
) -> CapabilityScore {
    let threshold = policy.unproven_threshold_units();
    let Posterior { a: a0, b: b0, .. } = number::posterior(0, 0, prior);
    let Posterior { a, b, mean, sd, lcb } = number::posterior(sum_w, sum_wv, prior);
    let missing = (threshold - sum_w).max(0);
    let value_weight = Weigher::new(&policy.half_life_days, &policy.value_weight)
        .map_or(0, |weigher| i128::from(weigher.weight(0, true)));
    CapabilityScore {
        capability: capability.map(str::to_owned),
        state: state.to_owned(),
        served: state == "RATED" || (state == "WITHDRAWN" && sum_w >= threshold),
        sum_w: super::amount::write(sum_w, 15),
        sum_wv: super::amount::write(sum_wv, 17),
        threshold: super::amount::write(threshold, 15),
        prior_from_agents,
        a0,
        b0,
        a,
        b,
        mean,
        sd,
        lcb,
        missing_events: pieces(missing, i128::from(ONE)),
        missing_value_judgments: (value_weight > 0).then(|| pieces(missing, value_weight)),
        events: Vec::new(),
        outside: Vec::new(),
    }
}

/// How many pieces of a size make up at least a whole.
fn pieces(whole: i128, size: i128) -> i64 {
    i64::try_from((whole + size - 1) / size).unwrap_or(i64::MAX)
}

fn add_events(source: &Source, capabilities: &mut [CapabilityScore]) -> Result<(), ExcerptError> {
    let rows = source.rows("explain_events", include_str!("sql/events.sql"))?;
    let (seq, capability, kind) = (rows.int("seq")?, rows.text("capability")?, rows.text("kind")?);
    let (code, v, t) = (rows.text("code")?, rows.decimal("v", 2)?, rows.instant("t")?);
    let (weight, attester) = (rows.decimal("weight", 15)?, rows.text("evaluator_anchor_hash")?);
    for row in 0..rows.len() {
        let found = capability.get(row);
        let Some(score) = capabilities.iter_mut().find(|score| score.capability.as_deref() == found) else { continue };
        let (Some(seq), Some(t), Some(weight)) = (seq.get(row), t.get(row), weight.get(row)) else { continue };
        let total = super::amount::read(&score.sum_w, 15).unwrap_or(0);
        score.events.push(ScoredEvent {
            seq,
            t: instant::format(t),
            age_ms: (source.as_of() - t).max(0),
            kind: kind.get(row).unwrap_or_default().to_owned(),
            code: code.get(row).unwrap_or_default().to_owned(),
            v: super::amount::write(v.get(row).unwrap_or(0), 2),
            weight: super::amount::write(weight, 15),
            share_millionths: number::six_places_of_ratio(weight, total).unwrap_or(0),
            attester: attester.get(row).map(str::to_owned),
        });
    }
    Ok(())
}

fn add_outside(source: &Source, capabilities: &mut [CapabilityScore]) -> Result<(), ExcerptError> {
    let rows = source.rows("explain_outside", include_str!("sql/outside.sql"))?;
    let (capability, reason) = (rows.text("capability")?, rows.text("reason")?);
    let (interactions, first, last) = (rows.int("interactions")?, rows.int("first_seq")?, rows.int("last_seq")?);
    for row in 0..rows.len() {
        let found = capability.get(row);
        if let Some(score) = capabilities.iter_mut().find(|score| score.capability.as_deref() == found)
            && let (Some(interactions), Some(first_seq), Some(last_seq)) =
                (interactions.get(row), first.get(row), last.get(row))
        {
            let reason = reason.get(row).unwrap_or_default().to_owned();
            score.outside.push(Outside { reason, interactions, first_seq, last_seq });
        }
    }
    Ok(())
}

fn nothing(excerpt: &Excerpt) -> Vec<Nothing> {
    let line = |line: &EntryLine| {
        let standing = &line.standing;
        let mut why: Vec<String> = standing
            .findings
            .iter()
            .filter(|found| found.severity == "error" || found.rule == "entry.action")
            .map(|found| found.rule.clone())
            .collect();
        if standing.awaits_exclusion {
            why.push("its exclusion is due within a day".to_owned());
        }
        if let Some(by) = standing.corrected.as_ref().filter(|by| by.kind == "void") {
            why.push(format!("voided by {}", by.seq));
        }
        why.extend(standing.excluded.iter().map(|by| format!("excluded by {} ({})", by.seq, by.reason)));
        let action = line.entry["action"].as_str().unwrap_or_default().to_owned();
        (!why.is_empty()).then(|| Nothing { seq: line.seq(), action, why })
    };
    excerpt.entries.iter().filter_map(line).collect()
}

impl ScoredEvent {
    /// Its age in days, to one place, cut.
    pub fn age_days(&self) -> String {
        let tenths = self.age_ms / (DAY_MS / 10);
        format!("{}.{}", tenths / 10, tenths % 10)
    }
}
