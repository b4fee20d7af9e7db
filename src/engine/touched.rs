//! Queries over the few interactions that a night touched, and their rows put in the place of those of the night before.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use sha2::{Digest, Sha256};

use super::renewal::Anew;
use super::slices::{ROW_BYTES, Tables};
use super::stretches::{self, Key};
use super::{EngineError, Rows, Session, failed, io};
use crate::hex::hex;

/// The table of the interactions that were touched.
const TOUCHED: &str = "touched_interaction";

/// Rows of the sliced tables from which on a share of them is weighed: fewer are always worth it.
const FEW: usize = 100_000;

impl Session {
    /// Runs `work` with the sliced tables holding the rows of these interactions alone, without the columns that are `unread`; they stand in
    /// `folder` meanwhile. `work` is given the entries that they hold. Where the interactions are too many for that to be of use, it is not run, and the answer is none.
    pub fn within<T, E: From<EngineError>>(
        &self,
        interactions: &BTreeSet<String>,
        folder: &Path,
        unread: &[&str],
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
        let done = self.narrowed(&tables, folder, unread).map_err(E::from).and_then(|entries| {
            let many = entries.len() > FEW && entries.len() > rows / 4;
            let large = entries.len().saturating_mul(ROW_BYTES) > self.resources.memory;
            if many || large { Ok(None) } else { work(&entries).map(Some) }
        });
        self.restore(tables)?;
        fs::remove_dir_all(folder).map_err(|source| io(folder, source))?;
        done
    }

    /// Makes the sliced tables hold the rows of the touched interactions, and returns their entries.
    fn narrowed(&self, tables: &Tables, folder: &Path, unread: &[&str]) -> Result<HashSet<i64>, EngineError> {
        let mut entries = HashSet::new();
        for (name, table) in tables {
            let whole = format!("{name}_whole");
            self.replace(&whole, Arc::clone(table))?;
            let schema = table.schema();
            let read = schema.fields().iter().map(|field| field.name().as_str()).filter(|name| !unread.contains(name));
            let columns = read.map(|name| format!("w.{name}")).collect::<Vec<_>>().join(", ");
            let sql =
                format!("select {columns} from {TOUCHED} t join {whole} w on w.interaction_id = t.interaction_id");
            self.materialise(name, &sql, &folder.join(name).with_extension("parquet"), |rows| {
                let of = Rows::new(name, rows.clone());
                let seq = of.int("seq")?;
                entries.extend((0..of.len()).filter_map(|row| seq.get(row)));
                Ok(rows)
            })?;
        }
        Ok(entries)
    }

    /// Runs `work` with these tables holding the entries from `seq` on alone.
    pub fn starting_at<T, E: From<EngineError>>(
        &self,
        tables: &[&'static str],
        seq: i64,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if seq <= 1 {
            return work();
        }
        let mut whole = Vec::new();
        for &name in tables {
            let table = self.runtime.block_on(self.context.table_provider(name));
            let table = table.map_err(|source| failed(name, source))?;
            self.replace(&format!("{name}_whole"), Arc::clone(&table))?;
            let sql = format!("select w.* from {name}_whole w where w.seq >= {seq}");
            let view = self.runtime.block_on(self.context.sql(&sql)).map_err(|source| failed(name, source))?;
            self.replace(name, view.into_view())?;
            whole.push((name, table));
        }
        let done = work();
        self.restore(whole)?;
        done
    }

    /// Puts the rows that a query gave within [`Session::within`], the file `fresh`, in the place of those of the entries `gone` in the query's `folder`, and
    /// registers what stands there then. `renew` is given the rows that stay beside new ones, and where a column is to be had `anew`, what it is made of in every row.
    pub fn replace_rows(
        &self,
        query: &str,
        key: Key,
        folder: &Path,
        (gone, fresh): (&HashSet<i64>, &Path),
        anew: Option<Anew>,
        renew: impl Fn(RecordBatch) -> Result<RecordBatch, EngineError> + Sync,
    ) -> Result<(), EngineError> {
        let files = stretches::replace(folder, key, gone, &[fresh.to_path_buf()], anew, renew)?;
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
    hex(&hash.finalize())
}

fn listed(interactions: &BTreeSet<String>) -> Result<RecordBatch, EngineError> {
    let schema = Schema::new(vec![Field::new("interaction_id", DataType::Utf8, false)]);
    let ids = StringArray::from_iter_values(interactions);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids)]).map_err(|source| failed(TOUCHED, source.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Resources;

    #[test]
    fn tables_are_whole_again_after_a_fault_too() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::open(&Resources::new(1, 64 << 20), &folder.path().join("spill")).unwrap();
        let put = |name: &'static str, sql: &str| {
            let path = folder.path().join(name).with_extension("parquet");
            session.materialise("made", sql, &path, Ok).unwrap();
            session.register_sliced(name, &[path]).unwrap();
        };
        put("fact", "select column1 as seq, column2 as interaction_id from (values (1, 'a'), (2, 'b'), (3, 'b'))");
        let facts = || session.rows("facts", "select seq from fact").unwrap().len();
        let beside = folder.path().join("touched");
        let touched = BTreeSet::from(["b".to_owned()]);
        let within = |fails: bool| {
            session.within(&touched, &beside, &["note"], |entries| {
                assert_eq!((entries.len(), facts()), (2, 2));
                if fails { Err(io(&beside, std::io::Error::other("no"))) } else { Ok(()) }
            })
        };
        assert!(matches!(within(false), Ok(Some(()))) && facts() == 3);
        assert!(within(true).is_err() && facts() == 3);
        // The second table cannot be narrowed, when the first one is.
        put("attested", "select 4 as seq");
        assert!(within(false).is_err());
        assert_eq!(facts(), 3);
    }

    #[test]
    fn links_tie_both_ways_and_over_several() {
        let links = [("a", "b"), ("c", "b"), ("d", "e"), ("f", "f")];
        let of = |id: &str| closed([id.to_owned()], &links).into_iter().collect::<Vec<_>>().join("");
        assert_eq!([of("a"), of("c"), of("e"), of("f"), of("g")], ["abc", "abc", "de", "f", "g"]);
    }
}
