//! The tables that queries read about who is who at *T*, each with its rows in key order so that the bytes are stable.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

use super::{AnchorHashes, Charters, Identities, Organizations, Parties};
use crate::policy::Windows;

/// A table under construction: the fields with their columns.
#[derive(Default)]
struct Columns {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Columns {
    fn text<'a>(mut self, name: &str, values: impl Iterator<Item = &'a str>) -> Self {
        self.fields.push(Field::new(name, DataType::Utf8, false));
        self.columns.push(Arc::new(StringArray::from_iter_values(values)));
        self
    }

    fn maybe_text<'a>(mut self, name: &str, values: impl Iterator<Item = Option<&'a str>>) -> Self {
        self.fields.push(Field::new(name, DataType::Utf8, true));
        self.columns.push(Arc::new(values.collect::<StringArray>()));
        self
    }

    fn number(mut self, name: &str, nullable: bool, values: impl Iterator<Item = Option<i64>>) -> Self {
        self.fields.push(Field::new(name, DataType::Int64, nullable));
        self.columns.push(Arc::new(values.collect::<Int64Array>()));
        self
    }

    fn instant(mut self, name: &str, nullable: bool, values: impl Iterator<Item = Option<i64>>) -> Self {
        let kind = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        self.fields.push(Field::new(name, kind, nullable));
        self.columns.push(Arc::new(values.collect::<TimestampMillisecondArray>().with_timezone("UTC")));
        self
    }

    fn batch(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.columns)
    }
}

/// `identity`: one row a handle, by handle. `party` is null for one bound after `as_of`.
pub fn identity(
    identities: &Identities,
    parties: &Parties,
    hashes: &AnchorHashes,
    as_of: i64,
) -> Result<RecordBatch, ArrowError> {
    let numbers = parties.numbered_at(as_of);
    let rows = || identities.iter();
    let pairs: Vec<_> = rows().map(|i| (hashes.hash(&i.anchor), hashes.hash(&i.operator))).collect();
    let party = |anchor: &str, bound_at: i64| {
        if bound_at <= as_of { numbers.get(anchor).copied() } else { None }
    };
    Columns::default()
        .text("handle", rows().map(|i| i.handle.as_str()))
        .text("name_system", rows().map(|i| i.name_system.as_str()))
        .text("anchor", rows().map(|i| i.anchor.as_str()))
        .text("anchor_hash", pairs.iter().map(|(anchor, _)| *anchor))
        .text("anchor_kind", rows().map(|i| i.anchor_kind.as_str()))
        .text("operator", rows().map(|i| i.operator.as_str()))
        .text("operator_hash", pairs.iter().map(|(_, operator)| *operator))
        .text("owner_account", rows().map(|i| i.owner_account.as_str()))
        .instant("bound_at", false, rows().map(|i| Some(i.bound.from)))
        .instant("unbound_at", true, rows().map(|i| i.bound.to))
        .number("party", true, rows().map(|i| party(&i.anchor, i.bound.from)))
        .batch()
}

/// `anchor_party`: one row a hash of an anchor or operator of a line bound by `as_of`, by hash.
pub fn anchor_party(parties: &Parties, hashes: &AnchorHashes, as_of: i64) -> Result<RecordBatch, ArrowError> {
    let mut rows: Vec<_> =
        parties.numbered_at(as_of).into_iter().map(|(name, party)| (hashes.hash(name), party)).collect();
    rows.sort_unstable();
    Columns::default()
        .text("anchor_hash", rows.iter().map(|(hash, _)| *hash))
        .number("party", false, rows.iter().map(|(_, party)| Some(*party)))
        .batch()
}

/// `membership`: one row an organization and member at *T*, in that order.
pub fn membership(organizations: &Organizations) -> Result<RecordBatch, ArrowError> {
    let rows = || organizations.members.iter();
    Columns::default()
        .text("organization", rows().map(|m| m.organization.as_str()))
        .text("organization_kind", rows().map(|m| m.kind.as_str()))
        .text("basis", rows().map(|m| m.basis.as_str()))
        .text("subject", rows().map(|m| m.subject.as_str()))
        .instant("member_since", false, rows().map(|m| Some(m.member_since)))
        .batch()
}

/// `former_membership`: one row an organization and one that left it in the window, in that order.
pub fn former_membership(organizations: &Organizations) -> Result<RecordBatch, ArrowError> {
    let rows = || organizations.former.iter();
    Columns::default()
        .text("organization", rows().map(|m| m.organization.as_str()))
        .text("subject", rows().map(|m| m.subject.as_str()))
        .text("basis", rows().map(|m| m.basis.as_str()))
        .instant("left_at", false, rows().map(|m| Some(m.left_at)))
        .batch()
}

/// `organization`: one row an anchor of any identity and a domain of any charter, by anchor.
pub fn organization(organizations: &Organizations) -> Result<RecordBatch, ArrowError> {
    let rows = || organizations.organizations.iter();
    Columns::default()
        .text("anchor", rows().map(|o| o.anchor.as_str()))
        .text("anchor_kind", rows().map(|o| o.kind.as_str()))
        .maybe_text("charter_id", rows().map(|o| o.charter.as_ref().map(|(id, _)| id.as_str())))
        .maybe_text("domain_proof", rows().map(|o| o.charter.as_ref().map(|(_, proof)| proof.as_str())))
        .batch()
}

/// All five, by name.
pub fn all(
    identities: &Identities,
    charters: &Charters,
    hashes: &AnchorHashes,
    windows: &Windows,
) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
    let parties = Parties::new(identities);
    let organizations = Organizations::at(identities, charters, windows.as_of, windows.window_from);
    Ok(vec![
        ("identity", identity(identities, &parties, hashes, windows.as_of)?),
        ("anchor_party", anchor_party(&parties, hashes, windows.as_of)?),
        ("membership", membership(&organizations)?),
        ("former_membership", former_membership(&organizations)?),
        ("organization", organization(&organizations)?),
    ])
}
