//! The first stage: an export into the warehouse.

use std::path::Path;

use super::audit::forget;
use super::{Inputs, NightError};
use crate::export::Export;
use crate::identity::Salt;
use crate::warehouse::{self, LoadOptions, Loaded, Warehouse};

/// Loads an export: every input checked, the ledger parsed, hashed and chained. On any fault the warehouse stays as it was.
/// A ledger that does not begin with what the warehouse holds is refused unless it is said to be a `new_ledger`. `anew` reads every file of it, known ones too. `progress` is told the entries so far.
pub fn load(
    export: &Path,
    warehouse: &mut Warehouse,
    salt: Option<&Salt>,
    new_ledger: bool,
    anew: bool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, NightError> {
    let export = Export::open(export)?;
    let (_, inputs) = Inputs::read(&export, salt)?;
    let loaded = warehouse::load(&export, warehouse, &LoadOptions { inputs: &inputs, new_ledger, anew, progress })?;
    forget(warehouse)?;
    Ok(loaded)
}
