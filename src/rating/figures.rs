//! Runs `queries/skalor/*.sql` over the valid rows and gathers what they counted, one [`Agent`] an agent.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};

use super::exact::Ratio;
use super::{Parameters, RatingError, Table};
use crate::engine::{EngineError, Rows, Session};

macro_rules! query {
    ($name:literal) => {
        ($name, include_str!(concat!("../../queries/skalor/", $name, ".sql")))
    };
}

/// The queries that others read, in an order in which each finds what it reads.
const INTERMEDIATES: [(&str, &str); 5] = [
    query!("rated_agent"),
    query!("decision"),
    query!("observed_decision"),
    query!("agent_slashes"),
    query!("agent_revocations"),
];

/// The rated factors in the order of 4.3's table.
const FACTORS: [(&str, &str); 5] = [
    query!("mandate_compliance"),
    query!("attestation_coverage"),
    query!("anomaly_history"),
    query!("operator_review"),
    query!("settlement_reliability"),
];

/// From here on `/x402-pay` runs Gate 6 (4.5): 2026-09-01T00:00:00Z.
pub const X402_GATE6_FROM: i64 = 1_788_220_800_000;

/// What one rated factor counts: sums of weights over the unit, and rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    pub good: i128,
    pub bad: i128,
    pub n: i128,
    pub good_decisions: i64,
    pub bad_decisions: i64,
}

/// The tiers that count against, before they are multiplied, in ten-millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tiers {
    pub watch: i128,
    pub warn: i128,
    pub critical: i128,
}

/// Counts over the observed decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Observed {
    pub decisions: i64,
    /// Ten-millionths of a dollar.
    pub material: i128,
    pub cleared: i64,
    pub parked_approved: i64,
    pub parked_denied: i64,
    pub cleared_authorize_intent: i64,
    pub cleared_x402_pay_ungated: i64,
}

/// Counts over all eligible decisions up to T.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AllTime {
    pub decisions: i64,
    /// Ten-millionths of a dollar.
    pub material: i128,
    pub cleared: i64,
    pub attestable: i64,
    pub first_decision_at: Option<i64>,
    pub scope_breaches: i64,
    pub budget_breaches: i64,
    pub sanctions_matches: i64,
    pub confirmed_true_positives: i64,
}

/// Slashes that are not reversed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slashes {
    pub executed: i64,
    /// Pending or disputed.
    pub unadjudicated: i64,
}

/// Everything counted about one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    pub agent_id: String,
    pub organization_id: String,
    pub mpp_did: String,
    pub data_provenance: String,
    /// One full observation, in ten-millionths of a dollar.
    pub observation: i128,
    pub verification_level: String,
    pub verified_at: Option<i64>,
    /// In the order of 4.3's table; anomaly_history in twenty-millionths.
    pub factors: [Sums; 5],
    pub tiers: Tiers,
    pub observed: Observed,
    pub all_time: AllTime,
    pub unauthenticated: i64,
    pub slashes: Slashes,
    pub active_revocations: i64,
}

impl Agent {
    /// `material`: full observations among the observed decisions.
    pub fn material(&self) -> Ratio {
        Ratio::new(self.observed.material, self.observation)
    }

    /// `material_all_time`.
    pub fn material_all_time(&self) -> Ratio {
        Ratio::new(self.all_time.material, self.observation)
    }
}

/// Everything counted about one controller, over all its agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Controller {
    pub agents: i64,
    pub slashes: Slashes,
    pub active_grave_revocations: i64,
    /// Σ of its agents' `material`, each rounded to 15 places first; in units of 10^-15.
    pub material: i128,
}

/// The agents in byte order of their ids, and the controllers by id.
#[derive(Debug, Default)]
pub struct Figures {
    pub agents: Vec<Agent>,
    pub controllers: HashMap<String, Controller>,
}

/// Registers the tables and computes every count. Intermediates are kept as Parquet in `store`.
pub fn compute(
    session: &Session,
    store: &Path,
    files: &[(Table, std::path::PathBuf)],
    parameters: &Parameters,
) -> Result<Figures, RatingError> {
    for (table, path) in files {
        session.register_parquet(table.name(), std::slice::from_ref(path))?;
    }
    session.register_batch("rating_policy", policy(parameters)?)?;
    for (name, sql) in INTERMEDIATES {
        session.materialise(name, sql, &store.join(format!("{name}.parquet")), Ok)?;
    }
    let mut agents = rated_agents(&session.rows("rated_agent", "select * from rated_agent order by agent_id")?)?;
    let index: HashMap<String, usize> =
        agents.iter().enumerate().map(|(place, agent)| (agent.agent_id.clone(), place)).collect();
    for (place, query) in FACTORS.into_iter().enumerate() {
        each(session, query, &index, &mut agents, |rows| factor(rows, place))?;
    }
    each(session, query!("observed_evidence"), &index, &mut agents, observed)?;
    each(session, query!("all_time_evidence"), &index, &mut agents, all_time)?;
    each(session, query!("unauthenticated"), &index, &mut agents, |rows| {
        let count = rows.int("unauthenticated_decisions_excluded")?;
        Ok(Box::new(move |row, agent| agent.unauthenticated = count.get(row).unwrap_or(0)))
    })?;
    each(session, ("agent_slashes", "select * from agent_slashes"), &index, &mut agents, |rows| {
        let (executed, unadjudicated) = (rows.int("executed")?, rows.int("unadjudicated")?);
        Ok(Box::new(move |row, agent| {
            agent.slashes = Slashes {
                executed: executed.get(row).unwrap_or(0),
                unadjudicated: unadjudicated.get(row).unwrap_or(0),
            };
        }))
    })?;
    each(session, ("agent_revocations", "select * from agent_revocations"), &index, &mut agents, |rows| {
        let active = rows.int("active")?;
        Ok(Box::new(move |row, agent| agent.active_revocations = active.get(row).unwrap_or(0)))
    })?;
    let (name, sql) = query!("controller_record");
    let mut controllers = controllers(&session.rows(name, sql)?)?;
    for agent in &agents {
        if let Some(controller) = controllers.get_mut(&agent.organization_id) {
            controller.material += agent.material().quadrillionths();
        }
    }
    Ok(Figures { agents, controllers })
}

type Put<'a> = Box<dyn Fn(usize, &mut Agent) + 'a>;

/// Runs a query of one row an agent and puts what it says into the agents.
fn each(
    session: &Session,
    (name, sql): (&str, &str),
    index: &HashMap<String, usize>,
    agents: &mut [Agent],
    read: impl for<'a> Fn(&'a Rows) -> Result<Put<'a>, EngineError>,
) -> Result<(), RatingError> {
    session.for_each(name, sql, |rows| {
        let ids = rows.text("agent_id")?;
        let put = read(&rows)?;
        for row in 0..rows.len() {
            let place = ids.get(row).and_then(|id| index.get(id));
            if let Some(agent) = place.and_then(|place| agents.get_mut(*place)) {
                put(row, agent);
            }
        }
        Ok(())
    })
}

fn rated_agents(rows: &Rows) -> Result<Vec<Agent>, EngineError> {
    let text = |name| rows.text(name);
    let (ids, organizations, dids) = (text("agent_id")?, text("organization_id")?, text("mpp_did")?);
    let (provenances, levels) = (text("data_provenance")?, text("verification_level")?);
    let (observations, verified) = (rows.int("observation")?, rows.instant("verified_at")?);
    let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Ok((0..rows.len())
        .map(|row| Agent {
            agent_id: owned(ids.get(row)),
            organization_id: owned(organizations.get(row)),
            mpp_did: owned(dids.get(row)),
            data_provenance: owned(provenances.get(row)),
            observation: observations.get(row).map_or(1, i128::from),
            verification_level: owned(levels.get(row)),
            verified_at: verified.get(row),
            ..Agent::default()
        })
        .collect())
}

fn factor(rows: &Rows, place: usize) -> Result<Put<'_>, EngineError> {
    let (good, bad, n) = (rows.int("good")?, rows.int("bad")?, rows.int("n")?);
    let (good_decisions, bad_decisions) = (rows.int("good_decisions")?, rows.int("bad_decisions")?);
    let tiers = match rows.int("watch") {
        Ok(watch) => Some((watch, rows.int("warn")?, rows.int("critical")?)),
        Err(_) => None,
    };
    let sum = |value: Option<i64>| value.map_or(0, i128::from);
    Ok(Box::new(move |row, agent| {
        if let Some(factor) = agent.factors.get_mut(place) {
            *factor = Sums {
                good: sum(good.get(row)),
                bad: sum(bad.get(row)),
                n: sum(n.get(row)),
                good_decisions: good_decisions.get(row).unwrap_or(0),
                bad_decisions: bad_decisions.get(row).unwrap_or(0),
            };
        }
        if let Some((watch, warn, critical)) = &tiers {
            agent.tiers =
                Tiers { watch: sum(watch.get(row)), warn: sum(warn.get(row)), critical: sum(critical.get(row)) };
        }
    }))
}

fn observed(rows: &Rows) -> Result<Put<'_>, EngineError> {
    let (decisions, material, cleared) =
        (rows.int("decisions")?, rows.int("material")?, rows.int("cleared_decisions")?);
    let (approved, denied) = (rows.int("parked_decisions_approved")?, rows.int("parked_decisions_denied")?);
    let (intent, ungated) = (rows.int("cleared_authorize_intent")?, rows.int("cleared_x402_pay_ungated")?);
    Ok(Box::new(move |row, agent| {
        agent.observed = Observed {
            decisions: decisions.get(row).unwrap_or(0),
            material: material.get(row).map_or(0, i128::from),
            cleared: cleared.get(row).unwrap_or(0),
            parked_approved: approved.get(row).unwrap_or(0),
            parked_denied: denied.get(row).unwrap_or(0),
            cleared_authorize_intent: intent.get(row).unwrap_or(0),
            cleared_x402_pay_ungated: ungated.get(row).unwrap_or(0),
        };
    }))
}

fn all_time(rows: &Rows) -> Result<Put<'_>, EngineError> {
    let (decisions, material) = (rows.int("decisions_all_time")?, rows.decimal("material_all_time", 0)?);
    let (cleared, attestable) = (rows.int("cleared_decisions_all_time")?, rows.int("attestable_decisions_all_time")?);
    let first = rows.instant("first_decision_at")?;
    let (scope, budget) = (rows.int("scope_breaches")?, rows.int("budget_breaches")?);
    let (sanctions, confirmed) = (rows.int("sanctions_matches")?, rows.int("confirmed_true_positives")?);
    Ok(Box::new(move |row, agent| {
        agent.all_time = AllTime {
            decisions: decisions.get(row).unwrap_or(0),
            material: material.get(row).unwrap_or(0),
            cleared: cleared.get(row).unwrap_or(0),
            attestable: attestable.get(row).unwrap_or(0),
            first_decision_at: first.get(row),
            scope_breaches: scope.get(row).unwrap_or(0),
            budget_breaches: budget.get(row).unwrap_or(0),
            sanctions_matches: sanctions.get(row).unwrap_or(0),
            confirmed_true_positives: confirmed.get(row).unwrap_or(0),
        };
    }))
}

fn controllers(rows: &Rows) -> Result<HashMap<String, Controller>, EngineError> {
    let (ids, agents) = (rows.text("organization_id")?, rows.int("agents")?);
    let (executed, unadjudicated, grave) =
        (rows.int("executed")?, rows.int("unadjudicated")?, rows.int("active_grave")?);
    Ok((0..rows.len())
        .map(|row| {
            let controller = Controller {
                agents: agents.get(row).unwrap_or(0),
                slashes: Slashes {
                    executed: executed.get(row).unwrap_or(0),
                    unadjudicated: unadjudicated.get(row).unwrap_or(0),
                },
                active_grave_revocations: grave.get(row).unwrap_or(0),
                material: 0,
            };
            (ids.get(row).unwrap_or_default().to_owned(), controller)
        })
        .collect())
}

/// The one row of `rating_policy`.
fn policy(parameters: &Parameters) -> Result<RecordBatch, RatingError> {
    let instant = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let schema = Schema::new(vec![
        Field::new("as_of", instant.clone(), false),
        Field::new("rating_window_decisions", DataType::Int64, false),
        Field::new("x402_gate6_from", instant, false),
    ]);
    let at = |ms: i64| Arc::new(TimestampMillisecondArray::from(vec![ms]).with_timezone("UTC")) as ArrayRef;
    let window = Arc::new(Int64Array::from(vec![parameters.window_decisions])) as ArrayRef;
    RecordBatch::try_new(Arc::new(schema), vec![at(parameters.as_of), window, at(X402_GATE6_FROM)])
        .map_err(RatingError::Columns)
}
