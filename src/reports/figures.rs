//! All figures of a night: the plan run, and every document made.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::added::Added;
use super::carry::{self, Before};
use super::evaluator::Evaluator;
use super::flat::Flat;
use super::organization::{MemberCapability, Organization};
use super::organization_rows::OrganizationRows;
use super::plan::{self, Query};
use super::sender::SenderTerms;
use super::subject::{Report, ReportTerms};
use super::subject_rows::{SubjectFault, SubjectRows};
use super::{evaluator, nda, organization_rows, screening, sender, sender_party, subject_rows};
use crate::engine::{EngineError, Rows, Session};
use crate::instant;
use crate::ledger::canonical;
use crate::policy::Policy;

/// Why no documents could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportsError {
    /// A query failed, or gave rows of another shape.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Rows that make no report.
    #[error(transparent)]
    Subject(#[from] SubjectFault),
    /// Rows that make no evaluator report.
    #[error(transparent)]
    Evaluator(#[from] evaluator::EvaluatorFault),
    /// A table could not be built.
    #[error("a table of figures: {0}")]
    Table(#[from] arrow::error::ArrowError),
}

impl ReportsError {
    /// True where the machine, not the data, stands in the way.
    pub fn is_environment(&self) -> bool {
        matches!(self, ReportsError::Engine(fault) if fault.is_environment())
    }
}

/// What every document of a night carries.
#[derive(Debug, Clone)]
pub struct Frame {
    /// *T*, in milliseconds.
    pub as_of: i64,
    /// When its documents expire, in milliseconds.
    pub expires_at: i64,
    /// The bureau's URL.
    pub bureau: String,
    /// The formula version.
    pub formula_version: String,
}

impl Frame {
    /// The frame of a policy at *T*.
    pub fn of(policy: &Policy, as_of: i64) -> Frame {
        Frame {
            as_of,
            expires_at: policy.expires_at(as_of),
            bureau: policy.bureau.clone(),
            formula_version: policy.formula_version.to_owned(),
        }
    }

    fn members(&self) -> Map<String, Value> {
        let members = json!({
            "bureau": self.bureau,
            "formula_version": self.formula_version,
            "issued_at": instant::format(self.as_of),
            "expires_at": instant::format(self.expires_at),
        });
        members.as_object().cloned().unwrap_or_default()
    }
}

/// The inner objects of every document in canonical form, each list in its published order, and the same figures as tables.
#[derive(Debug, Default)]
pub struct Documents {
    /// `report`, by subject, then capability.
    pub reports: Vec<Vec<u8>>,
    /// `organization_report`, by anchor.
    pub organizations: Vec<Vec<u8>>,
    /// `evaluator_report`, by evaluator.
    pub evaluators: Vec<Vec<u8>>,
    /// `screening_provider`, by id.
    pub screening_providers: Vec<Vec<u8>>,
    /// Flat tables, by name.
    pub tables: Vec<(&'static str, Vec<RecordBatch>)>,
    /// How many subjects have a report.
    pub subjects: usize,
}

/// Documents that are in memory as objects at the same time. No byte depends on it.
const AT_ONCE: usize = 1000;

/// Runs the plan over a session that has the ledger's tables, the run's inputs and the findings, keeping intermediates as Parquet in
/// `derived`, and makes the documents. Where `derived` holds those of an earlier report of the same ledger and policy, `before`, they are
/// built on; the documents are the same.
pub fn figures(
    session: &Session,
    policy: &Policy,
    frame: &Frame,
    derived: &Path,
    before: Option<&Before>,
) -> Result<Documents, ReportsError> {
    let added = Arc::new(Added::new(policy, frame.as_of));
    for query in plan::FIRST {
        keep(session, query, derived, |rows| added.finish(query.name, rows))?;
    }
    let carried = match before.map(|before| carry::carry(session, before, derived, &added)) {
        Some(Ok(true)) => true,
        Some(Ok(false)) => {
            tracing::info!("report: every interaction anew: too many are touched");
            false
        }
        // Slice by slice it takes less.
        Some(Err(ReportsError::Engine(EngineError::Memory { detail, .. }))) => {
            tracing::info!("report: every interaction anew: those touched do not fit ({detail})");
            false
        }
        Some(Err(fault)) => return Err(fault),
        None => false,
    };
    if !carried {
        session.each_slice(derived, &plan::SLICED.map(|(query, _)| query.name), |slice| {
            plan::SLICED.into_iter().try_for_each(|(query, key)| {
                let finish = added.of(query.name);
                session.materialise_slice((query.name, query.sql, key), derived, slice, &finish).map(drop)
            })
        })?;
    }
    for query in plan::GATHERED {
        keep(session, query, derived, Ok)?;
    }
    register_parties(session, derived)?;
    keep(session, plan::STOP_COUNTED, derived, Ok)?;

    let members = frame.members();
    let senders = SenderTerms::of(policy);
    let record_days = nda::record_days(policy);
    let mut documents = Documents::default();
    let mut flat = Flat::default();
    // What takes the most memory to compute comes before what takes the most to hold.
    for some in evaluators(session, policy, derived)?.chunks(AT_ONCE) {
        let made: Vec<Value> = some.par_iter().map(|evaluator| evaluator.document(&members)).collect();
        documents.evaluators.extend(both(made, |made| flat.evaluators(made))?);
    }
    let organizations = organizations(session)?;
    let reports = reports(session, policy)?;
    let terms = ReportTerms::of(policy);
    let sender_blocks: BTreeMap<String, Value> =
        sender::records(&read(session, "sender_seen")?, &rows(session, plan::SENDER_CLASS)?)?
            .into_iter()
            .map(|(subject, record)| (subject, record.block(&senders)))
            .collect();
    let nda_blocks: BTreeMap<String, Value> = nda::records(
        &rows(session, plan::NDA_UPHELD)?,
        &rows(session, plan::NDA_OPEN)?,
        &rows(session, plan::NDA_CLOSED)?,
        &rows(session, plan::NDA_FILED)?,
    )?
    .into_iter()
    .map(|(subject, record)| (subject, record.block(&record_days)))
    .collect();
    let mut capabilities: BTreeMap<String, Vec<MemberCapability>> = BTreeMap::new();
    let mut last = None;
    for some in reports.chunks(AT_ONCE) {
        let document = |report: &Report| {
            let subject = report.subject.as_str();
            report.document(&members, &terms, sender_blocks.get(subject), nda_blocks.get(subject))
        };
        let made: Vec<Value> = some.par_iter().map(document).collect();
        for (report, document) in some.iter().zip(&made) {
            if let Some(capability) = MemberCapability::of_report(document) {
                capabilities.entry(report.subject.clone()).or_default().push(capability);
            }
            if last != Some(report.subject.as_str()) {
                documents.subjects += 1;
                last = Some(report.subject.as_str());
            }
        }
        documents.reports.extend(both(made, |made| flat.reports(made, some))?);
    }
    drop((reports, sender_blocks, nda_blocks));
    for some in organizations.chunks(AT_ONCE) {
        let document =
            |organization: &Organization| organization.document(&members, &senders, &record_days, &capabilities);
        let made: Vec<Value> = some.par_iter().map(document).collect();
        documents.organizations.extend(both(made, |made| flat.organizations(made))?);
    }
    let providers = screening::providers(&rows(session, plan::SCREENING_PROVIDER)?)?;
    let made: Vec<Value> = providers.iter().map(screening::ScreeningProvider::document).collect();
    documents.screening_providers.extend(both(made, |made| flat.providers(made))?);
    documents.tables = flat.finish()?;
    Ok(documents)
}

/// The canonical form of documents, which `flat` puts into its tables meanwhile.
fn both<E: Send>(made: Vec<Value>, flat: impl FnOnce(&[Value]) -> Result<(), E> + Send) -> Result<Vec<Vec<u8>>, E> {
    let (put, lines) = rayon::join(|| flat(&made), || made.par_iter().map(canonical::to_vec).collect());
    // Objects take as long to go as to come.
    made.into_par_iter().for_each(drop);
    put.map(|()| lines)
}

fn keep(
    session: &Session,
    query: Query,
    derived: &Path,
    finish: impl FnMut(RecordBatch) -> Result<RecordBatch, EngineError>,
) -> Result<(), EngineError> {
    let path = derived.join(query.name).with_extension("parquet");
    session.materialise(query.name, query.sql, &path, finish).map(drop)
}

/// Keeps a table that the run itself makes between two queries.
fn keep_made(session: &Session, name: &str, made: RecordBatch, derived: &Path) -> Result<(), EngineError> {
    let source = format!("{name}_made");
    session.register_batch(&source, made)?;
    let path = derived.join(name).with_extension("parquet");
    session.materialise(name, &format!("select * from {source}"), &path, Ok).map(drop)
}

pub(super) fn rows(session: &Session, query: Query) -> Result<Rows, EngineError> {
    session.rows(query.name, query.sql)
}

/// All rows of an intermediate.
fn read(session: &Session, table: &'static str) -> Result<Rows, EngineError> {
    session.rows(table, &format!("select * from {table}"))
}

/// Keeps `refusing_party`: connected components over the parties of the identities and the recipients of stops.
fn register_parties(session: &Session, derived: &Path) -> Result<(), ReportsError> {
    let known = session.rows("identity", "select anchor_hash, operator_hash, party from identity")?;
    let (anchor, operator, party) = (known.text("anchor_hash")?, known.text("operator_hash")?, known.int("party")?);
    let (mut anchors, mut operators) = (BTreeMap::new(), BTreeMap::new());
    for row in 0..known.len() {
        let Some(party) = party.get(row) else { continue };
        anchors.extend(anchor.get(row).map(|hash| (hash.to_owned(), party)));
        operators.extend(operator.get(row).map(|hash| (hash.to_owned(), party)));
    }
    let links = sender_party::links(&rows(session, plan::STOP_LINK)?)?;
    let parties = sender_party::refusing_parties(&links, &anchors, &operators);
    Ok(keep_made(session, "refusing_party", sender_party::table(&parties)?, derived)?)
}

fn reports(session: &Session, policy: &Policy) -> Result<Vec<Report>, ReportsError> {
    let table = |name| read(session, name);
    let (index, intervals) = (table("report_index")?, table("enrollment_interval")?);
    let (declarations, pools) = (table("declaration")?, table("pool")?);
    let (priors, facts) = (table("prior")?, table("facts")?);
    let rows = SubjectRows {
        report_index: &index,
        enrollment_interval: &intervals,
        declaration: &declarations,
        pool: &pools,
        prior: &priors,
        candor: &rows(session, plan::CANDOR)?,
        refusal: &rows(session, plan::REFUSAL)?,
        facts: &facts,
        promise_held: &rows(session, plan::PROMISE_HELD)?,
    };
    Ok(subject_rows::reports(&rows, policy)?)
}

fn organizations(session: &Session) -> Result<Vec<Organization>, ReportsError> {
    let rows = OrganizationRows {
        figures: &rows(session, plan::ORGANIZATION_FIGURE)?,
        members: &read(session, "organization_member")?,
        former: &rows(session, plan::ORGANIZATION_FORMER)?,
        sender: &rows(session, plan::ORGANIZATION_SENDER)?,
        nda: &rows(session, plan::ORGANIZATION_NDA)?,
    };
    Ok(organization_rows::organizations(&rows)?)
}

fn evaluators(session: &Session, policy: &Policy, derived: &Path) -> Result<Vec<Evaluator>, ReportsError> {
    let means = subject_rows::pool_means(&read(session, "pool")?, &read(session, "prior")?, policy)?;
    keep_made(session, "pool_mean", means, derived)?;
    let evaluators = evaluator::evaluators(
        &rows(session, plan::EVALUATOR_FIGURE)?,
        &rows(session, plan::EVALUATOR_OUTCOME)?,
        &rows(session, plan::EVALUATOR_OFFSET)?,
    )?;
    Ok(evaluators.into_values().collect())
}
