//! An excerpt out of a warehouse that has been audited and reported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use serde_json::Value;

use super::ExcerptError;
use super::format::{
    CorrectedBy, EntryLine, Excerpt, ExcludedBy, FORMAT, FoundRule, Header, PartyLine, PriorLine, RefusalsLine,
    Standing, WitnessedLine,
};
use super::redact::{Known, Pseudonyms, Redactor};
use super::source::Source;
use crate::engine::{Resources, Rows};
use crate::instant;
use crate::reports::plan;
use crate::warehouse::Warehouse;

/// The excerpt of `subject` at the instant of the last report stage, or of `as_of`, which must be that instant.
pub fn collect(
    warehouse: &Warehouse,
    subject: &str,
    as_of: Option<i64>,
    resources: &Resources,
) -> Result<Excerpt, ExcerptError> {
    excerpt(&Source::open(warehouse, subject, as_of, resources)?)
}

/// The excerpt of an opened warehouse's subject.
pub(super) fn excerpt(source: &Source) -> Result<Excerpt, ExcerptError> {
    let subject = source.subject.as_str();
    let known = known(source)?;
    let entries = entries(source, &known)?;
    let witnessed = witnessed(source)?;
    if entries.is_empty() && witnessed.is_empty() {
        return Err(source.unknown());
    }
    let parties = parties(source, &entries, known.get(subject))?;
    let facts = &source.reported.facts;
    let header = Header {
        format: FORMAT.to_owned(),
        subject: subject.to_owned(),
        anchor_hash: known.get(subject).map(|me| me.anchor_hash.clone()),
        as_of: instant::format(facts.as_of),
        bureau: facts.bureau.clone(),
        formula_version: source.inputs.policy.formula_version.to_owned(),
        policy: source.inputs.policy.to_json(),
        ledger: facts.ledger.clone(),
    };
    let (priors, refusals) = (priors(source)?, refusals(source)?);
    Ok(Excerpt { header, entries, priors, refusals, parties, witnessed, signer: None })
}

fn known(source: &Source) -> Result<BTreeMap<String, Known>, ExcerptError> {
    let rows = source
        .rows("identity", "select handle, anchor, operator, owner_account, anchor_hash, operator_hash from identity")?;
    let columns = [rows.text("anchor")?, rows.text("operator")?, rows.text("owner_account")?];
    let (handle, anchor, operator) = (rows.text("handle")?, rows.text("anchor_hash")?, rows.text("operator_hash")?);
    let mut known = BTreeMap::new();
    for row in 0..rows.len() {
        let (Some(handle), Some(anchor_hash)) = (handle.get(row), anchor.get(row)) else { continue };
        let names = columns.iter().filter_map(|column| column.get(row)).map(str::to_owned);
        let one = Known {
            anchor_hash: anchor_hash.to_owned(),
            operator_hash: operator.get(row).unwrap_or_default().to_owned(),
            names: names.collect::<BTreeSet<_>>().into_iter().collect(),
        };
        known.insert(handle.to_owned(), one);
    }
    Ok(known)
}

fn entries(source: &Source, known: &BTreeMap<String, Known>) -> Result<Vec<EntryLine>, ExcerptError> {
    let rows = source.rows("excerpt_entries", include_str!("sql/entries.sql"))?;
    let (seq, own) = (rows.int("seq")?, rows.boolean("own")?);
    let (prev_hash, entry_hash) = (rows.text("prev_hash")?, rows.text("entry_hash")?);
    let canonical = rows.binary("canonical")?;
    let seqs: Vec<i64> = (0..rows.len()).filter_map(|row| seq.get(row)).collect();
    let mut standings = standings(source, seqs)?;
    let claimants = claimants(source)?;
    let mut redactor =
        Redactor { subject: &source.subject, known, claimants: &claimants, pseudonyms: Pseudonyms::default() };
    let mut lines = Vec::with_capacity(rows.len());
    let mut hidden_hash = None;
    for row in 0..rows.len() {
        let Some(seq) = seq.get(row) else { continue };
        // The warehouse holds what the load has canonicalised: it parses.
        let entry: Value = serde_json::from_slice(canonical.value(row)).unwrap_or_default();
        let redacted = redactor.redact(entry, own.get(row).unwrap_or(false));
        // The next entry's `prev_hash` is this one's hash.
        let follows_hidden = hidden_hash == Some(seq - 1);
        let whole = redacted.withheld.is_empty();
        let text = |hash: Option<&str>| hash.map(str::to_owned);
        lines.push(EntryLine {
            entry: redacted.entry,
            entry_hash: text(entry_hash.get(row)).filter(|_| redacted.hash_is_safe),
            prev_hash: text(prev_hash.get(row)).filter(|_| whole && !follows_hidden),
            withheld: redacted.withheld,
            standing: standings.remove(&seq).unwrap_or_default().judged(),
        });
        if !redacted.hash_is_safe {
            hidden_hash = Some(seq);
        }
    }
    Ok(lines)
}

impl Standing {
    fn judged(mut self) -> Standing {
        self.counts = self.should_count();
        self
    }
}

/// What each entry counts for; entries that nothing is said about are left out. Registers `excerpt_entry`.
fn standings(source: &Source, seqs: Vec<i64>) -> Result<BTreeMap<i64, Standing>, ExcerptError> {
    let schema = Schema::new(vec![Field::new("seq", DataType::Int64, false)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int64Array::from(seqs))])?;
    source.session.register_batch("excerpt_entry", batch)?;
    let mut standings: BTreeMap<i64, Standing> = BTreeMap::new();

    let rows = source.rows("excerpt_findings", include_str!("sql/findings.sql"))?;
    let (seq, rule, severity) = (rows.int("seq")?, rows.text("rule")?, rows.text("severity")?);
    for row in 0..rows.len() {
        if let (Some(seq), Some(rule), Some(severity)) = (seq.get(row), rule.get(row), severity.get(row)) {
            let found = FoundRule { rule: rule.to_owned(), severity: severity.to_owned() };
            standings.entry(seq).or_default().findings.push(found);
        }
    }
    let rows = source.rows("excerpt_awaiting", include_str!("sql/awaiting.sql"))?;
    let seq = rows.int("seq")?;
    for seq in (0..rows.len()).filter_map(|row| seq.get(row)) {
        standings.entry(seq).or_default().awaits_exclusion = true;
    }
    let rows = source.rows("excerpt_corrections", include_str!("sql/corrections.sql"))?;
    let (target, seq, kind) = (rows.int("target_seq")?, rows.int("correction_seq")?, rows.text("kind")?);
    for row in 0..rows.len() {
        if let (Some(target), Some(seq), Some(kind)) = (target.get(row), seq.get(row), kind.get(row)) {
            standings.entry(target).or_default().corrected = Some(CorrectedBy { seq, kind: kind.to_owned() });
        }
    }
    let rows = source.rows("excerpt_exclusions", include_str!("sql/exclusions.sql"))?;
    let (target, seq, reason) = (rows.int("target_seq")?, rows.int("seq")?, rows.text("reason")?);
    for row in 0..rows.len() {
        if let (Some(target), Some(seq), Some(reason)) = (target.get(row), seq.get(row), reason.get(row)) {
            standings.entry(target).or_default().excluded.push(ExcludedBy { seq, reason: reason.to_owned() });
        }
    }
    Ok(standings)
}

fn claimants(source: &Source) -> Result<BTreeMap<String, String>, ExcerptError> {
    let rows = source.rows("excerpt_claimants", include_str!("sql/claimants.sql"))?;
    let (digest, claimant) = (rows.text("claim_digest")?, rows.text("claimant")?);
    let pair = |row| Some((digest.get(row)?.to_owned(), claimant.get(row)?.to_owned()));
    Ok((0..rows.len()).filter_map(pair).collect())
}

fn witnessed(source: &Source) -> Result<Vec<WitnessedLine>, ExcerptError> {
    let rows = source.rows("excerpt_witnessed", include_str!("sql/witnessed.sql"))?;
    let (seq, ended_at) = (rows.int("seq")?, rows.instant("ended_at")?);
    let line = |row| Some(WitnessedLine { seq: seq.get(row)?, ended_at: instant::format(ended_at.get(row)?) });
    Ok((0..rows.len()).filter_map(line).collect())
}

fn priors(source: &Source) -> Result<Vec<PriorLine>, ExcerptError> {
    let rows = source.rows("excerpt_priors", include_str!("sql/priors.sql"))?;
    let (capability, agents) = (rows.text("capability")?, rows.int("from_agents")?);
    let (sum_w, sum_wv) = (rows.decimal("sum_w", 15)?, rows.decimal("sum_wv", 17)?);
    let line = |row| {
        Some(PriorLine {
            capability: capability.get(row)?.to_owned(),
            from_agents: agents.get(row)?,
            sum_w: super::amount::write(sum_w.get(row)?, 15),
            sum_wv: super::amount::write(sum_wv.get(row)?, 17),
        })
    };
    Ok((0..rows.len()).filter_map(line).collect())
}

fn refusals(source: &Source) -> Result<Vec<RefusalsLine>, ExcerptError> {
    let rows = source.rows(plan::REFUSAL.name, plan::REFUSAL.sql)?;
    let (subject, capability) = (rows.text("subject")?, rows.text("capability")?);
    let corroborated = rows.int("corroborated")?;
    let mine = (0..rows.len()).filter(|row| subject.get(*row) == Some(source.subject.as_str()));
    let line = |row| {
        let capability = capability.get(row).map(str::to_owned);
        Some(RefusalsLine { capability, corroborated: corroborated.get(row)? })
    };
    Ok(mine.filter_map(line).collect())
}

/// The parties of the hashes that the excerpt's stops and claims name, and of the subject's own.
fn parties(source: &Source, entries: &[EntryLine], me: Option<&Known>) -> Result<Vec<PartyLine>, ExcerptError> {
    let mut hashes: BTreeSet<&str> = BTreeSet::new();
    for line in entries {
        for name in ["recipient_anchor_hash", "recipient_operator_hash", "claimant_anchor_hash"] {
            hashes.extend(line.detail(name).as_str());
        }
    }
    hashes.extend(me.iter().flat_map(|me| [me.anchor_hash.as_str(), me.operator_hash.as_str()]));
    let refusing = source.rows("refusing_party", "select anchor_hash, party_key as party from refusing_party")?;
    let claiming = source.rows("anchor_party", "select anchor_hash, party from anchor_party")?;
    let (refusing, claiming) = (numbered(&refusing, &hashes)?, numbered(&claiming, &hashes)?);
    let line = |hash: &str| PartyLine {
        anchor_hash: hash.to_owned(),
        refusing: refusing.get(hash).copied(),
        claiming: claiming.get(hash).copied(),
    };
    Ok(hashes.into_iter().map(line).filter(|line| line.refusing.is_some() || line.claiming.is_some()).collect())
}

/// The party of each hash, numbered anew from 1 in the order of the hashes: the warehouse's own numbers would say how many parties
/// there are.
fn numbered<'a>(rows: &Rows, hashes: &BTreeSet<&'a str>) -> Result<BTreeMap<&'a str, i64>, ExcerptError> {
    let (hash, party) = (rows.text("anchor_hash")?, rows.int("party")?);
    let mut found = BTreeMap::new();
    for row in 0..rows.len() {
        if let (Some(hash), Some(party)) = (hash.get(row).and_then(|hash| hashes.get(hash)), party.get(row)) {
            found.insert(*hash, party);
        }
    }
    let mut numbers: BTreeMap<i64, i64> = BTreeMap::new();
    let number = |(hash, party)| {
        let next = numbers.len() as i64 + 1;
        (hash, *numbers.entry(party).or_insert(next))
    };
    Ok(found.into_iter().map(number).collect())
}
