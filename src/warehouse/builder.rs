//! Column builders for one table, filled row by row in the order of its columns. Columns of bytes are none of them: see [`super::pages`].

use std::sync::Arc;

use arrow::array::{
    ArrayBuilder, ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, NullBufferBuilder, RecordBatch,
    StringBuilder, StructArray, StructBuilder, TimestampMillisecondBuilder,
};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::schema::{self, Column, Kind, Table};

/// Fills one table. Every row gives every column a value, in order.
pub struct TableBuilder {
    schema: SchemaRef,
    columns: Vec<Builder>,
    rows: usize,
}

enum Builder {
    Text(StringBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Bool(BooleanBuilder),
    Instant(TimestampMillisecondBuilder),
    Texts(ListBuilder<StringBuilder>),
    Struct { fields: Vec<Builder>, columns: &'static [Column], valid: NullBufferBuilder },
    Structs(ListBuilder<StructBuilder>, &'static [Column]),
}

/// A value of a field of a struct.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// Text, or null.
    Text(Option<&'a str>),
    /// An instant in milliseconds, or null.
    Instant(Option<i64>),
    /// A double, or null.
    Float(Option<f64>),
    /// A boolean.
    Bool(bool),
}

impl Builder {
    fn new(kind: Kind) -> Builder {
        match kind {
            Kind::Text => Builder::Text(StringBuilder::new()),
            Kind::Int => Builder::Int(Int64Builder::new()),
            Kind::Float => Builder::Float(Float64Builder::new()),
            Kind::Bool => Builder::Bool(BooleanBuilder::new()),
            Kind::Instant => Builder::Instant(TimestampMillisecondBuilder::new().with_timezone("UTC")),
            Kind::Bytes => unreachable!("bytes are in pages, and in no struct"),
            Kind::Texts => Builder::Texts(ListBuilder::new(StringBuilder::new())),
            Kind::Struct(columns) => Builder::Struct {
                fields: columns.iter().map(|column| Builder::new(column.kind)).collect(),
                columns,
                valid: NullBufferBuilder::new(0),
            },
            Kind::Structs(columns) => {
                let DataType::List(item) = schema::data_type(kind) else { unreachable!("a list's type is a list") };
                let DataType::Struct(fields) = item.data_type() else { unreachable!("of structs") };
                let builder = StructBuilder::from_fields(fields.clone(), 0);
                Builder::Structs(ListBuilder::new(builder).with_field(Arc::clone(&item)), columns)
            }
        }
    }

    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Builder::Text(builder), Value::Text(value)) => builder.append_option(value),
            (Builder::Instant(builder), Value::Instant(value)) => builder.append_option(value),
            (Builder::Float(builder), Value::Float(value)) => builder.append_option(value),
            (Builder::Bool(builder), Value::Bool(value)) => builder.append_value(value),
            _ => panic!("a value of another type than its column's"),
        }
    }

    fn push_null(&mut self) {
        match self {
            Builder::Text(builder) => builder.append_null(),
            Builder::Instant(builder) => builder.append_null(),
            Builder::Float(builder) => builder.append_null(),
            Builder::Bool(builder) => builder.append_value(false),
            _ => panic!("a struct holds no such column"),
        }
    }

    /// The column so far. The next one, which will be about as long, starts with room for as much.
    fn finish(&mut self) -> ArrayRef {
        let room = |held: usize| held + held / 16;
        match self {
            Builder::Text(builder) => {
                let next = StringBuilder::with_capacity(room(builder.len()), room(builder.values_slice().len()));
                Arc::new(std::mem::replace(builder, next).finish())
            }
            Builder::Int(builder) => {
                let next = Int64Builder::with_capacity(room(builder.len()));
                Arc::new(std::mem::replace(builder, next).finish())
            }
            Builder::Instant(builder) => {
                let next = TimestampMillisecondBuilder::with_capacity(room(builder.len())).with_timezone("UTC");
                Arc::new(std::mem::replace(builder, next).finish())
            }
            Builder::Float(builder) => Arc::new(builder.finish()),
            Builder::Bool(builder) => Arc::new(builder.finish()),
            Builder::Texts(builder) => Arc::new(builder.finish()),
            Builder::Structs(builder, _) => Arc::new(builder.finish()),
            Builder::Struct { fields, columns, valid } => {
                let DataType::Struct(types) = schema::data_type(Kind::Struct(columns)) else {
                    unreachable!("a struct's type is a struct")
                };
                let arrays = fields.iter_mut().map(Builder::finish).collect();
                // A column of a null struct holds a null too, which a field that cannot be null elsewhere allows.
                Arc::new(StructArray::new(types, arrays, valid.finish()))
            }
        }
    }
}

impl TableBuilder {
    /// Builders for the columns of a table that are not of bytes, empty.
    pub fn new(table: &Table) -> TableBuilder {
        let schema = table.schema();
        let built = table.columns.iter().zip(schema.fields()).filter(|(column, _)| !column.is_paged());
        let (columns, fields): (Vec<_>, Vec<_>) =
            built.map(|(column, field)| (Builder::new(column.kind), Arc::clone(field))).unzip();
        TableBuilder { schema: Arc::new(Schema::new(fields)), columns, rows: 0 }
    }

    /// Begins a row.
    pub fn row(&mut self) -> Row<'_> {
        self.rows += 1;
        Row { columns: self.columns.iter_mut() }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows so far; the builders start anew.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

/// One row being written. A value of another type than its column's is a fault of this program and panics in its tests.
pub struct Row<'a> {
    columns: std::slice::IterMut<'a, Builder>,
}

impl Row<'_> {
    fn next(&mut self) -> &mut Builder {
        self.columns.next().expect("a row has no more columns than its table")
    }

    /// Text.
    pub fn text(self, value: &str) -> Self {
        self.maybe_text(Some(value))
    }

    /// Text, or null.
    pub fn maybe_text(mut self, value: Option<&str>) -> Self {
        self.next().push(Value::Text(value));
        self
    }

    /// A whole number.
    pub fn int(self, value: i64) -> Self {
        self.maybe_int(Some(value))
    }

    /// A whole number, or null.
    pub fn maybe_int(mut self, value: Option<i64>) -> Self {
        match self.next() {
            Builder::Int(builder) => builder.append_option(value),
            _ => panic!("a whole number in another column"),
        }
        self
    }

    /// An instant.
    pub fn instant(self, value: i64) -> Self {
        self.maybe_instant(Some(value))
    }

    /// An instant, or null.
    pub fn maybe_instant(mut self, value: Option<i64>) -> Self {
        self.next().push(Value::Instant(value));
        self
    }

    /// A boolean.
    pub fn boolean(mut self, value: bool) -> Self {
        self.next().push(Value::Bool(value));
        self
    }

    /// A list of texts, or null.
    pub fn texts<'t>(mut self, values: Option<impl IntoIterator<Item = &'t str>>) -> Self {
        match self.next() {
            Builder::Texts(builder) => match values {
                Some(values) => {
                    values.into_iter().for_each(|value| builder.values().append_value(value));
                    builder.append(true);
                }
                None => builder.append(false),
            },
            _ => panic!("a list in another column"),
        }
        self
    }

    /// A struct, or null.
    pub fn structure(mut self, values: Option<&[Value<'_>]>) -> Self {
        match self.next() {
            Builder::Struct { fields, valid, .. } => match values {
                Some(values) => {
                    assert_eq!(fields.len(), values.len(), "a value for each field");
                    fields.iter_mut().zip(values).for_each(|(field, value)| field.push(*value));
                    valid.append(true);
                }
                None => {
                    fields.iter_mut().for_each(Builder::push_null);
                    valid.append(false);
                }
            },
            _ => panic!("a struct in another column"),
        }
        self
    }

    /// A list of structs of `N` fields, or null.
    pub fn structures<'t, const N: usize>(mut self, values: Option<impl IntoIterator<Item = [Value<'t>; N]>>) -> Self {
        match self.next() {
            Builder::Structs(builder, columns) => match values {
                Some(values) => {
                    for value in values {
                        push_struct(builder.values(), columns, &value);
                    }
                    builder.append(true);
                }
                None => builder.append(false),
            },
            _ => panic!("a list of structs in another column"),
        }
        self
    }

    /// Ends the row.
    pub fn end(mut self) {
        assert!(self.columns.next().is_none(), "a row has a value for every column of its table");
    }
}

fn push_struct(builder: &mut StructBuilder, columns: &[Column], values: &[Value<'_>]) {
    const TYPED: &str = "a field has the builder of its type";
    assert_eq!(columns.len(), values.len(), "a value for each field");
    for (index, value) in values.iter().enumerate() {
        match *value {
            Value::Text(text) => builder.field_builder::<StringBuilder>(index).expect(TYPED).append_option(text),
            Value::Instant(ms) => {
                builder.field_builder::<TimestampMillisecondBuilder>(index).expect(TYPED).append_option(ms);
            }
            Value::Float(value) => builder.field_builder::<Float64Builder>(index).expect(TYPED).append_option(value),
            Value::Bool(value) => builder.field_builder::<BooleanBuilder>(index).expect(TYPED).append_value(value),
        }
    }
    builder.append(true);
}
