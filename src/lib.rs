//! `bureau`: the nightly accountant of agent reputation.
//!
//! Evidence walks through the rooms below in one direction, and they stand here in that order. No room reaches back.
//!
//! ```text
//! export ─▶ ledger ─▶ warehouse ─▶ audit ─▶ queries ─▶ reports ─▶ snapshot
//! (files)   (parse,    (typed       (find-   (SQL on    (docu-     (sign, publish,
//!            hash)      Parquet)     ings)    DataFusion) ments)     check)
//! ```
//!
//! | room | what it knows | what it must not know |
//! | --- | --- | --- |
//! | [`export`] | files, compression, order, lines | what an entry means |
//! | [`ledger`] | an entry, its canonical form, its hash, its typed detail by action | Parquet, SQL, keys |
//! | [`policy`] | published values and their bounds | where they are used |
//! | [`identity`] | handles, keys over time, parties, organizations | scores |
//! | [`warehouse`] | Arrow schemas, Parquet layout, what earlier loads left | rules |
//! | [`engine`] | a SQL session over the warehouse | what a query computes |
//! | [`audit`] | the rules of profile 1.7, one a function, findings out | how anything is scored |
//! | `queries/*.sql` | every figure, one file one table, in the dialect that DataFusion and DuckDB share | Rust |
//! | [`reports`] | query rows into documents | how to sign |
//! | [`rating`] | the second method, from transaction tables; no figure of one method enters the other | the ledger |
//! | [`snapshot`] | canonical documents, signatures, manifest, atomic publish, checking someone else's | SQL |
//! | [`excerpt`] | a subject's own entries, its scores recomputed from them alone (L2), and explained | how to sign a report |
//! | [`night`] | the stages in their order, and what each leaves for the next | how any of them works |
//! | [`cli`] | commands, flags, progress, exit codes | all of the above, beyond calling it |
//!
//! [`instant`] is the one notion of time that they share: whole milliseconds, UTC.
//!
//! A change to a rule of the audit is in `src/audit/rules` and `queries/audit`; to a figure, in `queries` and, where it is divided or
//! rounded, in [`reports`]; to a file of the snapshot, in [`snapshot`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod audit;
pub mod cli;
pub mod engine;
pub mod excerpt;
pub mod export;
mod hex;
pub mod identity;
pub mod instant;
pub mod ledger;
pub mod night;
pub mod policy;
pub mod rating;
pub mod reports;
pub mod snapshot;
pub mod warehouse;
