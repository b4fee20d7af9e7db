//! Stretches: the rows of queries over interactions stand in files by the entry that they rest on, so that a night replaces the files of
//! the stretches of the ledger that it touched, and a query of a window reads the files of that window alone.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::{filter_record_batch, take_record_batch};
use arrow::datatypes::{Int64Type, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::prelude::*;

use super::renewal::{self, Anew};
use super::{BATCH_ROWS, EngineError, conform, failed, io, plain, properties};

/// Entries of a stretch. No figure depends on it.
pub const STRETCH: i64 = 1 << 18;

/// Rows of a row group, at most.
const ROW_GROUP_ROWS: usize = 16 * BATCH_ROWS;

/// Stretches with an unfinished row group, at most: each holds an encoder a column. Rows come in about the ledger's order, a few times over,
/// and a batch holds entries of neighbouring stretches.
const UNFINISHED: usize = 4;

/// The column with the entry that a row rests on: the first of these that is not null.
pub type Key = &'static [&'static str];

/// Rows of one query while they are put into the files of its folder.
pub(super) struct Stretches {
    folder: PathBuf,
    part: String,
    key: Key,
    schema: SchemaRef,
    open: BTreeMap<i64, (PathBuf, ArrowWriter<File>)>,
    /// The stretches with an unfinished row group, the last that was written to at the end.
    unfinished: Vec<i64>,
}

impl Stretches {
    /// Files of part `part` in `folder`. No other writer has a part of that name.
    pub fn new(folder: &Path, part: String, key: Key, schema: SchemaRef) -> Stretches {
        Stretches { folder: folder.to_path_buf(), part, key, schema, open: BTreeMap::new(), unfinished: Vec::new() }
    }

    /// Puts every row where its entry belongs.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        for (stretch, rows) in split(batch, self.key, &self.folder)? {
            let (path, writer) = self.at(stretch, &rows)?;
            writer.write(&rows).map_err(|source| parquet(path, source))?;
            self.unfinished.retain(|other| *other != stretch);
            self.unfinished.push(stretch);
            if self.unfinished.len() > UNFINISHED {
                let oldest = self.unfinished.remove(0);
                let (path, writer) = self.at(oldest, &rows)?;
                writer.flush().map_err(|source| parquet(path, source))?;
            }
        }
        Ok(())
    }

    /// The file of a stretch, whose first rows are these.
    fn at(&mut self, stretch: i64, rows: &RecordBatch) -> Result<&mut (PathBuf, ArrowWriter<File>), EngineError> {
        use std::collections::btree_map::Entry;
        match self.open.entry(stretch) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(place) => {
                let path = self.folder.join(format!("{stretch:06}-{}.parquet", self.part));
                let file = File::create_new(&path).map_err(|source| io(&path, source))?;
                let writer = writer(&path, file, rows)?;
                Ok(place.insert((path, writer)))
            }
        }
    }

    /// The files, none where there was no row.
    pub fn close(self) -> Result<Vec<PathBuf>, EngineError> {
        let closed = self.open.into_values().map(|(path, writer)| match writer.close() {
            Ok(_) => Ok(path),
            Err(source) => Err(parquet(&path, source)),
        });
        closed.collect()
    }

    /// The file of a table without rows, which has its columns all the same.
    pub fn without_rows(mut self) -> Result<PathBuf, EngineError> {
        self.at(0, &RecordBatch::new_empty(Arc::clone(&self.schema)))?;
        Ok(self.close()?.remove(0))
    }
}

/// Replaces rows in the files of a query's folder: those of the entries `gone` go, and the rows of the files `fresh` come. `renew` is given the rows
/// that stay in the files that change; in the others it makes the column that is to be had `anew`. Returns the files there are then.
pub(super) fn replace(
    folder: &Path,
    key: Key,
    gone: &HashSet<i64>,
    fresh: &[PathBuf],
    anew: Option<Anew>,
    renew: impl Fn(RecordBatch) -> Result<RecordBatch, EngineError> + Sync,
) -> Result<Vec<PathBuf>, EngineError> {
    let files = files_of(folder)?;
    let mut coming: BTreeMap<i64, Vec<RecordBatch>> = BTreeMap::new();
    for path in fresh {
        for batch in read(path)? {
            for (stretch, rows) in split(&batch?, key, path)? {
                coming.entry(stretch).or_default().push(rows);
            }
        }
    }
    let mut touched: BTreeSet<i64> = gone.iter().map(|seq| seq.div_euclid(STRETCH)).collect();
    touched.extend(coming.keys());
    if let Some(anew) = anew {
        let others = files.par_iter().filter(|path| stretch_of(path).is_none_or(|stretch| !touched.contains(&stretch)));
        others.try_for_each(|path| {
            let beside = path.with_extension("new");
            renewal::renew(path, &beside, anew, &renew)?;
            fs::rename(&beside, path).map_err(|source| io(path, source))
        })?;
    }
    touched.into_par_iter().try_for_each(|stretch| {
        let old: Vec<&PathBuf> = files.iter().filter(|path| stretch_of(path) == Some(stretch)).collect();
        let new = coming.get(&stretch).map(Vec::as_slice).unwrap_or_default();
        rewrite(folder, stretch, &old, new, |rows| renew(without(rows, key, gone, folder)?))
    })?;
    files_of(folder)
}

/// Makes the one file of a stretch out of those that were there and new rows, and puts it in their place.
fn rewrite(
    folder: &Path,
    stretch: i64,
    old: &[&PathBuf],
    new: &[RecordBatch],
    keep: impl Fn(RecordBatch) -> Result<RecordBatch, EngineError>,
) -> Result<(), EngineError> {
    let beside = folder.join(format!("{stretch:06}.new"));
    let mut writer: Option<ArrowWriter<File>> = None;
    let mut put = |batch: RecordBatch| {
        let writer = match &mut writer {
            Some(writer) => writer,
            None => {
                let file = File::create(&beside).map_err(|source| io(&beside, source))?;
                writer.insert(self::writer(&beside, file, &batch)?)
            }
        };
        writer.write(&batch).map_err(|source| parquet(&beside, source))
    };
    for path in old {
        for batch in read(path)? {
            put(keep(batch?)?)?;
        }
    }
    new.iter().cloned().try_for_each(&mut put)?;
    let Some(writer) = writer else { return Ok(()) };
    writer.close().map_err(|source| parquet(&beside, source))?;
    for path in old {
        fs::remove_file(path).map_err(|source| io(path, source))?;
    }
    let path = folder.join(format!("{stretch:06}-000-0.parquet"));
    fs::rename(&beside, &path).map_err(|source| io(&path, source))
}

/// The rows of a batch by their stretch.
fn split(batch: &RecordBatch, key: Key, place: &Path) -> Result<Vec<(i64, RecordBatch)>, EngineError> {
    let stretches: Vec<i64> = seqs(batch, key, place)?.into_iter().map(|seq| seq.div_euclid(STRETCH)).collect();
    let Some(first) = stretches.first().copied() else { return Ok(Vec::new()) };
    if stretches.iter().all(|stretch| *stretch == first) {
        return Ok(vec![(first, batch.clone())]);
    }
    let mut order: Vec<u32> = (0..).take(stretches.len()).collect();
    let of = |row: u32| stretches.get(row as usize).copied().unwrap_or(first);
    order.sort_by_key(|row| of(*row));
    let sorted =
        take_record_batch(batch, &UInt32Array::from(order.clone())).map_err(|source| failed_at(place, source))?;
    let mut parts = Vec::new();
    let mut from = 0;
    for run in order.chunk_by(|a, b| of(*a) == of(*b)) {
        parts.push((run.first().map_or(first, |row| of(*row)), sorted.slice(from, run.len())));
        from += run.len();
    }
    Ok(parts)
}

/// The rows of a batch whose entry is not among those that are gone.
fn without(batch: RecordBatch, key: Key, gone: &HashSet<i64>, place: &Path) -> Result<RecordBatch, EngineError> {
    let stays: BooleanArray = seqs(&batch, key, place)?.into_iter().map(|seq| Some(!gone.contains(&seq))).collect();
    if stays.true_count() == batch.num_rows() {
        return Ok(batch);
    }
    filter_record_batch(&batch, &stays).map_err(|source| failed_at(place, source))
}

/// The entry that each row rests on.
fn seqs(batch: &RecordBatch, key: Key, place: &Path) -> Result<Vec<i64>, EngineError> {
    let wrong = |column: &str| EngineError::Column {
        query: place.display().to_string(),
        column: column.to_owned(),
        wanted: "a whole number",
    };
    let columns: Vec<&Int64Array> = key
        .iter()
        .map(|name| {
            let column = batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>());
            column.ok_or_else(|| wrong(name))
        })
        .collect::<Result<_, _>>()?;
    (0..batch.num_rows())
        .map(|row| {
            let found = columns.iter().find(|column| column.is_valid(row)).map(|column| column.value(row));
            found.ok_or_else(|| wrong(&key.join(", ")))
        })
        .collect()
}

/// The Parquet files of a folder, by name.
pub(super) fn files_of(folder: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let entries = fs::read_dir(folder).map_err(|source| io(folder, source))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| io(folder, source))?.path();
        if path.extension().is_some_and(|end| end == "parquet") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn stretch_of(path: &Path) -> Option<i64> {
    path.file_stem()?.to_str()?.split('-').next()?.parse().ok()
}

/// A writer to a file whose first rows are these.
fn writer(path: &Path, file: File, rows: &RecordBatch) -> Result<ArrowWriter<File>, EngineError> {
    let properties = properties(rows, ROW_GROUP_ROWS);
    ArrowWriter::try_new(file, rows.schema(), Some(properties)).map_err(|source| parquet(path, source))
}

/// The batches of a file, without the metadata of its schema.
fn read(path: &Path) -> Result<impl Iterator<Item = Result<RecordBatch, EngineError>>, EngineError> {
    let file = File::open(path).map_err(|source| io(path, source))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|source| parquet(path, source))?;
    let schema = plain(reader.schema());
    let batches = reader.with_batch_size(BATCH_ROWS).build().map_err(|source| parquet(path, source))?;
    let path = path.to_path_buf();
    Ok(batches
        .map(move |batch| batch.and_then(|batch| conform(batch, &schema)).map_err(|source| failed_at(&path, source))))
}

fn parquet(path: &Path, source: parquet::errors::ParquetError) -> EngineError {
    EngineError::Parquet { path: path.to_path_buf(), source }
}

fn failed_at(path: &Path, source: arrow::error::ArrowError) -> EngineError {
    failed(&path.display().to_string(), source.into())
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Decimal128Array, StringArray};
    use arrow::datatypes::{DataType, Field, Schema};
    use proptest::prelude::*;

    use super::*;

    const KEY: Key = &["fact_seq", "probe_seq"];

    fn batch(rows: &[(Option<i64>, Option<i64>, &str)]) -> RecordBatch {
        let schema = Schema::new(vec![
            Field::new("fact_seq", DataType::Int64, true),
            Field::new("probe_seq", DataType::Int64, true),
            Field::new("code", DataType::Utf8, false),
        ]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.2))),
        ];
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    fn put(folder: &Path, part: usize, rows: &[(Option<i64>, Option<i64>, &str)]) -> Vec<PathBuf> {
        let batch = batch(rows);
        let mut stretches = Stretches::new(folder, part.to_string(), KEY, batch.schema());
        stretches.write(&batch).unwrap();
        stretches.close().unwrap()
    }

    fn held(files: &[PathBuf]) -> Vec<(i64, String)> {
        let mut rows = Vec::new();
        for path in files {
            for batch in read(path).unwrap() {
                let batch = batch.unwrap();
                let codes = batch.column_by_name("code").unwrap().as_string::<i32>().clone();
                for (seq, code) in seqs(&batch, KEY, path).unwrap().into_iter().zip(codes.iter()) {
                    assert_eq!(stretch_of(path), Some(seq / STRETCH));
                    rows.push((seq, code.unwrap().to_owned()));
                }
            }
        }
        rows.sort();
        rows
    }

    #[test]
    fn a_table_without_rows_keeps_its_columns() {
        let folder = tempfile::tempdir().unwrap();
        let stretches = || Stretches::new(folder.path(), "0".to_owned(), KEY, batch(&[]).schema());
        assert!(stretches().close().unwrap().is_empty());
        let path = stretches().without_rows().unwrap();
        assert_eq!(held(&[path]).len(), 0);
        assert!(stretches().without_rows().is_err(), "no file is written over");
    }

    #[test]
    fn a_row_without_an_entry_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let batch = batch(&[(None, None, "OK")]);
        let fault = Stretches::new(folder.path(), String::new(), KEY, batch.schema()).write(&batch).unwrap_err();
        assert!(fault.to_string().contains("fact_seq, probe_seq"), "{fault}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_are_replaced_and_no_other_is(
            old in proptest::collection::btree_map(0..5 * STRETCH, proptest::bool::ANY, 0..60),
            new in proptest::collection::btree_set(0..6 * STRETCH, 0..20),
            also in 0usize..60,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let row = |seq: &i64, lone: bool, code| if lone { (None, Some(*seq), code) } else { (Some(*seq), Some(1), code) };
            let rows: Vec<_> = old.iter().map(|(seq, lone)| row(seq, *lone, "old")).collect();
            let (a, b) = rows.split_at(rows.len() / 2);
            put(folder.path(), 1, a);
            put(folder.path(), 2, b);
            let gone: HashSet<i64> = new.iter().copied().chain(old.keys().take(also).copied()).collect();
            let beside = tempfile::tempdir().unwrap();
            let fresh: Vec<_> = new.iter().map(|seq| row(seq, seq % 2 == 0, "new")).collect();
            let fresh = put(beside.path(), 1, &fresh);
            let files = replace(folder.path(), KEY, &gone, &fresh, None, Ok).unwrap();
            let mut wanted: Vec<(i64, String)> = new.iter().map(|seq| (*seq, "new".to_owned())).collect();
            wanted.extend(old.keys().filter(|seq| !gone.contains(seq)).map(|seq| (*seq, "old".to_owned())));
            wanted.sort();
            prop_assert_eq!(held(&files), wanted);
        }
    }

    #[test]
    fn one_column_is_had_anew_in_every_row() {
        const ANEW: Anew = Anew { column: "weight", from: &["seq"] };
        let weighed = |rows: RecordBatch, factor: i64| {
            let seq = rows.column_by_name("seq").unwrap().as_primitive::<Int64Type>().clone();
            let weights = seq.iter().map(|seq| seq.map(|seq| i128::from(seq * factor))).collect::<Decimal128Array>();
            let weights: ArrayRef = Arc::new(weights.with_data_type(DataType::Decimal128(16, 15)));
            let code = rows.column_by_name("code").cloned();
            let columns = [("seq", Some(Arc::new(seq) as ArrayRef)), ("code", code), ("weight", Some(weights))];
            let columns = columns.into_iter().filter_map(|(name, column)| Some((name, column?, true)));
            Ok(RecordBatch::try_from_iter_with_nullable(columns).unwrap())
        };
        let rows = |some: &[i64]| {
            let seq: ArrayRef = Arc::new(Int64Array::from(some.to_vec()));
            let code: ArrayRef =
                Arc::new(some.iter().map(|seq| (seq % 2 == 0).then_some("OK")).collect::<StringArray>());
            RecordBatch::try_from_iter_with_nullable([("seq", seq, true), ("code", code, true)]).unwrap()
        };
        let put = |folder: &Path, some: &[i64], factor| {
            let batch = weighed(rows(some), factor).unwrap();
            let mut stretches = Stretches::new(folder, "0".to_owned(), &["seq"], batch.schema());
            stretches.write(&batch).unwrap();
            stretches.close().unwrap()
        };
        let held = |files: &[PathBuf]| {
            let batches: Vec<RecordBatch> =
                files.iter().flat_map(|path| read(path).unwrap()).map(Result::unwrap).collect();
            arrow::compute::concat_batches(&batches[0].schema(), &batches).unwrap()
        };
        let (folder, beside, wanted) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(folder.path(), &[1, 2, 3, STRETCH + 1, STRETCH + 2], 2);
        let fresh = put(beside.path(), &[STRETCH + 3], 3);
        let gone = HashSet::from([STRETCH + 1]);
        let files = replace(folder.path(), &["seq"], &gone, &fresh, Some(ANEW), |rows| weighed(rows, 3)).unwrap();
        let wanted = put(wanted.path(), &[1, 2, 3, STRETCH + 2, STRETCH + 3], 3);
        assert_eq!((files.len(), held(&files)), (2, held(&wanted)));
        // A night after that reads what this one left.
        let none = put(beside.path(), &[7 * STRETCH], 5);
        let files =
            replace(folder.path(), &["seq"], &HashSet::new(), &none, Some(ANEW), |rows| weighed(rows, 5)).unwrap();
        assert_eq!((files.len(), held(&files).num_rows()), (3, 6));
    }
}
