//! Stage 3: exclude.*, over attestations and facts as far as stages 1 and 2 found no error in them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, TimestampMillisecondArray};
use rayon::prelude::*;

use crate::engine::{Rows, Session};
use crate::identity::Relations;
use crate::policy::Spans;

use super::alone::need;
use super::error::AuditError;
use super::finding::{Findings, Rule};
use super::inputs::Inputs;
use super::queries::{ATTESTATION_GROUND, EXCLUSION_OF_FACT, EXCLUSION_STANDING, FACT_GROUND};
use super::rules::ceiling::Ceiling;
use super::rules::code::Observed;
use super::rules::exclusion::{self, Due, Grounds, Target};

/// What was judged.
pub(super) struct Judged {
    /// The entries that are withheld, rising: they count for nothing, and are no finding yet.
    pub withheld: Vec<i64>,
    /// The attestations and facts that were looked at.
    pub targets: Vec<i64>,
}

/// Instants from which on, and before which, attestations are judged.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: i64,
    until: i64,
}

/// The pairs of evaluator and subject of whose attestations some are judged: those that a ceiling counts others of that pair for.
pub(super) struct Pairs {
    judged: HashMap<String, HashMap<String, Stretch>>,
    counted: RecordBatch,
}

impl Pairs {
    /// Those of `queries/carry/doubtful_pair.sql`: an attestation that may be another one now reaches a rate window far.
    pub fn of(rows: &Rows, spans: Spans) -> Result<Pairs, AuditError> {
        let (evaluator, subject) = (rows.text("evaluator")?, rows.text("subject")?);
        let (first, last) = (rows.instant("first_at")?, rows.instant("last_at")?);
        let mut judged: HashMap<String, HashMap<String, Stretch>> = HashMap::new();
        let (mut from_at, mut until_at) = (Vec::new(), Vec::new());
        for row in 0..rows.len() {
            let (evaluator, subject) = (need(evaluator.get(row), "evaluator")?, need(subject.get(row), "subject")?);
            let (first, last) = (need(first.get(row), "first_at")?, need(last.get(row), "last_at")?);
            let stretch = Stretch { from: first, until: last.saturating_add(spans.rate_window) };
            from_at.push(first.saturating_sub(spans.rate_window));
            until_at.push(stretch.until);
            judged.entry(evaluator.to_owned()).or_default().insert(subject.to_owned(), stretch);
        }
        let column = |name| need(rows.batch().column_by_name(name).cloned(), name);
        let instants = |at: Vec<i64>| Arc::new(TimestampMillisecondArray::from(at).with_timezone("UTC")) as ArrayRef;
        let counted = RecordBatch::try_from_iter([
            ("evaluator", column("evaluator")?),
            ("subject", column("subject")?),
            ("from_at", instants(from_at)),
            ("until_at", instants(until_at)),
        ])?;
        Ok(Pairs { judged, counted })
    }

    /// The pairs, with the instants between which attestations are counted: the table `counted_pair`.
    pub fn counted(&self) -> RecordBatch {
        self.counted.clone()
    }

    fn of_pair(&self, evaluator: Option<&str>, subject: Option<&str>) -> Option<Stretch> {
        self.judged.get(evaluator?)?.get(subject?).copied()
    }
}

/// Judges every target that is there and every exclusion of it; of attestations those of some `pairs`, or all.
pub(super) fn judge(
    session: &Session,
    inputs: &Inputs<'_>,
    relations: &Relations<'_>,
    findings: &mut Findings,
    pairs: Option<&Pairs>,
) -> Result<Judged, AuditError> {
    targets(session, findings)?;
    of_facts(session, relations, findings)?;
    let targets = pairs.map(|_| Vec::new());
    let mut desk = Desk { as_of: inputs.as_of, findings, withheld: Vec::new(), targets, open: None };
    attestations(session, inputs, relations, pairs, &mut desk)?;
    facts(session, relations, &mut desk)?;
    let (mut withheld, targets) = (desk.withheld, desk.targets.unwrap_or_default());
    withheld.sort_unstable();
    withheld.dedup();
    Ok(Judged { withheld, targets })
}

/// exclude.unfounded where the target itself is none.
fn targets(session: &Session, findings: &mut Findings) -> Result<(), AuditError> {
    session.for_each(EXCLUSION_STANDING.name, EXCLUSION_STANDING.text, |rows| {
        let (seq, target_seq, reason) = (rows.int("seq")?, rows.int("target_seq")?, rows.text("reason")?);
        let action = rows.text("target_action")?;
        let (read, voided) = (rows.boolean("target_read")?, rows.boolean("target_voided")?);
        for row in 0..rows.len() {
            let target = Target {
                seq: need(target_seq.get(row), "target_seq")?,
                action: action.get(row),
                read: read.get(row) == Some(true),
                voided: voided.get(row) == Some(true),
            };
            let seq = need(seq.get(row), "seq")?;
            let found = exclusion::untargeted(seq, need(reason.get(row), "reason")?, &target);
            findings.judge(seq, Rule::ExcludeUnfounded, found);
        }
        Ok(())
    })
}

fn attestations(
    session: &Session,
    inputs: &Inputs<'_>,
    relations: &Relations<'_>,
    pairs: Option<&Pairs>,
    desk: &mut Desk<'_>,
) -> Result<(), AuditError> {
    let mut ceiling = Ceiling::new(inputs.policy.rate_ceiling, inputs.policy.spans());
    // Whose rows are read, one an exclusion.
    let mut at_hand = None;
    session.for_each(ATTESTATION_GROUND.name, ATTESTATION_GROUND.text, |rows| {
        let (seq, at) = (rows.int("seq")?, rows.instant("at")?);
        let (evaluator, subject) = (rows.text("evaluator")?, rows.text("subject")?);
        let (counts, competitor) = (rows.boolean("counts")?, rows.boolean("competitor")?);
        let gone = rows.boolean("gone")?;
        let related = by_row(&rows, |row| {
            let (evaluator, subject) = (evaluator.get(row)?, subject.get(row)?);
            relations.handles_related_at(evaluator, subject, at.get(row)?)
        });
        for (row, related) in related.into_iter().enumerate() {
            let judged = match pairs {
                Some(pairs) => pairs.of_pair(evaluator.get(row), subject.get(row)),
                None => Some(Stretch { from: i64::MIN, until: i64::MAX }),
            };
            let Some(judged) = judged else { continue };
            let seq = need(seq.get(row), "seq")?;
            if at_hand != Some(seq) {
                at_hand = Some(seq);
                desk.close();
                let at = need(at.get(row), "at")?;
                let counts = counts.get(row) == Some(true);
                let (evaluator, subject) = (need(evaluator.get(row), "evaluator")?, need(subject.get(row), "subject")?);
                let there = Grounds {
                    self_dealing: related,
                    declared_competitor: competitor.get(row) == Some(true),
                    rate_limit: ceiling.passed(evaluator, subject, at, counts),
                };
                let needed = if counts { there } else { Grounds::default() };
                // An attestation whose fact was voided is no finding (1.7), and neither is what was rightly excluded before that.
                let there = if gone.get(row) == Some(true) { Grounds::ALL } else { there };
                // Others are there to be counted.
                if judged.from <= at && at < judged.until {
                    desk.open(Open::new(seq, at, there, needed));
                }
            }
            desk.exclusion(&rows, row)?;
        }
        Ok::<(), AuditError>(())
    })?;
    desk.close();
    Ok(())
}

fn facts(session: &Session, relations: &Relations<'_>, desk: &mut Desk<'_>) -> Result<(), AuditError> {
    session.for_each(FACT_GROUND.name, FACT_GROUND.text, |rows| {
        let (seq, at) = (rows.int("seq")?, rows.instant("at")?);
        let (subject, caller) = (rows.text("subject")?, rows.text("caller_anchor_hash")?);
        let (transport, outcome) = (rows.text("transport")?, rows.text("derived_outcome")?);
        let (derived_from, broken) = (rows.text("derived_from")?, rows.boolean("broken")?);
        let excluded = rows.boolean("excluded")?;
        let related = by_row(&rows, |row| relations.hash_related_at(caller.get(row)?, subject.get(row)?, at.get(row)?));
        for (row, related) in related.into_iter().enumerate() {
            let observed = Observed {
                transport: need(transport.get(row), "transport")?,
                derived_outcome: outcome.get(row),
                derived_from: derived_from.get(row),
                broken: broken.get(row) == Some(true),
            };
            let of_self = |self_dealing| Grounds { self_dealing, ..Grounds::default() };
            let needed = of_self(related && observed.has_quality());
            let given = of_self(excluded.get(row) == Some(true));
            desk.missing(need(seq.get(row), "seq")?, need(at.get(row), "at")?, needed, given);
        }
        Ok(())
    })
}

/// exclude.unfounded of the exclusions of facts.
fn of_facts(session: &Session, relations: &Relations<'_>, findings: &mut Findings) -> Result<(), AuditError> {
    session.for_each(EXCLUSION_OF_FACT.name, EXCLUSION_OF_FACT.text, |rows| {
        let (seq, at) = (rows.int("seq")?, rows.instant("fact_at")?);
        let (subject, caller) = (rows.text("subject")?, rows.text("caller_anchor_hash")?);
        let related = by_row(&rows, |row| relations.hash_related_at(caller.get(row)?, subject.get(row)?, at.get(row)?));
        for (row, self_dealing) in related.into_iter().enumerate() {
            let there = Grounds { self_dealing, ..Grounds::default() };
            let found = exclusion::unfounded("self_dealing", there);
            findings.judge(need(seq.get(row), "seq")?, Rule::ExcludeUnfounded, found);
        }
        Ok(())
    })
}

/// Whether the parties of each row are related, decided over all cores.
fn by_row<G>(rows: &Rows, related: impl Fn(usize) -> Option<G> + Sync) -> Vec<bool> {
    (0..rows.len()).into_par_iter().map(|row| related(row).is_some()).collect()
}

/// An attestation whose exclusions are being read.
struct Open {
    seq: i64,
    at: i64,
    there: Grounds,
    needed: Grounds,
    given: Grounds,
}

impl Open {
    fn new(seq: i64, at: i64, there: Grounds, needed: Grounds) -> Open {
        Open { seq, at, there, needed, given: Grounds::default() }
    }
}

/// Where verdicts are gathered. Keeps one attestation open while its rows, one an exclusion, pass.
struct Desk<'a> {
    as_of: i64,
    findings: &'a mut Findings,
    withheld: Vec<i64>,
    /// Those looked at, where that is asked.
    targets: Option<Vec<i64>>,
    open: Option<Open>,
}

impl Desk<'_> {
    fn open(&mut self, target: Open) {
        self.open = Some(target);
    }

    /// The exclusion of a row of the open attestation, where it has one: exclude.unfounded, or a ground given.
    fn exclusion(&mut self, rows: &Rows, row: usize) -> Result<(), AuditError> {
        let (seq, reason) = (rows.int("exclusion_seq")?, rows.text("reason")?);
        if let (Some(open), Some(seq), Some(reason)) = (self.open.as_mut(), seq.get(row), reason.get(row)) {
            open.given.add(reason);
            self.findings.judge(seq, Rule::ExcludeUnfounded, exclusion::unfounded(reason, open.there));
        }
        Ok(())
    }

    /// exclude.missing of the open attestation, once all its exclusions have been read.
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.missing(open.seq, open.at, open.needed, open.given);
        }
    }

    /// exclude.missing of a target.
    fn missing(&mut self, seq: i64, at: i64, needed: Grounds, given: Grounds) {
        if let Some(targets) = &mut self.targets {
            targets.push(seq);
        }
        match exclusion::due(needed, given, at, self.as_of) {
            Due::Nothing => {}
            Due::Withheld => self.withheld.push(seq),
            Due::Missing(message) => self.findings.judge(seq, Rule::ExcludeMissing, Some(message)),
        }
    }
}
