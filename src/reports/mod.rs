//! Query rows into the documents of §8 and profile part 2. Nothing here knows how a document is signed.
//!
//! `queries/*.sql` gives counts and exact sums ([`plan`] names the files, in order). The few functions that turn them into published numbers
//! stand in [`number`]. Each kind of document has a module: rows in, inner object out.
//!
//! | document | modules |
//! | --- | --- |
//! | `report` (§8.1) | `subject`, its blocks, and the records `sender` (§4.7) and `nda` (§4.9) |
//! | `organization_report` (§8.5) | `organization` |
//! | `evaluator_report` (§6.5) | `evaluator` |
//! | `screening_provider` (§4.7) | `screening` |
//!
//! [`figures`] runs the plan and makes them all, or carries what an earlier report left (`carry`); [`flat`] lays the same figures out as tables.

mod added;
mod carry;
mod evaluator;
mod figures;
mod flat;
mod nda;
pub mod number;
mod organization;
mod organization_rows;
pub mod plan;
mod screening;
mod sender;
mod sender_party;
mod subject;
mod subject_blocks;
mod subject_rows;
#[cfg(test)]
mod vectors_tests;

pub use carry::{BEFORE, Before, COMPARED};
pub use figures::{Documents, Frame, ReportsError, figures};
