//! The rating tables: which file is which, every row checked, the valid ones kept as Parquet for SQL (4.1).
//!
//! A row is refused for what it says, for an id that an earlier row of the table has (refused or not), or for naming a
//! row that is missing or refused. A refused row is written nowhere, so that it can count for nothing. A wrong file is a
//! refusal too, without a row. Rows are checked whatever their date; which of them exist at `as_of` is for the queries.

mod cell;
mod columns;
mod read;
mod record;
mod transaction;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::RatingError;
use crate::export::ExportFile;
use cell::Fault;
use columns::Writer;
use read::Row;
use record::{Agent, Organization, Record, Revocation, Slash};
use transaction::Transaction;

pub use record::Table;
pub use transaction::DENIAL_REASONS;

/// A row that counts for nothing, or a file that is no table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The table, or the name of the wrong file.
    pub table: String,
    /// The line, or the index of a Parquet row, from 1; none for a file.
    pub row: Option<u64>,
    /// The id, where it is text.
    pub id: Option<String>,
    /// The path of the member to blame.
    pub member: Option<&'static str>,
    /// What is wrong.
    pub reason: String,
}

impl Refused {
    /// The audit rule: `rating.row`, or `rating.table` for a file.
    pub fn rule(&self) -> &'static str {
        if self.row.is_some() { "rating.row" } else { "rating.table" }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table)?;
        if let Some(row) = self.row {
            write!(f, " row {row}")?;
        }
        if let Some(id) = &self.id {
            write!(f, " ({id})")?;
        }
        f.write_str(": ")?;
        if let Some(member) = self.member {
            write!(f, "{member}: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// Denied rows with one reason that the method does not know. They are neutral.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownReason {
    /// Rows that have it.
    pub rows: u64,
    /// The first of them, from 1.
    pub first_row: u64,
}

/// What the tables hold.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// Table by table in the order of [`Table::ALL`], after the wrong files.
    pub refused: Vec<Refused>,
    /// By reason.
    pub unknown_reasons: BTreeMap<String, UnknownReason>,
    /// Valid rows a table.
    pub rows: BTreeMap<Table, u64>,
    /// The Parquet file of each table: always all five.
    pub files: Vec<(Table, PathBuf)>,
    valid: BTreeMap<Table, HashSet<Box<str>>>,
}

/// Reads the tables of `dir` and writes their valid rows to `store`, one Parquet file a table.
pub(super) fn read(dir: &Path, store: &Path) -> Result<Loaded, RatingError> {
    let mut loaded = Loaded::default();
    let found = files(dir, &mut loaded.refused)?;
    load::<Organization>(&found, store, &mut loaded)?;
    load::<Agent>(&found, store, &mut loaded)?;
    load::<Transaction>(&found, store, &mut loaded)?;
    load::<Slash>(&found, store, &mut loaded)?;
    load::<Revocation>(&found, store, &mut loaded)?;
    Ok(loaded)
}

/// The file of each table. A name that is no table's, and every file of a table after its first in name order, is
/// refused and not read: the same rule as for two rows with one id.
fn files(dir: &Path, refused: &mut Vec<Refused>) -> Result<BTreeMap<Table, ExportFile>, RatingError> {
    let broken = |source| RatingError::Io { path: dir.to_owned(), source };
    let mut entries = fs::read_dir(dir).map_err(broken)?.collect::<Result<Vec<_>, _>>().map_err(broken)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut found: BTreeMap<Table, ExportFile> = BTreeMap::new();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let reason = match table_of(&name).filter(|_| entry.path().is_file()) {
            None => "the file is no table".to_owned(),
            Some(table) => match found.get(&table) {
                Some(first) => format!("{} is the table's file already", first.name),
                None => {
                    found.insert(table, ExportFile { path: entry.path(), name: Arc::from(name) });
                    continue;
                }
            },
        };
        refused.push(Refused { table: name, row: None, id: None, member: None, reason });
    }
    Ok(found)
}

fn table_of(name: &str) -> Option<Table> {
    let stem = [".jsonl", ".jsonl.zst", ".jsonl.gz", ".parquet"].iter().find_map(|form| name.strip_suffix(form))?;
    Table::ALL.into_iter().find(|table| table.name() == stem)
}

fn load<R: Record>(found: &BTreeMap<Table, ExportFile>, store: &Path, loaded: &mut Loaded) -> Result<(), RatingError> {
    let mut writer = Writer::create(&store.join(format!("{}.parquet", R::TABLE.name())), R::COLUMNS)?;
    let mut seen: HashSet<Box<str>> = HashSet::new();
    let mut valid: HashSet<Box<str>> = HashSet::new();
    let mut rows = 0;
    let take = |row: Row<R>| {
        let Row { number, record } = row;
        match record.and_then(|record| placed(record, &mut seen, &loaded.valid)) {
            Err((id, Fault { member, reason })) => {
                let table = R::TABLE.name().to_owned();
                if let Some(id) = &id {
                    seen.insert(Box::from(id.as_str()));
                }
                loaded.refused.push(Refused { table, row: Some(number), id, member, reason });
            }
            Ok(record) => {
                if let Some(reason) = record.unknown_reason() {
                    note(&mut loaded.unknown_reasons, reason, number);
                }
                writer.row(|put| record.values(put))?;
                rows += 1;
                // Only these two tables are named by others.
                if matches!(R::TABLE, Table::Organizations | Table::Agents) {
                    valid.insert(Box::from(record.id()));
                }
            }
        }
        Ok(())
    };
    if let Some(file) = found.get(&R::TABLE) {
        if file.name.ends_with(".parquet") { read::parquet(file, take)? } else { read::lines(file, take)? }
    }
    loaded.files.push((R::TABLE, writer.close()?));
    loaded.rows.insert(R::TABLE, rows);
    loaded.valid.insert(R::TABLE, valid);
    Ok(())
}

/// A row that says nothing wrong, held against the rows before it. Its id is taken now.
fn placed<R: Record>(
    record: R,
    seen: &mut HashSet<Box<str>>,
    valid: &BTreeMap<Table, HashSet<Box<str>>>,
) -> Result<R, (Option<String>, Fault)> {
    let refuse = |record: &R, fault| Err((Some(record.id().to_owned()), fault));
    if !seen.insert(Box::from(record.id())) {
        return refuse(&record, Fault::of("id", "a row before has it"));
    }
    if let Some((member, table, id)) = record.names()
        && !valid.get(&table).is_some_and(|ids| ids.contains(id))
    {
        return refuse(&record, Fault::of(member, format!("no such row stands in {}", table.name())));
    }
    Ok(record)
}

fn note(unknown: &mut BTreeMap<String, UnknownReason>, reason: &str, row: u64) {
    match unknown.get_mut(reason) {
        Some(known) => known.rows += 1,
        None => {
            unknown.insert(reason.to_owned(), UnknownReason { rows: 1, first_row: row });
        }
    }
}
