//! The entries of an excerpt as rows of the warehouse's own tables, so that the same queries run over them.
//!
//! The columns are those of [`schema`]; where a column's value stands in an entry is said once, in [`path`]. A member that is
//! withheld is empty: no figure reads it.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray, new_null_array};
use arrow::datatypes::{Field, Schema};
use serde_json::{Value, json};

use super::ExcerptError;
use super::format::{EntryLine, Excerpt};
use crate::identity::{AnchorHashes, Charters, Identities, tables};
use crate::instant;
use crate::policy::Policy;
use crate::warehouse::schema::{self, Column, Kind, Table};
use crate::warehouse::{Row, TableBuilder, Value as Cell};

/// What an excerpt is that cannot be put into tables: the entry, and why.
type Fault = String;

/// Where the value of a column stands in an entry.
pub(super) fn path(table: &str, column: &'static str) -> Vec<&'static str> {
    match (table, column) {
        (_, "seq" | "at" | "subject" | "capability") => vec![column],
        (_, "slice") => vec!["detail", "interaction_id"],
        ("stopped", "stopped_at") => vec!["detail", "at"],
        ("nda_claimed", "body_digest") => vec!["detail", "claim"],
        ("nda_claimed", "nda_digest") => vec!["detail", "claim", "nda", "digest"],
        ("nda_claimed", "claimant_key") => vec!["detail", "claim", "claimant", "agent"],
        ("nda_claimed", "claimant") => vec!["detail", "claim", "claimant", "handle"],
        ("nda_claimed", "respondent_key") => vec!["detail", "claim", "respondent", "agent"],
        ("nda_claimed", "respondent") => vec!["detail", "claim", "respondent", "handle"],
        ("nda_claimed", "categories" | "disclosures" | "breach_at") => vec!["detail", "claim", column],
        ("nda_claimed", "claimed_at") => vec!["detail", "claim", "at"],
        ("nda_resolved", "has_verdict") => vec!["detail", "verdict"],
        ("nda_resolved", "has_settlement") => vec!["detail", "settlement"],
        ("corrected", "set_subject") => vec!["detail", "set", "subject"],
        ("corrected", "set_capability" | "set_capability_null") => vec!["detail", "set", "capability"],
        ("corrected", "set_interaction_id") => vec!["detail", "set", "interaction_id"],
        _ => vec!["detail", column],
    }
}

/// The tables of the actions, empty ones included, with the facts that name the subject as their sender.
pub(super) fn actions(excerpt: &Excerpt) -> Result<Vec<(&'static str, RecordBatch)>, ExcerptError> {
    let mut builders: Vec<TableBuilder> = schema::ACTIONS.iter().map(TableBuilder::new).collect();
    let strange = |what: Fault| crate::night::NightError::Input(format!("the excerpt: {what}"));
    for line in &excerpt.entries {
        // What `entry.schema` names is in no table (profile 1.7), and an unknown action has none.
        let faulty = line.standing.findings.iter().any(|found| found.rule == "entry.schema");
        let Some(index) = schema::of_action(line.entry["action"].as_str().unwrap_or_default()) else { continue };
        if !faulty {
            push(&mut builders, index, &line.entry, line).map_err(strange)?;
        }
    }
    let named = schema::of_action("fact").unwrap_or_default();
    for line in &excerpt.witnessed {
        let entry = json!({
            "seq": line.seq, "at": line.ended_at, "subject": "(another subject)",
            "detail": {
                "interaction_id": format!("witnessed {}", line.seq), "sender": excerpt.header.subject,
                "caller_anchor_hash": excerpt.header.anchor_hash, "started_at": line.ended_at, "ended_at": line.ended_at,
                "transport": "OK", "promise_checks": [], "reporter": "", "signature": "",
            }
        });
        if excerpt.entries.binary_search_by_key(&line.seq, EntryLine::seq).is_err() {
            push_row(&mut builders, named, &entry, &|_| false).map_err(strange)?;
        }
    }
    let mut batches = Vec::new();
    for (table, builder) in schema::ACTIONS.iter().zip(&mut builders) {
        batches.push((table.name, builder.finish()?));
    }
    Ok(batches)
}

fn push(builders: &mut [TableBuilder], index: usize, entry: &Value, line: &EntryLine) -> Result<(), Fault> {
    let withheld = |path: &[&str]| {
        (1..=path.len()).any(|end| {
            let prefix = path.iter().take(end).copied().collect::<Vec<_>>().join(".");
            line.withheld.contains(&prefix)
        })
    };
    push_row(builders, index, entry, &withheld).map_err(|what| format!("seq {}: {what}", line.seq()))
}

fn push_row(
    builders: &mut [TableBuilder],
    index: usize,
    entry: &Value,
    withheld: &dyn Fn(&[&str]) -> bool,
) -> Result<(), Fault> {
    let (Some(table), Some(builder)) = (schema::ACTIONS.get(index), builders.get_mut(index)) else { return Ok(()) };
    // A row that is begun must be ended: every value is found first.
    let cells = table
        .columns
        .iter()
        .map(|column| {
            let path = path(table.name, column.name);
            let value = path.iter().try_fold(entry, |value, name| value.get(name)).filter(|value| !value.is_null());
            cell(table, column, value, entry, &|| withheld(&path))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut row = builder.row();
    for found in &cells {
        row = put(row, found);
    }
    row.end();
    Ok(())
}

/// A value of a column, typed.
enum Found<'a> {
    Text(Option<&'a str>),
    Int(Option<i64>),
    Instant(Option<i64>),
    Bool(bool),
    Texts(Option<Vec<&'a str>>),
    Struct(Option<Vec<Cell<'a>>>),
    Structs(usize, Option<Vec<Vec<Cell<'a>>>>),
}

fn cell<'a>(
    table: &Table,
    column: &Column,
    value: Option<&'a Value>,
    entry: &Value,
    withheld: &dyn Fn() -> bool,
) -> Result<Found<'a>, Fault> {
    // Columns that say whether something is there, and those that are computed.
    match (table.name, column.name) {
        (_, "slice") => {
            let slice = schema::slice_of(value.and_then(Value::as_str).unwrap_or_default());
            return Ok(Found::Int(Some(slice.into())));
        }
        // A digest of what may be hidden in part; no figure reads it.
        ("nda_claimed", "body_digest") => return Ok(Found::Text(None)),
        ("nda_resolved", "has_verdict" | "has_settlement") => {
            return Ok(Found::Bool(value.is_some_and(Value::is_object)));
        }
        ("corrected", "set_capability_null") => {
            let set = &entry["detail"]["set"];
            return Ok(Found::Bool(set.get("capability").is_some_and(Value::is_null)));
        }
        _ => {}
    }
    let wrong = || format!("{} is not what its column holds", column.name);
    let found = match column.kind {
        Kind::Text => Found::Text(typed(value, Value::as_str).ok_or_else(wrong)?),
        Kind::Int => Found::Int(typed(value, whole).ok_or_else(wrong)?),
        Kind::Instant => Found::Instant(typed(value, at).ok_or_else(wrong)?),
        Kind::Bool => Found::Bool(typed(value, Value::as_bool).ok_or_else(wrong)?.unwrap_or(false)),
        Kind::Texts => Found::Texts(typed(value, texts).ok_or_else(wrong)?),
        Kind::Struct(fields) => Found::Struct(typed(value, |value| object(value, fields)).ok_or_else(wrong)?),
        Kind::Structs(fields) => {
            Found::Structs(fields.len(), typed(value, |value| objects(value, fields)).ok_or_else(wrong)?)
        }
        Kind::Float | Kind::Bytes => return Err(wrong()),
    };
    let missing = !column.nullable && value.is_none();
    match found {
        _ if missing && !withheld() => Err(format!("{} is missing", column.name)),
        Found::Text(None) if missing => Ok(Found::Text(Some(""))),
        _ if missing => Err(format!("{} is withheld, and a figure needs it", column.name)),
        found => Ok(found),
    }
}

/// A value read by `read`, or none where there is none; none at all where it is of another type.
fn typed<'a, T>(value: Option<&'a Value>, read: impl FnOnce(&'a Value) -> Option<T>) -> Option<Option<T>> {
    value.map_or(Some(None), |value| read(value).map(Some))
}

fn whole(value: &Value) -> Option<i64> {
    // Canonical form spells a whole number as one.
    value.as_i64()
}

fn at(value: &Value) -> Option<i64> {
    instant::parse(value.as_str()?).ok()
}

fn texts(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

fn objects<'a>(value: &'a Value, fields: &[Column]) -> Option<Vec<Vec<Cell<'a>>>> {
    value.as_array()?.iter().map(|item| object(item, fields)).collect()
}

fn object<'a>(value: &'a Value, fields: &[Column]) -> Option<Vec<Cell<'a>>> {
    let members = value.as_object()?;
    let field = |field: &Column| {
        let value = members.get(field.name).filter(|value| !value.is_null());
        if value.is_none() && !field.nullable {
            return None;
        }
        Some(match field.kind {
            Kind::Text => Cell::Text(typed(value, Value::as_str)?),
            Kind::Instant => Cell::Instant(typed(value, at)?),
            Kind::Float => Cell::Float(typed(value, Value::as_f64)?),
            Kind::Bool => Cell::Bool(typed(value, Value::as_bool)??),
            _ => return None,
        })
    };
    fields.iter().map(field).collect()
}

fn put<'a>(row: Row<'a>, found: &Found<'_>) -> Row<'a> {
    match found {
        Found::Text(value) => row.maybe_text(*value),
        Found::Int(value) => row.maybe_int(*value),
        Found::Instant(value) => row.maybe_instant(*value),
        Found::Bool(value) => row.boolean(*value),
        Found::Texts(values) => row.texts(values.as_ref().map(|values| values.iter().copied())),
        Found::Struct(values) => row.structure(values.as_deref()),
        Found::Structs(2, values) => row.structures(items::<2>(values)),
        Found::Structs(3, values) => row.structures(items::<3>(values)),
        Found::Structs(_, values) => row.structures(items::<5>(values)),
    }
}

fn items<'a, const N: usize>(values: &Option<Vec<Vec<Cell<'a>>>>) -> Option<Vec<[Cell<'a>; N]>> {
    values.as_ref().map(|values| values.iter().filter_map(|cells| cells.as_slice().try_into().ok()).collect())
}

/// The run's input tables: the policy, who is who among the hashes that the excerpt names, and the audit's verdicts.
pub(super) fn inputs(
    excerpt: &Excerpt,
    policy: &Policy,
    as_of: i64,
) -> Result<Vec<(&'static str, RecordBatch)>, ExcerptError> {
    let none = || std::iter::empty::<(u64, &[u8])>();
    let (identities, charters) = match (Identities::read("", none()), Charters::read("", none())) {
        (Ok(identities), Ok(charters)) => (identities, charters),
        // Nothing is read, so nothing is wrong.
        _ => return Ok(Vec::new()),
    };
    let windows = policy.windows(as_of);
    let mut made = tables::all(&identities, &charters, &AnchorHashes::default(), &windows)?;
    for (name, batch) in &mut made {
        match *name {
            "identity" => *batch = identity(excerpt, batch)?,
            "anchor_party" => *batch = anchor_party(excerpt)?,
            _ => {}
        }
    }
    made.push(("policy", policy.table(as_of)?));
    made.push(("finding", findings(excerpt)?));
    made.push(("withheld", withheld(excerpt)?));
    Ok(made)
}

/// One row the subject, and one a hash whose refusing party is known; the hash stands for the anchor.
fn identity(excerpt: &Excerpt, like: &RecordBatch) -> Result<RecordBatch, ExcerptError> {
    let parties: BTreeMap<&str, Option<i64>> =
        excerpt.parties.iter().map(|line| (line.anchor_hash.as_str(), line.refusing)).collect();
    let own = excerpt.header.anchor_hash.as_deref();
    let mut rows: Vec<(&str, &str, Option<i64>)> = Vec::new();
    if let Some(own) = own {
        rows.push((&excerpt.header.subject, own, parties.get(own).copied().flatten()));
    }
    rows.extend(
        parties
            .iter()
            .filter(|(hash, party)| party.is_some() && Some(**hash) != own)
            .map(|(hash, party)| (*hash, *hash, *party)),
    );
    let handles: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0)));
    let hashes: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.1)));
    let numbers: ArrayRef = Arc::new(rows.iter().map(|row| row.2).collect::<Int64Array>());
    let always: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![0; rows.len()]).with_timezone("UTC"));
    let schema = like.schema();
    let columns = schema.fields().iter().map(|field| match field.name().as_str() {
        "handle" => Arc::clone(&handles),
        "party" => Arc::clone(&numbers),
        "bound_at" => Arc::clone(&always),
        "unbound_at" => new_null_array(field.data_type(), rows.len()),
        _ => Arc::clone(&hashes),
    });
    Ok(RecordBatch::try_new(Arc::clone(&schema), columns.collect())?)
}

fn anchor_party(excerpt: &Excerpt) -> Result<RecordBatch, ExcerptError> {
    let rows: Vec<(&str, i64)> =
        excerpt.parties.iter().filter_map(|line| Some((line.anchor_hash.as_str(), line.claiming?))).collect();
    batch(vec![
        ("anchor_hash", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0)))),
        ("party", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1)))),
    ])
}

fn findings(excerpt: &Excerpt) -> Result<RecordBatch, ExcerptError> {
    let rows: Vec<_> = excerpt
        .entries
        .iter()
        .flat_map(|line| line.standing.findings.iter().map(move |found| (line.seq(), found)))
        .collect();
    batch(vec![
        ("seq", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)))),
        ("rule", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.1.rule)))),
        ("severity", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.1.severity)))),
    ])
}

fn withheld(excerpt: &Excerpt) -> Result<RecordBatch, ExcerptError> {
    let waiting = excerpt.entries.iter().filter(|line| line.standing.awaits_exclusion).map(EntryLine::seq);
    batch(vec![("seq", Arc::new(Int64Array::from_iter_values(waiting)))])
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch, ExcerptError> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), false)).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of structs is pushed by its number of fields, and no other number is known to [`put`].
    #[test]
    fn every_column_of_every_table_can_be_filled() {
        for table in &schema::ACTIONS {
            for column in table.columns {
                match column.kind {
                    Kind::Structs(fields) => {
                        assert!([2, 3, 5].contains(&fields.len()), "{}.{}", table.name, column.name)
                    }
                    Kind::Float | Kind::Bytes => panic!("{}.{}", table.name, column.name),
                    _ => {}
                }
            }
        }
    }
}
