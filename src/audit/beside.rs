//! Stage 2: the rules that look at an entry beside earlier ones, as far as those have no error: fact.promise, fact.duplicate and
//! attest.*.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::engine::{Rows, Session};
use crate::identity::Relations;
use crate::policy::{Policy, Spans};

use super::alone::{is_known, need};
use super::error::AuditError;
use super::finding::{Finding, Findings, Rule};
use super::inputs::Inputs;
use super::queries::{ATTESTATION_JUDGED, ENROLLMENT_ACT, FACT_DUPLICATE, FACT_PROMISE};
use super::rules::attest::{self, Attestation, Witness};
use super::rules::code::Observed;
use super::rules::enrollment::{self, Act};
use super::rules::fact;

/// fact.promise, of facts in error, duplicates and voided ones too.
pub(super) fn promises(session: &Session, inputs: &Inputs<'_>, findings: &mut Findings) -> Result<(), AuditError> {
    session.for_each(FACT_PROMISE.name, FACT_PROMISE.text, |rows| {
        let (seq, reporter, stray) = (rows.int("seq")?, rows.text("reporter")?, rows.int("stray")?);
        for row in 0..rows.len() {
            if is_known(inputs.reporters, reporter.get(row)) {
                let found = fact::promise(need(stray.get(row), "stray")?);
                findings.judge(need(seq.get(row), "seq")?, Rule::FactPromise, found);
            }
        }
        Ok(())
    })
}

/// fact.duplicate.
pub(super) fn duplicates(session: &Session, findings: &mut Findings) -> Result<(), AuditError> {
    session.for_each(FACT_DUPLICATE.name, FACT_DUPLICATE.text, |rows| {
        let seq = rows.int("seq")?;
        for row in 0..rows.len() {
            let message = "an earlier fact has this interaction and subject";
            findings.judge(need(seq.get(row), "seq")?, Rule::FactDuplicate, Some(message.into()));
        }
        Ok(())
    })
}

/// The acts that open and close the enrollments of each subject. Of the ledger only these stay in memory, 16 bytes each.
fn acts(session: &Session) -> Result<HashMap<String, Vec<Act>>, AuditError> {
    let mut acts: HashMap<String, Vec<Act>> = HashMap::new();
    session.for_each(ENROLLMENT_ACT.name, ENROLLMENT_ACT.text, |rows| {
        let (subject, seq) = (rows.text("subject")?, rows.int("seq")?);
        let statement_at = rows.instant("statement_at")?;
        for row in 0..rows.len() {
            let subject = need(subject.get(row), "subject")?;
            let statement_at = need(statement_at.get(row), "statement_at")?;
            let act = Act { seq: need(seq.get(row), "seq")?, statement_at };
            match acts.get_mut(subject) {
                Some(earlier) => earlier.push(act),
                None => drop(acts.insert(subject.to_owned(), vec![act])),
            }
        }
        Ok::<(), AuditError>(())
    })?;
    Ok(acts)
}

/// What attestations are judged by, beside the facts that witnessed them.
pub(super) struct Bench<'a> {
    acts: HashMap<String, Vec<Act>>,
    policy: &'a Policy,
    spans: Spans,
    relations: &'a Relations<'a>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        session: &Session,
        inputs: &Inputs<'a>,
        relations: &'a Relations<'a>,
    ) -> Result<Bench<'a>, AuditError> {
        Ok(Bench { acts: acts(session)?, policy: inputs.policy, spans: inputs.policy.spans(), relations })
    }

    /// attest.*.
    pub(super) fn attestations(&self, session: &Session, findings: &mut Findings) -> Result<(), AuditError> {
        session.for_each(ATTESTATION_JUDGED.name, ATTESTATION_JUDGED.text, |rows| {
            findings.extend(self.judge(&rows)?);
            Ok(())
        })
    }

    fn judge(&self, rows: &Rows) -> Result<Vec<Finding>, AuditError> {
        let (seq, at, subject) = (rows.int("seq")?, rows.instant("at")?, rows.text("subject")?);
        let (evaluator, hash) = (rows.text("evaluator")?, rows.text("evaluator_anchor_hash")?);
        let (outcome, reason, fact) = (rows.text("outcome")?, rows.text("reason")?, rows.int("fact_seq")?);
        let (caller, transport) = (rows.text("caller_anchor_hash")?, rows.text("transport")?);
        let (started_at, ended_at) = (rows.instant("started_at")?, rows.instant("ended_at")?);
        let (outcome_derived, derived_from) = (rows.text("derived_outcome")?, rows.text("derived_from")?);
        let broken = rows.boolean("broken")?;
        let judge_row = |row: usize| -> Result<Vec<Finding>, AuditError> {
            let seq = need(seq.get(row), "seq")?;
            let witness = match fact.get(row) {
                None => None,
                Some(_) => Some(Witness {
                    caller_anchor_hash: need(caller.get(row), "caller_anchor_hash")?,
                    started_at: need(started_at.get(row), "started_at")?,
                    ended_at: need(ended_at.get(row), "ended_at")?,
                    observed: Observed {
                        transport: need(transport.get(row), "transport")?,
                        derived_outcome: outcome_derived.get(row),
                        derived_from: derived_from.get(row),
                        broken: broken.get(row) == Some(true),
                    },
                }),
            };
            let attestation = Attestation {
                at: need(at.get(row), "at")?,
                evaluator_anchor_hash: need(hash.get(row), "evaluator_anchor_hash")?,
                own_anchor_hash: self.relations.anchor_hash_of(need(evaluator.get(row), "evaluator")?),
                outcome: need(outcome.get(row), "outcome")?,
                reason: reason.get(row),
                witness,
            };
            Ok(self.rules(seq, need(subject.get(row), "subject")?, &attestation))
        };
        let found: Result<Vec<Vec<Finding>>, AuditError> = (0..rows.len()).into_par_iter().map(judge_row).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    fn rules(&self, seq: i64, subject: &str, attestation: &Attestation<'_>) -> Vec<Finding> {
        let admitted = |witness: &Witness<'_>| {
            let acts = self.acts.get(subject).map(Vec::as_slice).unwrap_or_default();
            enrollment::admits(acts, seq, witness.started_at, attestation.at, |left| self.policy.takes_effect_at(left))
        };
        let judged = [
            (Rule::AttestUnwitnessed, attest::unwitnessed(attestation)),
            (Rule::AttestNotCaller, attest::not_caller(attestation)),
            (Rule::AttestLate, attest::late(attestation, &self.spans)),
            (Rule::AttestNoWork, attest::no_work(attestation)),
            (Rule::AttestCode, attest::code(attestation)),
            (Rule::AttestUnenrolled, attest::unenrolled(attestation, admitted)),
        ];
        let found = judged.into_iter().filter_map(|(rule, message)| Some(Finding::new(seq, rule, message?)));
        found.collect()
    }
}
