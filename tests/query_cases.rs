//! Runs every file of `queries/cases` on the engine: a few rows in, the rows that must come out. The format is told at the head of
//! `enrollment_interval.txt` there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Schema, TimeUnit};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bureau::engine::{Resources, Session};
use bureau::instant;
use serde_json::Value;

/// A block of rows: its columns as name and type, and its cells.
#[derive(Clone, Default)]
struct Block {
    columns: Vec<(String, String)>,
    rows: Vec<Vec<String>>,
}

struct Case {
    name: String,
    inputs: BTreeMap<String, Block>,
    expect: Block,
}

#[test]
fn every_query_gives_what_its_cases_say() {
    let queries = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
    let spill = tempfile::tempdir().unwrap();
    let (mut cases, mut faults) = (0, Vec::new());
    for file in fs::read_dir(queries.join("cases")).unwrap() {
        let file = file.unwrap().path();
        let query = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let sql = fs::read_to_string(queries.join(format!("{query}.sql"))).unwrap();
        for case in parse(&fs::read_to_string(&file).unwrap()) {
            cases += 1;
            let session = Session::open(&Resources::new(2, 64 << 20), spill.path()).unwrap();
            for (table, block) in &case.inputs {
                session.register_batch(table, batch(block)).unwrap();
            }
            let wanted = rows(&batch(&case.expect), &case.expect);
            match session.rows(&query, &sql) {
                Ok(found) => {
                    let found = rows(found.batch(), &case.expect);
                    if found != wanted {
                        faults.push(format!("{query}: {}\n  got  {found:?}\n  want {wanted:?}", case.name));
                    }
                }
                Err(fault) => faults.push(format!("{query}: {}\n  {fault}", case.name)),
            }
        }
    }
    assert!(cases > 20, "only {cases} cases were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn parse(text: &str) -> Vec<Case> {
    let mut shared = BTreeMap::new();
    let mut cases: Vec<Case> = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        if let Some(name) = line.strip_prefix("case ") {
            cases.push(Case { name: name.to_owned(), inputs: shared.clone(), expect: Block::default() });
            open = None;
            continue;
        }
        if let Some(table) = line.strip_prefix("input ") {
            cases.last_mut().map_or(&mut shared, |case| &mut case.inputs).insert(table.to_owned(), Block::default());
            open = Some(table.to_owned());
            continue;
        }
        if line == "expect" {
            open = None;
            continue;
        }
        let block = match (&open, cases.last_mut()) {
            (Some(table), Some(case)) => case.inputs.get_mut(table).unwrap(),
            (Some(table), None) => shared.get_mut(table).unwrap(),
            (None, Some(case)) => &mut case.expect,
            (None, None) => panic!("rows without a block: {line}"),
        };
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if block.columns.is_empty() {
            let column = |cell: &&str| cell.split_once(':').map(|(name, kind)| (name.to_owned(), kind.to_owned()));
            block.columns = cells.iter().map(|cell| column(cell).unwrap()).collect();
        } else {
            assert_eq!(cells.len(), block.columns.len(), "{line}");
            block.rows.push(cells.into_iter().map(str::to_owned).collect());
        }
    }
    cases
}

fn batch(block: &Block) -> RecordBatch {
    let arrays: Vec<ArrayRef> = (0..block.columns.len())
        .map(|index| {
            let cells = block.rows.iter().map(|row| Some(row[index].as_str()).filter(|cell| *cell != "-"));
            array(&block.columns[index].1, cells.collect())
        })
        .collect();
    let fields: Vec<Field> = block
        .columns
        .iter()
        .zip(&arrays)
        .map(|((name, _), array)| Field::new(name, array.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn array(kind: &str, cells: Vec<Option<&str>>) -> ArrayRef {
    match kind {
        "int" => Arc::new(cells.iter().map(|cell| cell.map(|cell| cell.parse().unwrap())).collect::<Int64Array>()),
        "bool" => Arc::new(cells.iter().map(|cell| cell.map(|cell| cell == "true")).collect::<BooleanArray>()),
        "text" => Arc::new(cells.into_iter().collect::<StringArray>()),
        "instant" => {
            let parsed = cells.iter().map(|cell| cell.map(|cell| instant::parse(cell).unwrap()));
            Arc::new(parsed.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
        }
        "texts" | "promises" | "checks" | "screening" => nested(kind, &cells),
        _ => decimal(kind, &cells),
    }
}

fn decimal(kind: &str, cells: &[Option<&str>]) -> ArrayRef {
    let (precision, scale) = kind.strip_prefix("decimal(").unwrap().strip_suffix(')').unwrap().split_once(',').unwrap();
    let (precision, scale): (u8, i8) = (precision.parse().unwrap(), scale.parse().unwrap());
    let units = cells.iter().map(|cell| {
        cell.map(|cell| {
            let (whole, places) = cell.split_once('.').unwrap();
            assert_eq!(places.len(), usize::try_from(scale).unwrap(), "{cell}");
            format!("{whole}{places}").parse::<i128>().unwrap()
        })
    });
    Arc::new(units.collect::<Decimal128Array>().with_precision_and_scale(precision, scale).unwrap())
}

/// Lists and structs, through the JSON of their cells.
fn nested(kind: &str, cells: &[Option<&str>]) -> ArrayRef {
    let text = |name| Field::new(name, DataType::Utf8, true);
    let list = |item: DataType| DataType::List(Arc::new(Field::new_list_field(item, true)));
    let wanted = match kind {
        "texts" => list(DataType::Utf8),
        "promises" => list(DataType::Struct(Fields::from(vec![text("id"), text("class"), text("text")]))),
        "checks" => {
            list(DataType::Struct(Fields::from(vec![text("promise_id"), Field::new("held", DataType::Boolean, true)])))
        }
        _ => DataType::Struct(Fields::from(vec![text("verdict"), text("provider")])),
    };
    let values: Vec<Value> =
        cells.iter().map(|cell| cell.map_or(Value::Null, |cell| serde_json::from_str(cell).unwrap())).collect();
    build(&wanted, &values)
}

fn build(wanted: &DataType, values: &[Value]) -> ArrayRef {
    use arrow::array::{ListArray, StructArray};
    use arrow::buffer::{NullBuffer, OffsetBuffer};
    let present = NullBuffer::from_iter(values.iter().map(|value| !value.is_null()));
    match wanted {
        DataType::Utf8 => Arc::new(values.iter().map(Value::as_str).collect::<StringArray>()),
        DataType::Boolean => Arc::new(values.iter().map(Value::as_bool).collect::<BooleanArray>()),
        DataType::List(item) => {
            let lists: Vec<&[Value]> =
                values.iter().map(|value| value.as_array().map_or(&[][..], Vec::as_slice)).collect();
            let offsets = OffsetBuffer::from_lengths(lists.iter().map(|list| list.len()));
            let items = build(item.data_type(), &lists.concat());
            Arc::new(ListArray::new(item.clone(), offsets, items, Some(present)))
        }
        DataType::Struct(fields) => {
            let column = |field: &Arc<Field>| {
                let members: Vec<Value> =
                    values.iter().map(|value| value.get(field.name()).cloned().unwrap_or(Value::Null)).collect();
                build(field.data_type(), &members)
            };
            Arc::new(StructArray::new(fields.clone(), fields.iter().map(column).collect(), Some(present)))
        }
        other => panic!("no cells of {other}"),
    }
}

/// The rows as text and sorted, the columns that a case names alone, decimals at the case's scale.
fn rows(batch: &RecordBatch, named: &Block) -> Vec<Vec<String>> {
    let columns: Vec<ArrayRef> = named
        .columns
        .iter()
        .map(|(name, kind)| {
            let column = batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
            let wanted = array(kind, Vec::new()).data_type().clone();
            let wanted = match wanted {
                DataType::Decimal128(_, scale) => DataType::Decimal128(38, scale),
                DataType::Timestamp(..) => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
                other => other,
            };
            cast(column, &wanted).unwrap()
        })
        .collect();
    let options = FormatOptions::default().with_null("-");
    let formatters: Vec<ArrayFormatter<'_>> =
        columns.iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap()).collect();
    let mut rows: Vec<Vec<String>> =
        (0..batch.num_rows()).map(|row| formatters.iter().map(|one| one.value(row).to_string()).collect()).collect();
    rows.sort();
    rows
}
