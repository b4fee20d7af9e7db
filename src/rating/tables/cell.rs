//! One member of one row, whichever form the table has, and the checks that every member passes (4.1).
//!
//! A row is a JSON object or one index of Parquet columns. Both answer the same question, [`Source::cell`], so that
//! each check is written once. A member that is absent and one that is null are the same here.

use arrow::array::{
    Array, AsArray, Decimal128Array, Decimal256Array, StructArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow::datatypes::{DataType, TimeUnit};

use crate::instant;
use crate::ledger::json::{self, Kind, Node};

/// What is wrong with a row: the path of the member where one is to blame, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub member: Option<&'static str>,
    pub reason: String,
}

impl Fault {
    pub fn of(member: &'static str, reason: impl Into<String>) -> Fault {
        Fault { member: Some(member), reason: reason.into() }
    }
}

/// The value of one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell<'a> {
    /// Not there, or null.
    Absent,
    Text(&'a str),
    Bool(bool),
    /// A Parquet decimal of at most six places that the text form could spell, in micro-dollars.
    Micro(i64),
    /// A Parquet timestamp with a zone, in milliseconds since 1970 UTC.
    Instant(i64),
    /// A Parquet timestamp without a zone.
    LocalTime,
    /// Anything else.
    Other,
}

/// Where the members of a row, or of an object in it, are read.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Json(Node<'a>),
    Columns { table: &'a StructArray, row: usize },
}

/// An object inside a row.
pub(super) enum Nested<'a> {
    Here(Source<'a>),
    Parsed(json::Owned<'a>),
}

impl Nested<'_> {
    pub fn source(&self) -> Source<'_> {
        match self {
            Nested::Here(source) => *source,
            Nested::Parsed(document) => Source::Json(document.root()),
        }
    }
}

impl<'a> Source<'a> {
    pub fn cell(self, name: &str) -> Cell<'a> {
        match self {
            Source::Json(node) => match node.get(name) {
                None => Cell::Absent,
                Some(value) => match value.kind() {
                    Kind::Null => Cell::Absent,
                    Kind::Text => value.as_str().map_or(Cell::Other, Cell::Text),
                    Kind::Bool => value.as_bool().map_or(Cell::Other, Cell::Bool),
                    _ => Cell::Other,
                },
            },
            Source::Columns { table, row } => match table.column_by_name(name) {
                None => Cell::Absent,
                Some(column) => column_cell(column.as_ref(), row),
            },
        }
    }

    /// The object at `path`. In Parquet, `metadata` may be JSON text as well as a struct.
    pub fn object(self, path: &'static str) -> Result<Option<Nested<'a>>, Fault> {
        let wrong = || Fault::of(path, "not an object");
        match self {
            Source::Json(node) => match node.get(last(path)) {
                None => Ok(None),
                Some(value) => match value.kind() {
                    Kind::Null => Ok(None),
                    Kind::Object => Ok(Some(Nested::Here(Source::Json(value)))),
                    _ => Err(wrong()),
                },
            },
            Source::Columns { table, row } => {
                let Some(column) = table.column_by_name(last(path)) else {
                    return Ok(None);
                };
                match column.data_type() {
                    DataType::Null => Ok(None),
                    _ if column.is_null(row) => Ok(None),
                    DataType::Struct(_) => Ok(Some(Nested::Here(Source::Columns { table: column.as_struct(), row }))),
                    DataType::Utf8 if path == "metadata" => {
                        let text = column.as_string::<i32>().value(row);
                        let parsed =
                            json::parse(text.as_bytes()).map_err(|fault| Fault::of(path, fault.to_string()))?;
                        Ok(Some(Nested::Parsed(parsed)))
                    }
                    _ => Err(wrong()),
                }
            }
        }
    }

    /// Non-empty text that may be absent.
    pub fn text(self, path: &'static str) -> Result<Option<&'a str>, Fault> {
        match self.cell(last(path)) {
            Cell::Absent => Ok(None),
            Cell::Text(text) if !text.is_empty() => Ok(Some(text)),
            _ => Err(Fault::of(path, "not a non-empty string")),
        }
    }

    /// One of a closed set of words, that may be absent.
    pub fn one_of(self, path: &'static str, words: &[&'static str]) -> Result<Option<&'static str>, Fault> {
        let Some(text) = self.text(path)? else {
            return Ok(None);
        };
        match words.iter().find(|word| **word == text) {
            Some(word) => Ok(Some(word)),
            None => Err(Fault::of(path, format!("not one of {}", words.join(", ")))),
        }
    }

    /// Money in micro-dollars, that may be absent.
    pub fn money(self, path: &'static str) -> Result<Option<i64>, Fault> {
        let wrong = || Fault::of(path, "not decimal text of up to nine digits and six places");
        match self.cell(last(path)) {
            Cell::Absent => Ok(None),
            Cell::Micro(micro) => Ok(Some(micro)),
            Cell::Text(text) => micro(text).map(Some).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    /// An instant in milliseconds since 1970 UTC, that may be absent.
    pub fn instant(self, path: &'static str) -> Result<Option<i64>, Fault> {
        match self.cell(last(path)) {
            Cell::Absent => Ok(None),
            Cell::Instant(ms) => Ok(Some(ms)),
            Cell::Text(text) => instant::parse(text).map(Some).map_err(|fault| Fault::of(path, fault.to_string())),
            Cell::LocalTime => Err(Fault::of(path, "a local time: the column has no zone")),
            _ => Err(Fault::of(path, "not an RFC 3339 instant with Z or an offset")),
        }
    }

    /// True or false, that may be absent.
    pub fn boolean(self, path: &'static str) -> Result<Option<bool>, Fault> {
        match self.cell(last(path)) {
            Cell::Absent => Ok(None),
            Cell::Bool(value) => Ok(Some(value)),
            _ => Err(Fault::of(path, "not true or false")),
        }
    }
}

/// What must be there.
pub(super) fn required<T>(path: &'static str, found: Option<T>) -> Result<T, Fault> {
    found.ok_or_else(|| Fault::of(path, "missing"))
}

fn last(path: &'static str) -> &'static str {
    path.rsplit('.').next().unwrap_or(path)
}

/// `[0-9]{1,9}(\.[0-9]{1,6})?` in micro-dollars, below 10^15.
fn micro(text: &str) -> Option<i64> {
    let (whole, places) = match text.split_once('.') {
        Some((whole, places)) => (whole, Some(places)),
        None => (text, None),
    };
    let digits = |part: &str, most: usize| {
        if part.is_empty() || part.len() > most || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        part.parse::<i64>().ok()
    };
    let dollars = digits(whole, 9)? * 1_000_000;
    let Some(places) = places else {
        return Some(dollars);
    };
    let scale = 10_i64.pow(6_u32.checked_sub(u32::try_from(places.len()).ok()?)?);
    Some(dollars + digits(places, 6)? * scale)
}

fn column_cell(column: &dyn Array, row: usize) -> Cell<'_> {
    if matches!(column.data_type(), DataType::Null) || column.is_null(row) {
        return Cell::Absent;
    }
    match column.data_type() {
        DataType::Utf8 => Cell::Text(column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Cell::Text(column.as_string::<i64>().value(row)),
        DataType::Utf8View => Cell::Text(column.as_string_view().value(row)),
        DataType::Boolean => Cell::Bool(column.as_boolean().value(row)),
        DataType::Decimal128(_, scale) => match column.as_any().downcast_ref::<Decimal128Array>() {
            Some(array) => decimal(array.value(row), *scale),
            None => Cell::Other,
        },
        DataType::Decimal256(_, scale) => match column.as_any().downcast_ref::<Decimal256Array>() {
            Some(array) => array.value(row).to_i128().map_or(Cell::Other, |value| decimal(value, *scale)),
            None => Cell::Other,
        },
        DataType::Timestamp(_, None) => Cell::LocalTime,
        DataType::Timestamp(unit, Some(_)) => timestamp(column, unit, row).map_or(Cell::Other, Cell::Instant),
        _ => Cell::Other,
    }
}

/// A decimal of scale at most 6 that the text form could spell.
fn decimal(value: i128, scale: i8) -> Cell<'static> {
    let scaled =
        u32::try_from(6 - i32::from(scale)).ok().and_then(|places| value.checked_mul(10_i128.checked_pow(places)?));
    match scaled.and_then(|micro| i64::try_from(micro).ok()) {
        Some(micro) if (0..1_000_000_000_000_000).contains(&micro) => Cell::Micro(micro),
        _ => Cell::Other,
    }
}

/// The milliseconds of a timestamp, cut towards the past, where RFC 3339 has a year for it.
fn timestamp(column: &dyn Array, unit: &TimeUnit, row: usize) -> Option<i64> {
    let any = column.as_any();
    let ms = match unit {
        TimeUnit::Second => any.downcast_ref::<TimestampSecondArray>()?.value(row).checked_mul(1000)?,
        TimeUnit::Millisecond => any.downcast_ref::<TimestampMillisecondArray>()?.value(row),
        TimeUnit::Microsecond => any.downcast_ref::<TimestampMicrosecondArray>()?.value(row).div_euclid(1000),
        TimeUnit::Nanosecond => any.downcast_ref::<TimestampNanosecondArray>()?.value(row).div_euclid(1_000_000),
    };
    const YEAR_0: i64 = -62_167_219_200_000;
    const YEAR_10000: i64 = 253_402_300_800_000;
    (YEAR_0..YEAR_10000).contains(&ms).then_some(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_decimal_text_and_nothing_else() {
        assert_eq!(micro("0"), Some(0));
        assert_eq!(micro("999999999.999999"), Some(999_999_999_999_999));
        assert_eq!(micro("007.5"), Some(7_500_000));
        assert_eq!(micro("0.000001"), Some(1));
        for text in [
            "",
            ".5",
            "5.",
            "1.0000000",
            "1234567890",
            "-1",
            "+1",
            "1e3",
            "1,5",
            " 1",
            "1 ",
            "1.2.3",
            "٣",
            "NaN",
            "0x1",
        ] {
            assert_eq!(micro(text), None, "{text:?}");
        }
    }

    #[test]
    fn decimals_hold_what_the_text_form_could_spell() {
        assert_eq!(decimal(125, 2), Cell::Micro(1_250_000));
        assert_eq!(decimal(3, -2), Cell::Micro(300_000_000));
        assert_eq!(decimal(999_999_999_999_999, 6), Cell::Micro(999_999_999_999_999));
        assert_eq!(decimal(1_000_000_000, 0), Cell::Other);
        assert_eq!(decimal(-1, 0), Cell::Other);
        assert_eq!(decimal(10, 7), Cell::Other);
        assert_eq!(decimal(i128::MAX, -100), Cell::Other);
    }

    #[test]
    fn timestamps_are_cut_towards_the_past() {
        let array = TimestampMicrosecondArray::from(vec![-1, 1999]).with_timezone("UTC");
        assert_eq!(column_cell(&array, 0), Cell::Instant(-1));
        assert_eq!(column_cell(&array, 1), Cell::Instant(1));
        let local = TimestampMillisecondArray::from(vec![0]);
        assert_eq!(column_cell(&local, 0), Cell::LocalTime);
        let never = TimestampSecondArray::from(vec![i64::MAX]).with_timezone("UTC");
        assert_eq!(column_cell(&never, 0), Cell::Other);
    }
}
