//! A night: the stages in their order, and what each leaves for the next.
//!
//! ```text
//! load ─▶ audit ─▶ report ─▶ publish
//! ```
//!
//! Every stage is a function over a [`crate::warehouse::Warehouse`], so that a night that failed goes on where it stopped. A stage refuses what an
//! earlier one left for another *T*, another ledger or other inputs.

mod audit;
mod before;
mod error;
mod inputs;
mod load;
mod previous;
mod publish;
mod rate;
mod report;

pub use audit::{Audited, audit, first_errors};
pub use error::NightError;
pub use inputs::Inputs;
pub use load::load;
pub use publish::{PublishOptions, publish};
pub use rate::{Rated, rate, rating_of};
pub use report::{Reported, report};

use std::path::Path;

use crate::engine::{Resources, Session};
use crate::snapshot::tables::write_table;
use crate::warehouse::{Warehouse, schema};

/// The profile that this program implements.
pub const PROFILE: &str = "fdbk-profile-1";

/// Opens a session with the ledger's tables and the inputs' tables at *T*. The latter are left in `derived/` too, for whoever runs the
/// queries elsewhere.
fn open_session(
    warehouse: &Warehouse,
    inputs: &Inputs,
    as_of: i64,
    resources: &Resources,
) -> Result<Session, NightError> {
    let session = Session::open(resources, &warehouse.join("spill"))?;
    for table in schema::ACTIONS.iter().chain([&schema::LEDGER]) {
        let parts = warehouse.parts(table.name);
        match table.runs() {
            1 => session.register_parquet(table.name, &parts)?,
            _ => session.register_sliced(table.name, &parts)?,
        }
    }
    session.set_moved(include_str!("../../queries/moved_interaction.sql"));
    let derived = warehouse.join("derived");
    std::fs::create_dir_all(&derived).map_err(|source| NightError::io(&derived, source))?;
    for (name, batch) in inputs.tables(as_of)? {
        write_table(&derived.join(name).with_extension("parquet"), batch.schema(), [Ok(batch.clone())])?;
        session.register_batch(name, batch)?;
    }
    Ok(session)
}

/// A folder, made anew.
fn fresh_folder(path: &Path) -> Result<(), NightError> {
    let made = if path.exists() { std::fs::remove_dir_all(path) } else { Ok(()) };
    made.and_then(|()| std::fs::create_dir_all(path)).map_err(|source| NightError::io(path, source))
}

fn write(path: &Path, content: &[u8]) -> Result<(), NightError> {
    std::fs::write(path, content).map_err(|source| NightError::io(path, source))
}
