//! The audit, verification level L3 (spec 8.4; profile 1.7): every rule judged over every entry, findings out.
//!
//! SQL joins and sorts, over columns, in bounded memory (`queries/audit/*.sql`); a function of `rules/` judges one row. Nothing here
//! knows how anything is scored.
//!
//! # The order, and why it ends
//!
//! Some rules ask whether another entry has an error. Three stages answer that, and no rule asks about a rule of its own stage or
//! of a later one:
//!
//! | stage | rules | asks of other entries |
//! | --- | --- | --- |
//! | 1 | `chain.clock`, `entry.*`, `reporter.unconfigured`, `sig.*`, `fact.times`, `fact.sender`, `stop.forbidden`, `claim.state`, `correct.target` | their action and instant at most |
//! | 2 | `claim.basis` (with the `sig.key` of a withdrawal), `fact.promise`, `fact.duplicate`, `attest.*` | whether facts, enrollments, declarations and corrections have an error of stage 1 |
//! | 3 | `exclude.*`, the rate ceiling in it | whether attestations and facts have an error of stage 1 or 2 |
//!
//! The kinds that stage 2 asks about get no error in it: its errors are of attestations, answers and resolutions. Stage 3 does
//! give facts an error, and a fact that lacks its exclusion still witnesses (1.7), so nothing has to be judged again. In stage 3
//! *error-free* means free of every other error (2.10): an attestation that lacks its exclusion is counted by the ceiling.
//!
//! After `entry.schema`, and for an entry of an unknown reporter, only `chain.*` is judged. After the chain rules, entries with `at` > T do
//! not exist.
//!
//! # What 1.7 leaves open, decided here
//!
//! - A claim is *known* to an answer or resolution when an earlier entry records it, in whatever state and with whatever
//!   finding, about the entry's subject or about one that an earlier correction gave it.
//! - A withdrawal of a claim that nobody knows has that one finding: whose key it needed cannot be said.
//! - `fact.duplicate` is judged among facts without error that no correction voided.
//! - An exclusion of a target in error is founded where its ground is there: self-dealing does not depend on a signature. The
//!   ceiling does not count such a target, not even for itself, since it counts attestations without error.
//! - An exclusion of an attestation whose fact was voided needs no ground, as one of a voided target needs none.
//! - An attestation with several grounds has an exclusion for each.
//! - A handle that nobody knows has no anchor: its attestation is `attest.not_caller`, its claim `claim.state`.
//!
//! # A night's audit
//!
//! What costs is the signatures. The verdicts of `entry.*`, `sig.*` and `reporter.unconfigured` rest on the entry's own bytes, the bureau's URL
//! and its signer's keys, and on nothing that a later entry can change; a correction changes what counts, never what was signed.
//! So a night takes them over from the audit before ([`Previous`]) and judges afresh the entries that are new, those that lay after
//! the earlier T, and those whose signer's lines in `identities.jsonl` or `reporters.jsonl` changed.
//!
//! The other rules may say something else of an old entry: a correction changes it (`fact.duplicate`, `fact.promise`, `exclude.*`, the
//! ceiling), an exclusion or its deadline does (`exclude.missing`), an operator (self-dealing), another key (what its error was worth to
//! others). `carry` finds the interactions that any of that touches and judges those again; under another policy, other charters or other reporters,
//! or where an earlier enrollment is judged otherwise, it judges all. Every way gives the same findings.

mod alone;
mod beside;
mod carry;
mod claims;
mod entries;
mod error;
mod excluded;
mod finding;
mod inputs;
mod queries;
mod rules;
pub mod signature;
mod signers;
#[cfg(test)]
mod tests;

pub use error::AuditError;
pub use finding::{Audit, Finding, Message, Rule, Severity};
pub use inputs::{Before, Inputs, Previous};
pub use queries::digest;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::engine::{EngineError, Finish, Key, Session};
use crate::identity::Relations;

use carry::Carried;
use finding::Findings;
use queries::{CORRECTION_SPAN, FACT_CHECK, FACT_VERSION, Query, WITNESS};

/// What stage 2 keeps for stage 3, each before what reads it.
const STAGE_TWO: [Query; 3] = [FACT_VERSION, FACT_CHECK, WITNESS];

/// Of these, what is computed slice by slice, with the entry that its rows rest on.
const SLICED: [(Query, Key); 2] = [(FACT_CHECK, &["fact_seq"]), (WITNESS, &["seq"])];

/// Judges every rule. The session has the ledger's tables and `policy`; the audit registers its intermediates beside them.
pub fn audit(session: &Session, inputs: &Inputs<'_>) -> Result<Audit, AuditError> {
    let scratch = inputs.scratch;
    fs::create_dir_all(scratch).map_err(|source| AuditError::Io { path: scratch.to_path_buf(), source })?;
    let relations = Relations::new(inputs.identities, inputs.charters, inputs.hashes, inputs.as_of);
    let mut findings = Findings::default();

    let kept = inputs::keep(session, inputs)?;
    inputs::register(session, kept.as_ref())?;
    entries::judge(session, inputs, kept.as_ref(), &mut findings)?;
    let carried = kept.and_then(|kept| Some(Carried::new(kept.head, kept.before?, kept.findings)));
    alone(session, inputs, &relations, carried.as_ref(), &mut findings)?;

    in_error(session, &findings)?;
    keep(session, scratch, CORRECTION_SPAN)?;
    claims::named(session, inputs.identities, &mut findings)?;
    if let Some(carried) = &carried
        && let Some(doubts) = carried.doubts(session, inputs, &findings)?
    {
        let found = findings.clone();
        match carried.judge(session, inputs, &relations, &doubts, &mut findings) {
            Ok(Some(withheld)) => return Ok(Audit { findings: findings.finish(), withheld }),
            Ok(None) => tracing::info!("audit: every interaction anew: too many are touched"),
            // Slice by slice it takes less.
            Err(AuditError::Engine(EngineError::Memory { detail, .. })) => {
                tracing::info!("audit: every interaction anew: those touched do not fit ({detail})");
            }
            Err(fault) => return Err(fault),
        }
        findings = found;
        in_error(session, &findings)?;
    }
    if carried.is_some() {
        alone::facts(session, inputs.reporters, &relations, &mut findings)?;
    }
    keep(session, scratch, FACT_VERSION)?;
    let bench = beside::Bench::new(session, inputs, &relations)?;
    let as_it_is: Finish = Arc::new(Ok);
    session.each_slice(scratch, &SLICED.map(|(query, _)| query.name), |slice| {
        for (query, key) in SLICED {
            session.materialise_slice((query.name, query.text, key), scratch, slice, &as_it_is)?;
        }
        beside::duplicates(session, &mut findings)?;
        bench.attestations(session, &mut findings)
    })?;
    beside::promises(session, inputs, &mut findings)?;

    in_error(session, &findings)?;
    let judged = excluded::judge(session, inputs, &relations, &mut findings, None)?;
    Ok(Audit { findings: findings.finish(), withheld: judged.withheld })
}

/// The rules of stage 1 that look at columns of an entry: of those that were not judged before, where the earlier verdicts are carried.
fn alone(
    session: &Session,
    inputs: &Inputs<'_>,
    relations: &Relations<'_>,
    carried: Option<&Carried<'_>>,
    findings: &mut Findings,
) -> Result<(), AuditError> {
    findings.extend(carried.into_iter().flat_map(Carried::alone));
    let from = carried.map_or(0, |carried| carried.head + 1);
    // An entry's clock is judged by the entry before.
    session.starting_at(&["ledger"], from - 1, || alone::clock(session, inputs.as_of, findings))?;
    session.starting_at(&["fact", "probed", "stopped", "corrected"], from, || {
        alone::facts(session, inputs.reporters, relations, findings)?;
        alone::probes(session, inputs.reporters, findings)?;
        alone::stops(session, inputs.reporters, findings)?;
        alone::corrections(session, findings)
    })?;
    claims::filed(session, relations, &inputs.policy.spans(), findings)
}

fn keep(session: &Session, scratch: &Path, query: Query) -> Result<(), AuditError> {
    session.materialise(query.name, query.text, &scratch.join(query.name).with_extension("parquet"), Ok)?;
    Ok(())
}

/// Registers `faulty`, the entries in which an error has been found so far.
fn in_error(session: &Session, findings: &Findings) -> Result<(), AuditError> {
    session.register_batch("faulty", finding::entries(&findings.in_error())?)?;
    Ok(())
}
