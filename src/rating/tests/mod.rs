//! The room as a whole: both fixtures, properties over generated tables, and rows that must be refused.

mod fixtures;
mod hostile;
mod parquet_tables;
mod properties;
mod support;
