//! Queries over the few interactions that a night touched, and their rows put in the place of those of the night before.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use sha2::{Digest, Sha256};

use super::slices::ROW_BYTES;
use super::stretches::{self, Key};
use super::{EngineError, Rows, Session, failed, io};

/// The table of the interactions that were touched.
const TOUCHED: &str = "touched_interaction";

/// Rows of the sliced tables from which on a share of them is weighed: fewer are always worth it.
const FEW: usize = 100_000;

impl Session {
    /// Runs `work` with the sliced tables holding the rows of these interactions alone; they stand in `folder` meanwhile. `work` is given the
    /// entries that they hold. Where the interactions are too many for that to be of use, it is not run, and the answer is none.
    pub fn within<T, E: From<EngineError>>(
        &self,
        interactions: &BTreeSet<String>,
        folder: &Path,
        work: impl FnOnce(&HashSet<i64>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|source| io(folder, source))?;
        }
        fs::create_dir_all(folder).map_err(|source| io(folder, source))?;
        self.register_batch(TOUCHED, listed(interactions)?)?;
        let (tables, rows) = self.sliced_tables();
        if tables.is_empty() {
            return Ok(None);
        }
        let mut entries = HashSet::new();
        for (name, table) in &tables {
            let whole = format!("{name}_whole");
            self.replace(&whole, Arc::clone(table))?;
            let sql = format!("select w.* from {TOUCHED} t join {whole} w on w.interaction_id = t.interaction_id");
            self.materialise(name, &sql, &folder.join(name).with_extension("parquet"), |rows| {
                let of = Rows::new(name, rows.clone());
                let seq = of.int("seq")?;
                entries.extend((0..of.len()).filter_map(|row| seq.get(row)));
                Ok(rows)
            })?;
        }
        let many = entries.len() > FEW && entries.len() > rows / 4;
        let large = entries.len().saturating_mul(ROW_BYTES) > self.resources.memory;
        let done = if many || large { Ok(None) } else { work(&entries).map(Some) };
        for (name, table) in tables {
            self.replace(name, table)?;
        }
        fs::remove_dir_all(folder).map_err(|source| io(folder, source))?;
        done
    }

    /// Runs `work` with these tables holding the entries from `seq` on alone.
    pub fn starting_at<T, E: From<EngineError>>(
        &self,
        tables: &[&str],
        seq: i64,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if seq <= 1 {
            return work();
        }
        let mut whole = Vec::new();
        for name in tables {
            let table = self.runtime.block_on(self.context.table_provider(*name));
            let table = table.map_err(|source| failed(name, source))?;
            self.replace(&format!("{name}_whole"), Arc::clone(&table))?;
            let sql = format!("select w.* from {name}_whole w where w.seq >= {seq}");
            let view = self.runtime.block_on(self.context.sql(&sql)).map_err(|source| failed(name, source))?;
            self.replace(name, view.into_view())?;
            whole.push((name, table));
        }
        let done = work()?;
        for (name, table) in whole {
            self.replace(name, table)?;
        }
        Ok(done)
    }

    /// Puts the rows that a query gave within [`Session::within`], the file `fresh`, in the place of those of the entries `gone` in the query's `folder`, and
    /// registers what stands there then. `renew` is given every row that stays where `every` says so.
    pub fn replace_rows(
        &self,
        query: &str,
        key: Key,
        folder: &Path,
        (gone, fresh): (&HashSet<i64>, &Path),
        every: bool,
        renew: impl Fn(RecordBatch) -> Result<RecordBatch, EngineError> + Sync,
    ) -> Result<(), EngineError> {
        let files = stretches::replace(folder, key, gone, &[fresh.to_path_buf()], every, renew)?;
        self.register_parquet(query, &files)
    }

    /// Registers what [`Session::materialise`] or [`Session::materialise_slice`] left of a query in `folder`.
    pub fn register_kept(&self, query: &str, folder: &Path) -> Result<(), EngineError> {
        let file = folder.join(query).with_extension("parquet");
        if file.is_file() {
            self.register_parquet(query, &[file])
        } else {
            self.register_folder(query, &folder.join(query))
        }
    }

    /// Registers the Parquet files of a folder as the table `name`.
    pub fn register_folder(&self, name: &str, folder: &Path) -> Result<(), EngineError> {
        self.register_parquet(name, &stretches::files_of(folder)?)
    }
}

/// The interactions with all those that corrections tie them to, the rows of `queries/carry/interaction_link.sql`.
pub fn linked(some: impl IntoIterator<Item = String>, links: &Rows) -> Result<BTreeSet<String>, EngineError> {
    let (from, to) = (links.text("interaction_id")?, links.text("set_interaction_id")?);
    let pairs: Vec<(&str, &str)> = (0..links.len()).filter_map(|row| from.get(row).zip(to.get(row))).collect();
    Ok(closed(some, &pairs))
}

fn closed(some: impl IntoIterator<Item = String>, links: &[(&str, &str)]) -> BTreeSet<String> {
    let mut neighbours: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (a, b) in links {
        neighbours.entry(a).or_default().push(b);
        neighbours.entry(b).or_default().push(a);
    }
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<String> = some.into_iter().collect();
    while let Some(next) = open.pop() {
        if let Some(near) = neighbours.get(next.as_str()) {
            open.extend(near.iter().filter(|near| !found.contains(**near)).map(|near| (*near).to_owned()));
        }
        found.insert(next);
    }
    found
}

/// A digest of queries, by name and text: other ones, another digest.
pub fn digest(queries: impl IntoIterator<Item = (&'static str, &'static str)>) -> String {
    let mut hash = Sha256::new();
    for part in queries.into_iter().flat_map(|(name, text)| [name, text]) {
        hash.update(part);
        hash.update([0]);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn listed(interactions: &BTreeSet<String>) -> Result<RecordBatch, EngineError> {
    let schema = Schema::new(vec![Field::new("interaction_id", DataType::Utf8, false)]);
    let ids = StringArray::from_iter_values(interactions);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids)]).map_err(|source| failed(TOUCHED, source.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_tie_both_ways_and_over_several() {
        let links = [("a", "b"), ("c", "b"), ("d", "e"), ("f", "f")];
        let of = |id: &str| closed([id.to_owned()], &links).into_iter().collect::<Vec<_>>().join("");
        assert_eq!([of("a"), of("c"), of("e"), of("f"), of("g")], ["abc", "abc", "de", "f", "g"]);
    }
}
