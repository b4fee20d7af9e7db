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
#[derive(Clone)]
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
    pub findings: Vec<Finding>,
}

/// The part of an earlier audit that is still good.
pub(super) struct Kept<'a> {
    pub head: i64,
    pub seen_until: i64,
    pub findings: Vec<Finding>,
    signers: BTreeSet<&'a str>,
    reporters: BTreeSet<&'a str>,
}

impl Kept<'_> {
    /// True where some signer's keys have changed since.
    pub fn has_changes(&self) -> bool {
        !(self.signers.is_empty() && self.reporters.is_empty())
    }
}

/// What can be kept: the findings of the rules that look at one entry and its signer's keys. Of an earlier *T* only, since a later one
/// has findings of entries that do not exist now; and of the same bureau, whose URL is signed.
pub(super) fn keep<'a>(inputs: &'a Inputs<'a>) -> Option<Kept<'a>> {
    let previous = inputs.previous.as_ref()?;
    if previous.as_of > inputs.as_of || previous.bureau != inputs.policy.bureau {
        return None;
    }
    let findings = previous.findings.iter().filter(|finding| finding.rule.is_of_the_entry_alone()).cloned().collect();
    Some(Kept {
        head: previous.head,
        seen_until: previous.as_of,
        findings,
        signers: changed_signers(previous.identities, inputs.identities),
        reporters: changed_reporters(previous.reporters, inputs.reporters),
    })
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
    session.register_batch("audit_scope", scope(kept)?)?;
    session.register_batch("changed_signer", names("handle", kept.map(|kept| &kept.signers))?)?;
    session.register_batch("changed_reporter", names("reporter", kept.map(|kept| &kept.reporters))?)?;
    Ok(())
}

fn scope(kept: Option<&Kept<'_>>) -> Result<RecordBatch, ArrowError> {
    let head = Int64Array::from(vec![kept.map_or(0, |kept| kept.head)]);
    let until = TimestampMillisecondArray::from(vec![kept.map(|kept| kept.seen_until)]).with_timezone("UTC");
    let schema = Schema::new(vec![
        Field::new("head", DataType::Int64, false),
        Field::new("seen_until", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), true),
    ]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(head) as ArrayRef, Arc::new(until)])
}

fn names(column: &str, names: Option<&BTreeSet<&str>>) -> Result<RecordBatch, ArrowError> {
    let names: Vec<&str> = names.into_iter().flatten().copied().collect();
    let values = StringArray::from(names);
    let schema = Schema::new(vec![Field::new(column, DataType::Utf8, false)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(values) as ArrayRef])
}
