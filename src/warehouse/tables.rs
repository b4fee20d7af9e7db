//! One block's entries as rows of every table.

use parquet::errors::ParquetError;

use super::builder::{Row, TableBuilder, Value};
use super::pages::Pages;
use super::schema;
use super::writer::Rows;
use crate::ledger::detail::Declaration;
use crate::ledger::{Detail, Entry};

/// Builders for the ledger table and, run by run, the tables of all actions. They are used again after [`Tables::finish`].
pub(super) struct Tables {
    /// The canonical form of the entry at hand is begun here before [`Tables::push`], which keeps it.
    pub canonical: Pages,
    ledger: TableBuilder,
    actions: Vec<Vec<TableBuilder>>,
}

/// Rows of one block for one table.
pub(super) struct Batch {
    /// 0 the ledger, then the actions in the order of [`schema::ACTIONS`].
    pub table: usize,
    /// The run of slices, below [`schema::Table::runs`].
    pub run: usize,
    pub rows: Rows,
}

impl Tables {
    pub(super) fn new() -> Tables {
        let builders = |table: &schema::Table| (0..table.runs()).map(|_| TableBuilder::new(table)).collect();
        Tables {
            canonical: Pages::default(),
            ledger: TableBuilder::new(&schema::LEDGER),
            actions: schema::ACTIONS.iter().map(builders).collect(),
        }
    }

    /// Adds an entry that has a `seq` and both hash members: to the ledger, and to its action's table where its members are as
    /// profile 1.5 says.
    pub(super) fn push(&mut self, entry: &Entry<'_>, seq: i64) -> Result<(), ParquetError> {
        self.canonical.keep()?;
        self.ledger
            .row()
            .int(seq)
            .maybe_instant(entry.at)
            .maybe_text(entry.action)
            .maybe_text(entry.subject)
            .maybe_text(entry.capability)
            .text(entry.prev_hash.unwrap_or_default())
            .text(entry.entry_hash.unwrap_or_default())
            .maybe_text(entry.fault.as_deref())
            .end();
        let (None, Some(at), Some(subject)) = (&entry.fault, entry.at, entry.subject) else { return Ok(()) };
        let Some(table) = entry.action.and_then(schema::of_action) else { return Ok(()) };
        let slice = sliced_by(&entry.detail).map(schema::slice_of);
        let run = slice.map_or(0, schema::run_of);
        let row = self.actions[table][run].row().int(seq).instant(at).text(subject).maybe_text(entry.capability);
        push_detail(row, &entry.detail, slice.map_or(0, i64::from));
        Ok(())
    }

    /// The rows so far, but for tables without any.
    pub(super) fn finish(&mut self) -> Result<Vec<Batch>, ParquetError> {
        let mut canonical = self.canonical.finish()?;
        let actions =
            self.actions.iter_mut().enumerate().flat_map(|(table, runs)| {
                runs.iter_mut().enumerate().map(move |(run, builder)| (table + 1, run, builder))
            });
        [(0, 0, &mut self.ledger)]
            .into_iter()
            .chain(actions)
            .filter(|(_, _, builder)| !builder.is_empty())
            .map(|(table, run, builder)| {
                // The ledger comes first.
                let pages = std::mem::take(&mut canonical);
                Ok(Batch { table, run, rows: Rows { batch: builder.finish()?, pages } })
            })
            .collect()
    }
}

/// The interaction by which an entry's table is sliced.
fn sliced_by<'a>(detail: &Detail<'a>) -> Option<&'a str> {
    match detail {
        Detail::Fact(fact) => Some(fact.interaction_id),
        Detail::Attested(attestation) => Some(attestation.interaction_id),
        Detail::Probed(probe) => Some(probe.interaction_id),
        _ => None,
    }
}

fn push_detail(row: Row<'_>, detail: &Detail<'_>, slice: i64) {
    match detail {
        Detail::Enrolled(declaration) | Detail::Amended(declaration) => push_declaration(row, declaration),
        Detail::Withdrew(withdrawal) => row
            .instant(withdrawal.statement_at)
            .text(withdrawal.bureau)
            .text(withdrawal.key)
            .text(withdrawal.signature)
            .end(),
        Detail::Fact(fact) => row
            .text(fact.interaction_id)
            .int(slice)
            .maybe_text(fact.parent_id)
            .text(fact.reporter)
            .text(fact.caller_anchor_hash)
            .instant(fact.started_at)
            .instant(fact.ended_at)
            .text(fact.transport)
            .maybe_int(fact.latency_ms)
            .structures(Some(
                fact.promise_checks.iter().map(|check| [Value::Text(Some(check.promise_id)), Value::Bool(check.held)]),
            ))
            .maybe_text(fact.derived_outcome)
            .maybe_text(fact.derived_from)
            .maybe_text(fact.engagement_id)
            .maybe_text(fact.sender)
            .structure(
                fact.screening
                    .as_ref()
                    .map(|screening| [Value::Text(Some(screening.verdict)), Value::Text(Some(screening.provider))])
                    .as_ref()
                    .map(|values| values.as_slice()),
            )
            .text(fact.signature)
            .end(),
        Detail::Attested(attestation) => row
            .text(attestation.interaction_id)
            .int(slice)
            .text(attestation.evaluator)
            .text(attestation.evaluator_anchor_hash)
            .text(attestation.outcome)
            .instant(attestation.statement_at)
            .text(attestation.key)
            .text(attestation.signature)
            .maybe_text(attestation.note)
            .maybe_text(attestation.engagement_id)
            .maybe_text(attestation.amount)
            .maybe_text(attestation.currency)
            .maybe_text(attestation.units)
            .maybe_text(attestation.reason)
            .end(),
        Detail::Probed(probe) => row
            .text(probe.interaction_id)
            .int(slice)
            .text(probe.reporter)
            .text(probe.program)
            .text(probe.library_version)
            .text(probe.result)
            .instant(probe.ended_at)
            .text(probe.signature)
            .end(),
        Detail::Stopped(stop) => row
            .text(stop.interaction_id)
            .text(stop.reporter)
            .maybe_text(stop.class)
            .text(stop.stage)
            .maybe_text(stop.ground)
            .text(stop.decided_by)
            .maybe_text(stop.resolution)
            .text(stop.recipient_anchor_hash)
            .maybe_text(stop.recipient_operator_hash)
            .boolean(stop.solicited)
            .text(stop.envelope_digest)
            .text(stop.sender_signature)
            .text(stop.sender_key)
            .structure(
                stop.screening_provider
                    .as_ref()
                    .map(|provider| [Value::Text(Some(provider.id)), Value::Text(provider.policy_version)])
                    .as_ref()
                    .map(|values| values.as_slice()),
            )
            .instant(stop.stopped_at)
            .text(stop.signature)
            .end(),
        Detail::NdaClaimed(claim) => row
            .text(claim.claim_digest)
            .maybe_text(Some(claim.body_digest.as_str()))
            .text(claim.claimant_anchor_hash)
            .text(claim.signature)
            .text(claim.state)
            .maybe_text(claim.reject_reason)
            .structure(
                claim
                    .agreement
                    .as_ref()
                    .map(|agreement| {
                        [
                            Value::Text(Some(agreement.direction)),
                            Value::Instant(Some(agreement.effective_at)),
                            Value::Instant(agreement.ends_at),
                            Value::Instant(agreement.duties_end_at),
                        ]
                    })
                    .as_ref()
                    .map(|values| values.as_slice()),
            )
            .maybe_text(claim.respondent_org)
            .maybe_text(claim.nda_digest)
            .maybe_text(claim.claimant_key)
            .maybe_text(claim.claimant)
            .maybe_text(claim.respondent_key)
            .maybe_text(claim.respondent)
            .texts(claim.categories.as_ref().map(|categories| categories.iter().copied()))
            .structures(claim.disclosures.as_ref().map(|disclosures| {
                disclosures.iter().map(|disclosure| {
                    [Value::Text(disclosure.kind), Value::Text(disclosure.digest), Value::Instant(disclosure.at)]
                })
            }))
            .maybe_instant(claim.breach_at)
            .maybe_instant(claim.claimed_at)
            .end(),
        Detail::NdaAnswered(answer) => row
            .text(answer.claim_digest)
            .text(answer.text)
            .instant(answer.statement_at)
            .text(answer.key)
            .text(answer.signature)
            .end(),
        Detail::NdaResolved(resolution) => row
            .text(resolution.claim_digest)
            .text(resolution.resolution)
            .maybe_text(resolution.basis)
            .instant(resolution.resolved_at)
            .maybe_instant(resolution.statement_at)
            .maybe_text(resolution.key)
            .maybe_text(resolution.signature)
            .boolean(resolution.has_verdict)
            .boolean(resolution.has_settlement)
            .structure(
                resolution
                    .court
                    .as_ref()
                    .map(|court| [court.forum, court.citation, court.found_on, court.checked_by].map(Value::Text))
                    .as_ref()
                    .map(|values| values.as_slice()),
            )
            .end(),
        Detail::Excluded(exclusion) => row
            .int(exclusion.target_seq)
            .text(exclusion.reason)
            .maybe_text(exclusion.evaluator)
            .text(exclusion.interaction_id)
            .end(),
        Detail::Corrected(correction) => row
            .int(correction.target_seq)
            .text(correction.kind)
            .text(correction.error)
            .maybe_text(correction.set_subject)
            .maybe_text(correction.set_capability)
            .maybe_text(correction.set_interaction_id)
            .boolean(correction.set_capability_null)
            .end(),
        Detail::Unknown | Detail::Faulty => {
            unreachable!("an entry without a fault and with a known action has a detail")
        }
    }
}

fn push_declaration(row: Row<'_>, declaration: &Declaration<'_>) {
    row.instant(declaration.statement_at)
        .text(declaration.bureau)
        .text(declaration.key)
        .text(declaration.signature)
        .text(declaration.anchor_hash)
        .texts(Some(declaration.capabilities.iter().copied()))
        .structures(Some(declaration.promises.iter().map(|promise| {
            [
                Value::Text(Some(promise.id)),
                Value::Text(Some(promise.class)),
                Value::Text(Some(promise.text)),
                Value::Text(promise.kind),
                Value::Float(promise.bound),
            ]
        })))
        .texts(Some(declaration.competitor_anchors.iter().copied()))
        .end();
}
