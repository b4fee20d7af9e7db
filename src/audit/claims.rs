//! Claims of breach and what is said to them: claim.state in stage 1, claim.basis in stage 2.

use std::collections::HashSet;

use arrow::array::{Array, AsArray, StructArray};
use arrow::datatypes::TimestampMillisecondType;

use crate::engine::{EngineError, Rows, Session};
use crate::identity::{Identities, Relations};
use crate::policy::Spans;

use super::alone::need;
use super::error::AuditError;
use super::finding::{Findings, Rule};
use super::queries::{CLAIM_FILED, CLAIM_NAMED};
use super::rules::claim::{self, Act, Claim, Disclosure};
use super::signature::key_bytes;

/// claim.state.
pub(super) fn filed(
    session: &Session,
    relations: &Relations<'_>,
    spans: &Spans,
    findings: &mut Findings,
) -> Result<(), AuditError> {
    session.for_each(CLAIM_FILED.name, CLAIM_FILED.text, |rows| {
        let (seq, at, subject) = (rows.int("seq")?, rows.instant("at")?, rows.text("subject")?);
        let (state, digest, body_digest) = (rows.text("state")?, rows.text("claim_digest")?, rows.text("body_digest")?);
        let (hash, claimant) = (rows.text("claimant_anchor_hash")?, rows.text("claimant")?);
        let (respondent, breach_at) = (rows.text("respondent")?, rows.instant("breach_at")?);
        let agreement = rows.structs("agreement")?;
        let categories = rows.texts("categories")?;
        for row in 0..rows.len() {
            let at = need(at.get(row), "at")?;
            let subject = need(subject.get(row), "subject")?;
            let period = |name| instant(agreement, name, row);
            let related = claimant.get(row).and_then(|claimant| relations.handles_related_at(claimant, subject, at));
            let disclosed = disclosures(&rows, row)?;
            let claim = Claim {
                at,
                subject,
                state: need(state.get(row), "state")?,
                claim_digest: need(digest.get(row), "claim_digest")?,
                own_digest: body_digest.get(row),
                claimant_anchor_hash: need(hash.get(row), "claimant_anchor_hash")?,
                own_anchor_hash: claimant.get(row).and_then(|claimant| relations.anchor_hash_of(claimant)),
                respondent: respondent.get(row),
                related: related.is_some(),
                effective_at: period("effective_at")?,
                ends_at: period("ends_at")?,
                duties_end_at: period("duties_end_at")?,
                categories: categories.get(row).and_then(Option::as_ref).map_or(0, Vec::len),
                disclosures: disclosed.iter().map(|(kind, at)| Disclosure { kind: kind.as_deref(), at: *at }).collect(),
                breach_at: breach_at.get(row),
            };
            findings.judge(need(seq.get(row), "seq")?, Rule::ClaimState, claim::state(&claim, spans));
        }
        Ok(())
    })
}

fn instant(agreement: &StructArray, name: &'static str, row: usize) -> Result<Option<i64>, EngineError> {
    if agreement.is_null(row) {
        return Ok(None);
    }
    let column = agreement.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<TimestampMillisecondType>());
    let column = column.ok_or_else(|| wrong(name, "an instant in milliseconds"))?;
    Ok((!column.is_null(row)).then(|| column.value(row)))
}

/// The kind and instant of a disclosure.
type Cited = (Option<String>, Option<i64>);

/// The disclosures of a row.
fn disclosures(rows: &Rows, row: usize) -> Result<Vec<Cited>, EngineError> {
    let list = rows.list("disclosures")?;
    if list.is_null(row) {
        return Ok(Vec::new());
    }
    let items = list.value(row);
    let items = items.as_struct_opt().ok_or_else(|| wrong("disclosures", "a list of structs"))?;
    let kind = items.column_by_name("kind").and_then(|kind| kind.as_string_opt::<i32>());
    let at = items.column_by_name("at").and_then(|at| at.as_primitive_opt::<TimestampMillisecondType>());
    let (Some(kind), Some(at)) = (kind, at) else {
        return Err(wrong("disclosures", "a list of {kind, at}"));
    };
    Ok(kind.iter().zip(at.iter()).map(|(kind, at)| (kind.map(str::to_owned), at)).collect())
}

fn wrong(column: &str, wanted: &'static str) -> EngineError {
    EngineError::Column { query: CLAIM_FILED.name.to_owned(), column: column.to_owned(), wanted }
}

/// claim.basis, and sig.key of withdrawals, whose key is their claimant's.
pub(super) fn named(session: &Session, identities: &Identities, findings: &mut Findings) -> Result<(), AuditError> {
    let (mut withdrawals, mut found) = (HashSet::new(), Findings::default());
    session.for_each(CLAIM_NAMED.name, CLAIM_NAMED.text, |rows| {
        let (seq, claim_seq) = (rows.int("seq")?, rows.int("claim_seq")?);
        let (claimant, statement_at) = (rows.text("claimant")?, rows.instant("statement_at")?);
        let (resolution, basis) = (rows.text("resolution")?, rows.text("basis")?);
        let (key, signature) = (rows.text("key")?, rows.text("signature")?);
        let (verdict, settlement) = (rows.boolean("has_verdict")?, rows.boolean("has_settlement")?);
        let court = rows.structs("court")?;
        for row in 0..rows.len() {
            let seq = need(seq.get(row), "seq")?;
            let signed = key.get(row).zip(statement_at.get(row)).filter(|_| signature.get(row).is_some());
            let act = Act {
                known: claim_seq.get(row).is_some(),
                resolution: resolution.get(row),
                basis: basis.get(row),
                signed: signed.is_some(),
                verdict: verdict.get(row) == Some(true),
                settlement: settlement.get(row) == Some(true),
                court: is_whole(court, row),
            };
            found.judge(seq, Rule::ClaimBasis, claim::basis(&act));
            if let (Some("withdrawn"), Some((key, at))) = (act.resolution, signed) {
                withdrawals.insert(seq);
                let bound = |claimant| key_bytes(key).is_some() && identities.key_bound_at(claimant, key, at);
                let stranger = claimant.get(row).is_some_and(|claimant| !bound(claimant));
                found.judge(seq, Rule::SigKey, stranger.then(|| STRANGER.into()));
            }
        }
        Ok::<(), AuditError>(())
    })?;
    // An earlier audit's verdict on their keys may be among those kept; it was of another night's claims and keys.
    findings.forget(&withdrawals, |rule| rule == Rule::SigKey);
    findings.append(found);
    Ok(())
}

const STRANGER: &str = "the key was not bound to the claimant at the signed instant";

/// Whether a court's finding has its forum, citation, date and who checked it.
fn is_whole(court: &StructArray, row: usize) -> bool {
    let has = |name| {
        let column = court.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
        column.is_some_and(|column| !column.is_null(row) && !column.value(row).trim().is_empty())
    };
    !court.is_null(row) && ["forum", "citation", "found_on", "checked_by"].into_iter().all(has)
}
