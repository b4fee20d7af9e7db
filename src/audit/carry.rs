//! What an audit takes over from the one before, beyond signatures: the verdicts of rules that ask other entries, on all entries but those that
//! something since may have touched. Those are judged again, by the same queries, over the interactions that they stand in.
//!
//! `queries/carry` says which they are. Every interaction with a corrected entry is at hand too, since where an entry stands rests on
//! corrections; and for the rate ceiling the attestations of one evaluator about one subject are counted together, as far as a rate
//! window reaches.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::engine::{EngineError, Rows, Session, linked};
use crate::identity::{Relations, View, changes};
use crate::warehouse::schema::UNREAD;

use super::error::AuditError;
use super::excluded::{self, Pairs};
use super::finding::{self, Finding, Findings, Rule};
use super::inputs::{Before, Inputs, names};
use super::queries::{
    ATTESTED_BESIDE, CORRECTED_INTERACTION, DOUBTFUL_ENTRY, DOUBTFUL_INTERACTION, DOUBTFUL_PAIR, INTERACTION_LINK,
    Query,
};
use super::{STAGE_TWO, beside};

/// The part of the audit before that this one builds on.
pub(super) struct Carried<'a> {
    /// Entries up to this one were judged.
    pub head: i64,
    before: Before<'a>,
    findings: &'a [Finding],
}

impl<'a> Carried<'a> {
    pub fn new(head: i64, before: Before<'a>, findings: &'a [Finding]) -> Carried<'a> {
        Carried { head, before, findings }
    }

    /// What was found under some rules at the entries that were judged, but for some.
    fn found<'b>(
        &'b self,
        rule: impl Fn(Rule) -> bool + 'b,
        but: impl Fn(i64) -> bool + 'b,
    ) -> impl Iterator<Item = Finding> + 'b {
        let of = move |found: &&Finding| found.seq <= self.head && rule(found.rule) && !but(found.seq);
        self.findings.iter().filter(of).cloned()
    }

    /// The findings of the rules of stage 1 that look at columns of one entry.
    pub fn alone(&self) -> impl Iterator<Item = Finding> {
        self.found(is_of_columns_alone, |_| false)
    }

    /// The entries judged before whose errors of stage 1 are others now.
    fn error_changes(&self, findings: &Findings) -> Vec<i64> {
        let error = |found: &&Finding| found.seq <= self.head && found.rule.is_error_of_stage_one();
        let then: BTreeSet<i64> = self.findings.iter().filter(error).map(|found| found.seq).collect();
        let now: BTreeSet<i64> = findings.in_error().into_iter().filter(|seq| *seq <= self.head).collect();
        then.symmetric_difference(&now).copied().collect()
    }

    /// What is to be judged again; none where the audit before is of no use for it.
    pub fn doubts(
        &self,
        session: &Session,
        inputs: &Inputs<'_>,
        findings: &Findings,
    ) -> Result<Option<Doubts>, AuditError> {
        let then = View { identities: self.before.identities, hashes: self.before.hashes, as_of: self.before.as_of };
        let now = View { identities: inputs.identities, hashes: inputs.hashes, as_of: inputs.as_of };
        let changed = self.error_changes(findings);
        let Some(related) = changes(then, now) else {
            tracing::info!("audit: every interaction anew: the hashes of anchors are others");
            return Ok(None);
        };
        session.register_batch("doubted_entry", finding::entries(&[&changed, self.before.withheld].concat())?)?;
        if !session.rows("declared_anew", DECLARED_ANEW)?.is_empty() {
            tracing::info!("audit: every interaction anew: an earlier enrollment is judged otherwise");
            return Ok(None);
        }
        session.register_batch("doubtful_handle", names("handle", related.handles.iter().map(String::as_str))?)?;
        session
            .register_batch("doubtful_anchor_hash", names("anchor_hash", related.hashes.iter().map(String::as_str))?)?;
        session.register_parquet("before_correction_span", &[self.before.correction_span.to_path_buf()])?;
        let entries = rows(session, DOUBTFUL_ENTRY)?;
        session.register_batch(DOUBTFUL_ENTRY.name, entries.batch().clone())?;
        let links = rows(session, INTERACTION_LINK)?;
        let doubtful = linked(texts(&rows(session, DOUBTFUL_INTERACTION)?, "interaction_id")?, &links)?;
        let corrected = texts(&rows(session, CORRECTED_INTERACTION)?, "interaction_id")?;
        let at_hand = linked(doubtful.iter().cloned().chain(corrected), &links)?;
        let seq = entries.int("seq")?;
        let entries = (0..entries.len()).filter_map(|row| seq.get(row)).collect();
        Ok(Some(Doubts { entries, doubtful, at_hand }))
    }

    /// Stages 2 and 3 over the interactions at hand; what was found elsewhere stands. Returns what is withheld, or none where there is too
    /// much to judge, and nothing was done.
    pub fn judge(
        &self,
        session: &Session,
        inputs: &Inputs<'_>,
        relations: &Relations<'_>,
        doubts: &Doubts,
        findings: &mut Findings,
    ) -> Result<Option<Vec<i64>>, AuditError> {
        let folder = inputs.scratch.join("touched");
        session.within(&doubts.at_hand, &folder, &UNREAD, |entries| {
            tracing::debug!("audit: {} interactions judged again, of {} entries", doubts.at_hand.len(), entries.len());
            super::alone::facts(session, inputs.reporters, relations, findings)?;
            findings.extend(self.found(is_of_others, |seq| entries.contains(&seq)));
            let bench = beside::Bench::new(session, inputs, relations)?;
            for query in STAGE_TWO {
                let path = folder.join(query.name).with_extension("parquet");
                session.materialise(query.name, query.text, &path, Ok)?;
            }
            beside::duplicates(session, findings)?;
            bench.attestations(session, findings)?;
            beside::promises(session, inputs, findings)?;

            super::in_error(session, findings)?;
            session.register_batch(
                "reached_interaction",
                names("interaction_id", doubts.doubtful.iter().map(String::as_str))?,
            )?;
            let mut again = reached(session)?;
            let pairs = Pairs::of(&rows(session, DOUBTFUL_PAIR)?, inputs.policy.spans())?;
            session.register_batch("counted_pair", pairs.counted())?;
            let path = folder.join(ATTESTED_BESIDE.name).with_extension("parquet");
            session.materialise("attested", ATTESTED_BESIDE.text, &path, Ok)?;
            let judged = excluded::judge(session, inputs, relations, findings, Some(&pairs))?;
            again.extend(judged.targets);
            let target_of = exclusions(session)?;
            findings.extend(self.found(|rule| rule == Rule::ExcludeMissing, |seq| again.contains(&seq)));
            let is_doubtful = |seq: i64| doubts.entries.contains(&seq);
            let is_judged = |seq: i64| {
                let target = target_of.get(&seq);
                is_doubtful(seq) || target.is_none_or(|target| again.contains(target) || is_doubtful(*target))
            };
            findings.extend(self.found(|rule| rule == Rule::ExcludeUnfounded, is_judged));
            Ok(judged.withheld)
        })
    }
}

/// Entries of which a verdict may change, interactions that are judged again for it, and all that are at hand.
pub(super) struct Doubts {
    entries: HashSet<i64>,
    doubtful: BTreeSet<String>,
    at_hand: BTreeSet<String>,
}

/// Enrollments, amendments and withdrawals whose errors changed: rules ask them over all that comes after.
const DECLARED_ANEW: &str = "select d.seq from doubted_entry d join enrolled e on e.seq = d.seq \
     union all select d.seq from doubted_entry d join amended e on e.seq = d.seq \
     union all select d.seq from doubted_entry d join withdrew e on e.seq = d.seq";

fn is_of_columns_alone(rule: Rule) -> bool {
    matches!(rule, Rule::ChainClock | Rule::FactTimes | Rule::StopForbidden | Rule::CorrectTarget)
}

/// The rules of stage 2, and of stage 1 the one that asks what the resolver knows.
fn is_of_others(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::FactSender
            | Rule::FactDuplicate
            | Rule::FactPromise
            | Rule::AttestUnwitnessed
            | Rule::AttestNotCaller
            | Rule::AttestLate
            | Rule::AttestNoWork
            | Rule::AttestCode
            | Rule::AttestUnenrolled
    )
}

/// The facts and attestations of the interactions that are judged again, voided ones too.
fn reached(session: &Session) -> Result<HashSet<i64>, AuditError> {
    let sql = "select f.seq from reached_interaction r join fact f on f.interaction_id = r.interaction_id \
               union all select a.seq from reached_interaction r join attested a on a.interaction_id = r.interaction_id";
    let rows = session.rows("reached", sql)?;
    let seq = rows.int("seq")?;
    Ok((0..rows.len()).filter_map(|row| seq.get(row)).collect())
}

/// The target of every exclusion.
fn exclusions(session: &Session) -> Result<HashMap<i64, i64>, AuditError> {
    let rows = session.rows("excluded", "select seq, target_seq from excluded")?;
    let (seq, target) = (rows.int("seq")?, rows.int("target_seq")?);
    Ok((0..rows.len()).filter_map(|row| Some((seq.get(row)?, target.get(row)?))).collect())
}

fn rows(session: &Session, query: Query) -> Result<Rows, EngineError> {
    session.rows(query.name, query.text)
}

fn texts(rows: &Rows, column: &str) -> Result<Vec<String>, EngineError> {
    let text = rows.text(column)?;
    Ok((0..rows.len()).filter_map(|row| text.get(row).map(str::to_owned)).collect())
}
