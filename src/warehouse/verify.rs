//! The chain once more, from Parquet alone: no export is needed to prove that a warehouse holds what was hashed.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use rayon::prelude::*;

use super::state::{Head, Warehouse};
use super::{WarehouseError, schema};
use crate::ledger::json::{JsonError, Literals, Parser};
use crate::ledger::{Chain, Entry, Head as ChainHead, Link, NO_HASH, Segment, encode_hash, entry_hash};

/// What the check of the chain found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerdict {
    /// Entries whose hash and link hold.
    pub entries: u64,
    /// The head reached.
    pub head: Option<Head>,
}

/// Recomputes every hash and compares every link and `seq` of a warehouse's `ledger`, on all cores; row groups are read as they
/// are needed. Every other column must be what the canonical bytes give. The head must be the one that `state.json` names.
pub fn verify_chain(warehouse: &Warehouse) -> Result<ChainVerdict, WarehouseError> {
    let mut chain = Chain::new(ChainHead::start());
    for part in warehouse.parts("ledger") {
        let file = open(&part)?;
        let metadata = ArrowReaderMetadata::load(&file, Default::default()).map_err(|_| damaged(&part))?;
        let groups: Vec<usize> = (0..metadata.metadata().num_row_groups()).collect();
        let mut first_row = 1;
        let firsts: Vec<u64> = groups
            .iter()
            .map(|group| {
                let first = first_row;
                first_row += metadata.metadata().row_group(*group).num_rows().unsigned_abs();
                first
            })
            .collect();
        for some in groups.chunks(rayon::current_num_threads().max(1)) {
            let segments: Vec<_> =
                some.par_iter().map(|group| check_group(&part, &metadata, *group, firsts[*group])).collect();
            for segment in segments {
                chain.join(segment?);
            }
        }
    }
    let entries = chain.entries();
    let head = chain.finish().map_err(|broken| WarehouseError::Chain(Box::new(broken)))?;
    let head = (head.seq > 0).then_some(Head { seq: head.seq, entry_hash: head.entry_hash });
    if head != warehouse.state().head {
        return Err(WarehouseError::NotAWarehouse {
            path: warehouse.path().to_path_buf(),
            what: "its ledger does not end at the head that state.json names".to_owned(),
        });
    }
    Ok(ChainVerdict { entries, head })
}

/// A fault of the warehouse itself.
fn strange(part: &Path, what: String) -> WarehouseError {
    WarehouseError::NotAWarehouse { path: part.to_path_buf(), what }
}

fn damaged(part: &Path) -> WarehouseError {
    strange(part, "this part of the ledger is damaged and cannot be read as Parquet".to_owned())
}

fn open(part: &Path) -> Result<File, WarehouseError> {
    File::open(part).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => {
            strange(part, "this part of the ledger, which state.json names, is missing".to_owned())
        }
        _ => WarehouseError::io(part, source),
    })
}

fn check_group(
    part: &Path,
    metadata: &ArrowReaderMetadata,
    group: usize,
    first_row: u64,
) -> Result<Segment, WarehouseError> {
    let file = open(part)?;
    let mask = ProjectionMask::columns(metadata.parquet_schema(), schema::LEDGER.columns.iter().map(|c| c.name));
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
        .with_projection(mask)
        .with_row_groups(vec![group])
        .build()
        .map_err(|_| damaged(part))?;
    let name: Arc<str> = part.display().to_string().into();
    let mut segment = Segment::new(name);
    let mut reading = Reading::new();
    let mut row = first_row;
    for batch in reader {
        let batch = batch.map_err(|_| damaged(part))?;
        check_batch(part, &batch, &mut segment, &mut reading, &mut row)?;
    }
    Ok(segment)
}

/// The columns of a batch of the ledger that are derived from the canonical bytes.
struct Derived<'b> {
    seq: &'b arrow::array::Int64Array,
    at: &'b arrow::array::TimestampMillisecondArray,
    texts: [(&'static str, &'b StringArray); 3],
    fault: &'b StringArray,
}

fn check_batch(
    part: &Path,
    batch: &RecordBatch,
    segment: &mut Segment,
    reading: &mut Reading,
    row: &mut u64,
) -> Result<(), WarehouseError> {
    let other = || strange(part, "has not the columns of a ledger".to_owned());
    let column = |name: &str| batch.column_by_name(name).ok_or_else(other);
    let text = |name: &'static str| column(name)?.as_string_opt::<i32>().ok_or_else(other);
    let derived = Derived {
        seq: column("seq")?.as_primitive_opt::<Int64Type>().ok_or_else(other)?,
        at: column("at")?.as_primitive_opt::<TimestampMillisecondType>().ok_or_else(other)?,
        texts: [("action", text("action")?), ("subject", text("subject")?), ("capability", text("capability")?)],
        fault: text("fault")?,
    };
    let (prev, hash) = (text("prev_hash")?, text("entry_hash")?);
    let canonical = column("canonical")?.as_binary_opt::<i32>().ok_or_else(other)?;
    for index in 0..batch.num_rows() {
        let bytes = canonical.value(index);
        let computed = entry_hash(bytes, prev.value(index));
        // Bytes that are not those hashed are a break of the chain, which tells more than what follows from them.
        if encode_hash(&computed) == hash.value(index) {
            reading.compare(bytes, &derived, index).map_err(|what| strange(part, format!("row {row}: {what}")))?;
        }
        let link = Link {
            seq: derived.seq.is_valid(index).then(|| derived.seq.value(index)),
            prev_hash: Some(prev.value(index)),
            entry_hash: Some(hash.value(index)),
            computed,
        };
        segment.push(*row, &link);
        *row += 1;
    }
    Ok(())
}

/// Reads entries back from their canonical bytes.
///
/// The canonical bytes lack the two hash members. A load refuses a chain that is broken, so both were the base64 of 32 bytes in
/// every entry that is stored, and no `fault` names them: any other two that are well formed give the same entry.
///
/// RFC 8785 writes a double such as 1e16 as the integer literal that an export may not hold, so what was no integer there would be
/// one here. Bytes with such a literal are read as what they are, and their `fault` is compared in one direction alone: what is wrong
/// even so was wrong in the export.
struct Reading {
    line: Vec<u8>,
    export: Parser,
    canonical: Parser,
}

impl Reading {
    fn new() -> Reading {
        Reading { line: Vec::new(), export: Parser::new(Literals::Export), canonical: Parser::new(Literals::Canonical) }
    }

    /// Compares a row with what its canonical bytes give. The error is in words.
    fn compare(&mut self, bytes: &[u8], row: &Derived<'_>, index: usize) -> Result<(), String> {
        const UNREADABLE: &str = "the canonical bytes are no entry";
        let members = bytes.strip_prefix(b"{").ok_or(UNREADABLE)?;
        self.line.clear();
        self.line.extend_from_slice(format!(r#"{{"entry_hash":"{NO_HASH}","prev_hash":"{NO_HASH}","#).as_bytes());
        self.line.extend_from_slice(members);
        let (document, exact) = match self.export.parse(&self.line) {
            Ok(document) => (document, true),
            Err(fault) if fault.what == JsonError::Integer => {
                (self.canonical.parse(&self.line).map_err(|_| UNREADABLE)?, false)
            }
            Err(_) => return Err(UNREADABLE.to_owned()),
        };
        let entry = Entry::read(document.root());
        let text = |column: &StringArray| column.is_valid(index).then(|| column.value(index).to_owned());
        let differs = |name: &str| Err(format!("the column {name} differs from the canonical bytes"));
        if entry.seq != row.seq.is_valid(index).then(|| row.seq.value(index)) {
            return differs("seq");
        }
        if entry.at != row.at.is_valid(index).then(|| row.at.value(index)) {
            return differs("at");
        }
        for ((name, column), given) in row.texts.iter().zip([entry.action, entry.subject, entry.capability]) {
            if text(column).as_deref() != given {
                return differs(name);
            }
        }
        let stated = text(row.fault);
        let same = if exact { stated == entry.fault } else { stated.is_some() || entry.fault.is_none() };
        if same { Ok(()) } else { differs("fault") }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables::Tables;
    use super::super::writer::TableWriter;
    use super::*;
    use crate::ledger::{HASH_MEMBERS, canonical, json};
    use arrow::array::{ArrayRef, Int64Array, TimestampMillisecondArray};

    const PART: &str = "ledger/000001.parquet";

    /// The ledger table of these lines, whose chain is made here.
    fn ledger(lines: &[&str]) -> RecordBatch {
        let mut tables = Tables::new();
        let mut prev = NO_HASH.to_owned();
        for line in lines {
            let mut bytes = Vec::new();
            canonical::write_without(json::parse(line.as_bytes()).unwrap().root(), &HASH_MEMBERS, &mut bytes);
            let hash = encode_hash(&entry_hash(&bytes, &prev));
            let whole = line.replacen('{', &format!(r#"{{"prev_hash":"{prev}","entry_hash":"{hash}","#), 1);
            let document = json::parse(whole.as_bytes()).unwrap();
            let entry = Entry::read(document.root());
            tables.canonical.begin().extend_from_slice(&bytes);
            tables.push(&entry, entry.seq.unwrap()).unwrap();
            prev = hash;
        }
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("000001.parquet");
        let mut writer = TableWriter::create(&schema::LEDGER, &part).unwrap();
        writer.push(0, tables.finish().unwrap().into_iter().next().unwrap().rows).unwrap();
        writer.finish().unwrap().sync().unwrap();
        let mut batches = ParquetRecordBatchReaderBuilder::try_new(open(&part).unwrap()).unwrap().build().unwrap();
        batches.next().unwrap().unwrap()
    }

    fn made() -> RecordBatch {
        ledger(&[
            r#"{"seq":1,"at":"2026-01-01T00:00:00Z","action":"noted","subject":"Ada.l@example.net","capability":"a","detail":{}}"#,
            r#"{"seq":2.0,"at":"yesterday","action":"fact","subject":"Ada.l@example.net","capability":null,"detail":{"n":1.50}}"#,
            r#"{"seq":3,"at":"2026-01-01T00:00:00Z","action":"fact","subject":"x","detail":{"n":1e16},"more":1e20}"#,
        ])
    }

    fn check(batch: &RecordBatch) -> Result<Segment, String> {
        let mut segment = Segment::new(PART.into());
        check_batch(Path::new(PART), batch, &mut segment, &mut Reading::new(), &mut 1)
            .map(|()| segment)
            .map_err(|fault| fault.to_string())
    }

    fn with(name: &str, column: ArrayRef) -> Result<Segment, String> {
        let batch = made();
        let mut columns = batch.columns().to_vec();
        columns[batch.schema().index_of(name).unwrap()] = column;
        check(&RecordBatch::try_new(batch.schema(), columns).unwrap())
    }

    #[test]
    fn what_a_load_writes_is_what_the_bytes_give() {
        let mut chain = Chain::new(ChainHead::start());
        chain.join(check(&made()).unwrap());
        assert_eq!(chain.finish().unwrap().seq, 3);
    }

    #[test]
    fn an_altered_column_is_named_with_its_row() {
        let texts = |values: [Option<&str>; 3]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
        let batch = made();
        let at = batch.column_by_name("at").unwrap().as_primitive::<TimestampMillisecondType>();
        let later: TimestampMillisecondArray = at.unary::<_, TimestampMillisecondType>(|ms| ms + 1);
        let ada = Some("Ada.l@example.net");
        for (name, row, column) in [
            ("seq", 2, Arc::new(Int64Array::from(vec![1, 3, 3])) as ArrayRef),
            ("at", 1, Arc::new(later.with_timezone("UTC"))),
            ("action", 2, texts([Some("noted"), Some("facts"), Some("fact")])),
            ("subject", 3, texts([ada, ada, None])),
            ("capability", 1, texts([None, None, None])),
            ("capability", 2, texts([Some("a"), Some("a"), None])),
            ("fault", 1, texts([None, None, None])),
        ] {
            let refused = with(name, column).unwrap_err();
            let found = format!("{PART}: row {row}: the column {name} differs from the canonical bytes");
            assert!(refused.starts_with(&found) || name == "fault" && refused.contains(" fault differs"), "{refused}");
        }
    }

    #[test]
    fn a_part_that_is_missing_or_no_parquet_is_said_plainly() {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("000001.parquet");
        let missing = open(&part).unwrap_err();
        assert!(matches!(missing, WarehouseError::NotAWarehouse { .. }) && missing.to_string().contains("is missing"));
        assert!(damaged(&part).to_string().contains("is damaged"));
    }
}
