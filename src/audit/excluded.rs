//! Stage 3: exclude.*, over attestations and facts as far as stages 1 and 2 found no error in them.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use crate::engine::{Rows, Session};
use crate::identity::Relations;

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

/// The pairs of evaluator and subject whose attestations are judged.
pub(super) struct Pairs(HashMap<String, HashSet<String>>);

impl Pairs {
    /// The rows of `queries/carry/doubtful_pair.sql`.
    pub fn of(rows: &Rows) -> Result<Pairs, AuditError> {
        let (evaluator, subject) = (rows.text("evaluator")?, rows.text("subject")?);
        let mut pairs: HashMap<String, HashSet<String>> = HashMap::new();
        for row in 0..rows.len() {
            let (evaluator, subject) = (need(evaluator.get(row), "evaluator")?, need(subject.get(row), "subject")?);
            pairs.entry(evaluator.to_owned()).or_default().insert(subject.to_owned());
        }
        Ok(Pairs(pairs))
    }

    fn contains(&self, evaluator: Option<&str>, subject: Option<&str>) -> bool {
        let pair = evaluator.zip(subject);
        pair.is_some_and(|(evaluator, subject)| self.0.get(evaluator).is_some_and(|with| with.contains(subject)))
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
            if pairs.is_some_and(|pairs| !pairs.contains(evaluator.get(row), subject.get(row))) {
                continue;
            }
            let seq = need(seq.get(row), "seq")?;
            if !desk.is_open(seq) {
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
                desk.open(Open::new(seq, at, there, needed));
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
    fn is_open(&self, seq: i64) -> bool {
        self.open.as_ref().is_some_and(|open| open.seq == seq)
    }

    fn open(&mut self, target: Open) {
        self.close();
        self.open = Some(target);
    }

    /// The exclusion of a row, where it has one: exclude.unfounded, or a ground given.
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
