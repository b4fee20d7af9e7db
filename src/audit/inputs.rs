//! What an audit is given, and what it may take over from an earlier one.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;

use crate::engine::Session;
use crate::identity::{AnchorHashes, Charters, Identities, Reporters};
use crate::policy::Policy;

use super::error::AuditError;
use super::finding::Finding;
use super::queries::FIRST_UNSEEN;

/// All that an audit reads beside the ledger's tables and the one-row `policy` table of its session.
#[derive(Clone)]
pub struct Inputs<'a> {
    /// What the resolver knew.
    pub identities: &'a Identities,
    /// Charters with their mandates.
    pub charters: &'a Charters,
    /// The configured reporters.
    pub reporters: &'a Reporters,
    /// The published values.
    pub policy: &'a Policy,
    /// The salted hashes of anchors and operators (1.3).
    pub hashes: &'a AnchorHashes,
    /// *T*, in milliseconds since 1970 UTC; that of the `policy` table.
    pub as_of: i64,
    /// A folder for intermediates, made where it is missing.
    pub scratch: &'a Path,
    /// An earlier audit of the same warehouse, or none for one from nothing. The findings are the same either way.
    pub previous: Option<Previous<'a>>,
}

/// An earlier audit of the same warehouse, with what it was given.
#[derive(Clone, Copy)]
pub struct Previous<'a> {
    /// The last entry that was there.
    pub head: i64,
    /// Its *T*.
    pub as_of: i64,
    /// Its policy's `bureau`, a part of what enrollments sign.
    pub bureau: &'a str,
    /// What the resolver knew then.
    pub identities: &'a Identities,
    /// The reporters then.
    pub reporters: &'a Reporters,
    /// All that it found.
    pub findings: &'a [Finding],
    /// What its rules that ask other entries rested on; none where they are to be judged anew, since the policy or the charters are others.
    pub before: Option<Before<'a>>,
}

/// What the verdicts of an earlier audit rest on, beside the ledger, the policy and the charters.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// Its *T*.
    pub as_of: i64,
    /// What the resolver knew then.
    pub identities: &'a Identities,
    /// The salted hashes then.
    pub hashes: &'a AnchorHashes,
    /// The entries that it withheld.
    pub withheld: &'a [i64],
    /// Its `correction_span`, in Parquet.
    pub correction_span: &'a Path,
}

/// The part of an earlier audit that is still good.
pub(super) struct Kept<'a> {
    /// Entries up to this one were judged; none after it was.
    pub head: i64,
    /// All that was found then.
    pub findings: &'a [Finding],
    pub before: Option<Before<'a>>,
    signers: BTreeSet<&'a str>,
    reporters: BTreeSet<&'a str>,
}

impl Kept<'_> {
    /// True where some signer's keys have changed since.
    pub fn has_changes(&self) -> bool {
        !(self.signers.is_empty() && self.reporters.is_empty())
    }
}

/// What can be kept. Of an earlier *T* only, since a later one has findings of entries that do not exist now; and of the same bureau, whose URL
/// is signed. What the earlier *T* hid is judged with all that comes after it.
pub(super) fn keep<'a>(session: &Session, inputs: &Inputs<'a>) -> Result<Option<Kept<'a>>, AuditError> {
    let Some(previous) = inputs.previous else { return Ok(None) };
    if previous.as_of > inputs.as_of {
        tracing::info!("audit: every entry anew: the earlier audit is of a later instant");
        return Ok(None);
    }
    if previous.bureau != inputs.policy.bureau {
        tracing::info!("audit: every entry anew: the earlier audit is of another bureau");
        return Ok(None);
    }
    let known = |reporters: &Reporters| reporters.iter().map(|line| line.reporter.clone()).collect::<BTreeSet<_>>();
    let before = previous.before.filter(|_| known(previous.reporters) == known(inputs.reporters));
    if before.is_none() && previous.before.is_some() {
        tracing::info!("audit: every interaction anew: reporters came or went");
    }
    session.register_batch("seen", seen(previous.as_of)?)?;
    let unseen = session.rows(FIRST_UNSEEN.name, FIRST_UNSEEN.text)?.int("seq")?.get(0);
    Ok(Some(Kept {
        head: unseen.map_or(previous.head, |unseen| previous.head.min(unseen - 1)),
        findings: previous.findings,
        before,
        signers: changed_signers(previous.identities, inputs.identities),
        reporters: changed_reporters(previous.reporters, inputs.reporters),
    }))
}

fn changed_signers<'a>(before: &'a Identities, now: &'a Identities) -> BTreeSet<&'a str> {
    let same = |handle: &str| match (before.get(handle), now.get(handle)) {
        (Some(a), Some(b)) => a.bound == b.bound && a.keys == b.keys && a.owner_keys == b.owner_keys,
        _ => false,
    };
    before.iter().chain(now.iter()).map(|line| line.handle.as_str()).filter(|handle| !same(handle)).collect()
}

fn changed_reporters<'a>(before: &'a Reporters, now: &'a Reporters) -> BTreeSet<&'a str> {
    let same = |name: &str| match (before.get(name), now.get(name)) {
        (Some(a), Some(b)) => a.configured == b.configured && a.keys == b.keys,
        _ => false,
    };
    before.iter().chain(now.iter()).map(|line| line.reporter.as_str()).filter(|name| !same(name)).collect()
}

/// Registers `audit_scope`, `changed_signer` and `changed_reporter`.
pub(super) fn register(session: &Session, kept: Option<&Kept<'_>>) -> Result<(), AuditError> {
    session.register_batch("audit_scope", scope(kept.map_or(0, |kept| kept.head))?)?;
    let signers = kept.map(|kept| &kept.signers).into_iter().flatten();
    session.register_batch("changed_signer", names("handle", signers.copied())?)?;
    let reporters = kept.map(|kept| &kept.reporters).into_iter().flatten();
    session.register_batch("changed_reporter", names("reporter", reporters.copied())?)?;
    Ok(())
}

fn scope(head: i64) -> Result<RecordBatch, ArrowError> {
    let schema = Schema::new(vec![Field::new("head", DataType::Int64, false)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int64Array::from(vec![head])) as ArrayRef])
}

fn seen(until: i64) -> Result<RecordBatch, ArrowError> {
    let until = TimestampMillisecondArray::from(vec![until]).with_timezone("UTC");
    let schema =
        Schema::new(vec![Field::new("until", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), false)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(until) as ArrayRef])
}

/// A table of one column of text.
pub(super) fn names<'a>(column: &str, names: impl Iterator<Item = &'a str>) -> Result<RecordBatch, ArrowError> {
    let schema = Schema::new(vec![Field::new(column, DataType::Utf8, false)]);
    let names = StringArray::from(names.collect::<Vec<&str>>());
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(names) as ArrayRef])
}
