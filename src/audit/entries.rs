//! Stage 1, from the canonical bytes: entry.*, reporter.unconfigured and sig.*, streamed and decided over all cores.
//!
//! What is in memory at once is a batch of entries a core, whatever the ledger's length. The rows come in any order: each entry is
//! judged by itself.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::engine::{Rows, Session};

use super::error::AuditError;
use super::finding::{Finding, Findings, Rule};
use super::inputs::{Inputs, Kept};
use super::queries::{ENTRY, ENTRY_AGAIN, Query};
use super::rules;
use super::signature::{BATCH, demands};
use super::signers::{Place, Signers, decide};

/// Judges the entries that no earlier audit judged, and those whose signer's keys have changed since.
pub(super) fn judge(
    session: &Session,
    inputs: &Inputs<'_>,
    kept: Option<&Kept<'_>>,
    findings: &mut Findings,
) -> Result<(), AuditError> {
    let signers = Signers::new(inputs.identities, inputs.reporters);
    let bench = Bench { signers, bureau: &inputs.policy.bureau };
    if let Some(kept) = kept {
        let alone = |found: &&Finding| found.seq <= kept.head && found.rule.is_of_the_entry_alone();
        findings.extend(kept.findings.iter().filter(alone).cloned());
        if kept.has_changes() {
            let mut again = HashSet::new();
            let judged = bench.stream(session, ENTRY_AGAIN, |seq| {
                again.insert(seq);
            })?;
            findings.forget(&again, Rule::is_of_the_entry_alone);
            findings.extend(judged);
        }
    }
    findings.extend(bench.stream(session, ENTRY, |_| ())?);
    Ok(())
}

struct Bench<'a> {
    signers: Signers<'a>,
    bureau: &'a str,
}

impl Bench<'_> {
    fn stream(&self, session: &Session, query: Query, mut see: impl FnMut(i64)) -> Result<Vec<Finding>, AuditError> {
        let threads = rayon::current_num_threads().max(1);
        let mut found = Vec::new();
        let mut units: Vec<Vec<Rows>> = vec![Vec::new()];
        session.for_each(query.name, query.text, |rows| {
            let seq = rows.int("seq")?;
            (0..rows.len()).filter_map(|row| seq.get(row)).for_each(&mut see);
            let full = |unit: &Vec<Rows>| unit.iter().map(Rows::len).sum::<usize>() >= BATCH;
            match units.last_mut() {
                Some(unit) if !full(unit) => unit.push(rows),
                _ => units.push(vec![rows]),
            }
            if units.len() >= threads && units.last().is_some_and(full) {
                found.append(&mut self.judge_units(&units)?);
                units.clear();
            }
            Ok::<(), AuditError>(())
        })?;
        found.append(&mut self.judge_units(&units)?);
        Ok(found)
    }

    fn judge_units(&self, units: &[Vec<Rows>]) -> Result<Vec<Finding>, AuditError> {
        let found: Result<Vec<_>, _> = units.par_iter().map(|unit| self.judge_unit(unit)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    fn judge_unit(&self, unit: &[Rows]) -> Result<Vec<Finding>, AuditError> {
        let (mut found, mut checks, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
        for rows in unit {
            let (seq, at, action) = (rows.int("seq")?, rows.instant("at")?, rows.text("action")?);
            let (fault, canonical) = (rows.text("fault")?, rows.binary("canonical")?);
            for row in 0..rows.len() {
                let need = |column| AuditError::Row { query: "entry", column };
                let seq = seq.get(row).ok_or_else(|| need("seq"))?;
                if let Some(fault) = fault.get(row) {
                    found.push(Finding::new(seq, Rule::EntrySchema, fault.to_owned()));
                    continue;
                }
                let at = at.get(row).ok_or_else(|| need("at"))?;
                let action = action.get(row).ok_or_else(|| need("action"))?;
                if let Some(message) = rules::action(action) {
                    found.push(Finding::new(seq, Rule::EntryAction, message));
                    continue;
                }
                wanted.clear();
                match demands(canonical.value(row), self.bureau, &mut wanted) {
                    Ok(()) => self.signers.judge(Place { seq, at, action }, &wanted, &mut checks, &mut found),
                    // Its members passed the schema, so this is no shape that anybody could have signed.
                    Err(fault) => {
                        found.push(Finding::new(seq, Rule::SigInvalid, format!("nothing to verify: {fault}")))
                    }
                }
            }
        }
        decide(&checks, &mut found);
        Ok(found)
    }
}
