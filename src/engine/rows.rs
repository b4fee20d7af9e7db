//! Rows of a query result, read by column name and type.

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Int64Array, ListArray, RecordBatch, StringArray,
    StringViewArray, StructArray, TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Decimal128Type, Int64Type, TimeUnit, TimestampMillisecondType};

use super::EngineError;

/// A batch of rows and the query that gave it.
#[derive(Debug, Clone)]
pub struct Rows {
    query: String,
    batch: RecordBatch,
}

impl Rows {
    pub(super) fn new(query: &str, batch: RecordBatch) -> Rows {
        Rows { query: query.to_owned(), batch }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows as the engine gave them.
    pub fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// A column of text.
    pub fn text(&self, name: &str) -> Result<Column<'_, Text<'_>>, EngineError> {
        let array = self.array(name)?;
        let text = match array.data_type() {
            DataType::Utf8 => Text::Plain(array.as_string()),
            DataType::Utf8View => Text::View(array.as_string_view()),
            _ => return Err(self.wrong(name, "text")),
        };
        Ok(Column { array, typed: text })
    }

    /// A column of whole numbers: counts, and `seq`.
    pub fn int(&self, name: &str) -> Result<Column<'_, &Int64Array>, EngineError> {
        let array = self.array(name)?;
        let typed = array.as_primitive_opt::<Int64Type>().ok_or_else(|| self.wrong(name, "a whole number"))?;
        Ok(Column { array, typed })
    }

    /// A column of instants, in milliseconds since 1970 UTC.
    pub fn instant(&self, name: &str) -> Result<Column<'_, &TimestampMillisecondArray>, EngineError> {
        let array = self.array(name)?;
        match array.data_type() {
            DataType::Timestamp(TimeUnit::Millisecond, Some(_)) => {
                let typed = array.as_primitive::<TimestampMillisecondType>();
                Ok(Column { array, typed })
            }
            _ => Err(self.wrong(name, "an instant in milliseconds")),
        }
    }

    /// A column of booleans.
    pub fn boolean(&self, name: &str) -> Result<Column<'_, &BooleanArray>, EngineError> {
        let array = self.array(name)?;
        let typed = array.as_boolean_opt().ok_or_else(|| self.wrong(name, "a boolean"))?;
        Ok(Column { array, typed })
    }

    /// A column of exact decimals of this scale, in units of `10^-scale`.
    pub fn decimal(&self, name: &str, scale: i8) -> Result<Column<'_, &Decimal128Array>, EngineError> {
        let array = self.array(name)?;
        match array.data_type() {
            DataType::Decimal128(_, found) if *found == scale => {
                Ok(Column { array, typed: array.as_primitive::<Decimal128Type>() })
            }
            _ => Err(self.wrong(name, "a decimal of the scale asked for")),
        }
    }

    /// A column of lists of text, each as its items.
    pub fn texts(&self, name: &str) -> Result<Vec<Option<Vec<String>>>, EngineError> {
        let list = self.list(name)?;
        (0..list.len())
            .map(|row| {
                if list.is_null(row) {
                    return Ok(None);
                }
                let items = list.value(row);
                let text = items.as_string_opt::<i32>().ok_or_else(|| self.wrong(name, "a list of text"))?;
                Ok(Some(text.iter().flatten().map(str::to_owned).collect()))
            })
            .collect()
    }

    /// A column of lists of anything.
    pub fn list(&self, name: &str) -> Result<&ListArray, EngineError> {
        self.array(name)?.as_list_opt::<i32>().ok_or_else(|| self.wrong(name, "a list"))
    }

    /// A column of structs.
    pub fn structs(&self, name: &str) -> Result<&StructArray, EngineError> {
        self.array(name)?.as_struct_opt().ok_or_else(|| self.wrong(name, "a struct"))
    }

    /// A column of bytes.
    pub fn binary(&self, name: &str) -> Result<&arrow::array::BinaryArray, EngineError> {
        self.array(name)?.as_binary_opt::<i32>().ok_or_else(|| self.wrong(name, "bytes"))
    }

    fn array(&self, name: &str) -> Result<&ArrayRef, EngineError> {
        self.batch.column_by_name(name).ok_or_else(|| self.wrong(name, "there"))
    }

    fn wrong(&self, name: &str, wanted: &'static str) -> EngineError {
        EngineError::Column { query: self.query.clone(), column: name.to_owned(), wanted }
    }
}

/// One typed column.
#[derive(Clone, Copy)]
pub struct Column<'a, T> {
    array: &'a ArrayRef,
    typed: T,
}

/// Text in either of the engine's forms.
#[derive(Clone, Copy)]
pub enum Text<'a> {
    /// Offsets into one buffer.
    Plain(&'a StringArray),
    /// Views.
    View(&'a StringViewArray),
}

impl<'a> Column<'a, Text<'a>> {
    /// The text of a row, or none where it is null.
    pub fn get(&self, row: usize) -> Option<&'a str> {
        if self.array.is_null(row) {
            return None;
        }
        Some(match self.typed {
            Text::Plain(array) => array.value(row),
            Text::View(array) => array.value(row),
        })
    }
}

macro_rules! getters {
    ($($array:ty => $value:ty),* $(,)?) => {$(
        impl Column<'_, &$array> {
            /// The value of a row, or none where it is null.
            pub fn get(&self, row: usize) -> Option<$value> {
                if self.array.is_null(row) { None } else { Some(self.typed.value(row)) }
            }
        }
    )*};
}

getters! { Int64Array => i64, TimestampMillisecondArray => i64, BooleanArray => bool, Decimal128Array => i128 }
