//! What has been loaded, and where the files are.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::WarehouseError;
use super::known::KnownFile;
use super::load::Input;

/// The layout that this program writes. Another one is loaded anew.
const FORMAT: u32 = 4;
const STATE: &str = "state.json";

/// The last entry of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its `seq`.
    pub seq: i64,
    /// Its `entry_hash`, base64.
    pub entry_hash: String,
}

/// The content of `state.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    format: u32,
    /// The head reached, or none where the export holds no ledger.
    pub head: Option<Head>,
    /// The numbers of the loads whose parts make the tables, in order.
    pub loads: Vec<u32>,
    /// The number of the last load, which may have brought nothing but inputs.
    pub number: u32,
    /// The files that the ledger was read from, in its order. Those with the same bytes need not be read again.
    pub files: Vec<KnownFile>,
}

impl State {
    /// The state after a load numbered `number` that reached `head`. Where it `follows` on what was there, its part, if it read anything, comes
    /// behind those; else it takes their place.
    pub(super) fn after(
        &self,
        number: u32,
        head: Option<Head>,
        follows: bool,
        read: bool,
        files: Vec<KnownFile>,
    ) -> State {
        let mut loads = if follows { self.loads.clone() } else { Vec::new() };
        if read || loads.is_empty() {
            loads.push(number);
        }
        State { format: FORMAT, head, loads, number, files }
    }
}

/// What every layout's `state.json` says.
#[derive(Deserialize)]
struct Layout {
    format: u32,
}

/// A warehouse folder, held by this process alone while the value lives.
pub struct Warehouse {
    path: PathBuf,
    state: State,
    _lock: File,
}

impl Warehouse {
    /// Opens a folder, or makes it (mode 0700: the warehouse is private to the bureau), and locks it.
    pub fn open_or_create(path: &Path) -> Result<Warehouse, WarehouseError> {
        let io = |source| WarehouseError::io(path, source);
        if !path.exists() {
            use std::os::unix::fs::DirBuilderExt;
            // What stands around it is as open as the operator's umask says: snapshots are published there.
            if let Some(around) = path.parent() {
                fs::create_dir_all(around).map_err(io)?;
            }
            fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io)?;
        }
        let lock = path.join(".lock");
        let file = File::create(&lock).map_err(|source| WarehouseError::io(&lock, source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(WarehouseError::Busy { path: path.to_path_buf() }),
            Err(fs::TryLockError::Error(source)) => return Err(WarehouseError::io(&lock, source)),
        }
        let state = read_state(path)?;
        Ok(Warehouse { path: path.to_path_buf(), state, _lock: file })
    }

    /// Opens a folder that has been loaded.
    pub fn open(path: &Path) -> Result<Warehouse, WarehouseError> {
        if !path.join(STATE).exists() {
            return Err(WarehouseError::NotAWarehouse {
                path: path.to_path_buf(),
                what: "there is no warehouse here".to_owned(),
            });
        }
        let warehouse = Warehouse::open_or_create(path)?;
        if warehouse.state.loads.is_empty() {
            return Err(WarehouseError::NotAWarehouse {
                path: path.to_path_buf(),
                what: format!("{STATE} is of another version"),
            });
        }
        Ok(warehouse)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What has been loaded.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The Parquet parts of a ledger table, in `seq` order.
    ///
    /// Every table has at least one part, though it may hold no row.
    pub fn parts(&self, table: &str) -> Vec<PathBuf> {
        self.state.loads.iter().map(|number| self.part(table, *number)).collect()
    }

    /// A file or folder of the warehouse.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder of the inputs that the last load kept.
    pub fn inputs(&self) -> PathBuf {
        self.inputs_of(self.number())
    }

    /// The number of the last load: another one means another ledger or other inputs.
    pub fn number(&self) -> u32 {
        self.state.number
    }

    fn inputs_of(&self, number: u32) -> PathBuf {
        self.path.join("inputs").join(format!("{number:06}"))
    }

    /// Writes the inputs of a load that is about to be committed.
    pub(super) fn keep_inputs(&self, number: u32, inputs: &[(String, Input)]) -> Result<(), WarehouseError> {
        let folder = self.inputs_of(number);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|source| WarehouseError::io(&folder, source))?;
        }
        fs::create_dir_all(&folder).map_err(|source| WarehouseError::io(&folder, source))?;
        for (name, input) in inputs {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(&folder);
            let keep = || {
                fs::create_dir_all(parent)?;
                match input {
                    Input::Bytes(bytes) => fs::write(&path, bytes)?,
                    Input::File(file) => fs::copy(file, &path).map(drop)?,
                    Input::Folder => fs::create_dir_all(&path)?,
                }
                File::open(&path)?.sync_all()
            };
            keep().map_err(|source| WarehouseError::io(&path, source))?;
            sync_folder(parent)?;
        }
        sync_folder(&folder)
    }

    pub(super) fn part(&self, table: &str, number: u32) -> PathBuf {
        self.path.join(table).join(format!("{number:06}.parquet"))
    }

    /// Makes a state the one in force, once its parts are on disk, and removes the parts that it no longer names.
    pub(super) fn commit(&mut self, state: State, tables: &[&str]) -> Result<(), WarehouseError> {
        let text = serde_json::to_vec_pretty(&state).unwrap_or_default();
        for table in tables {
            sync_folder(&self.path.join(table))?;
        }
        write_durably(&self.path.join(STATE), &text)?;
        self.state = state;
        self.sweep(tables)?;
        let keep = self.inputs();
        for folder in fs::read_dir(self.path.join("inputs")).into_iter().flatten().flatten() {
            if folder.path() != keep {
                fs::remove_dir_all(folder.path()).map_err(|source| WarehouseError::io(&folder.path(), source))?;
            }
        }
        Ok(())
    }

    /// Removes parts that no state names: those of a load that failed, or was replaced.
    pub(super) fn sweep(&self, tables: &[&str]) -> Result<(), WarehouseError> {
        for table in tables {
            let folder = self.path.join(table);
            let keep = self.parts(table);
            let Ok(files) = fs::read_dir(&folder) else { continue };
            for file in files.flatten() {
                let path = file.path();
                if path.extension().is_some_and(|end| end == "parquet") && !keep.contains(&path) {
                    fs::remove_file(&path).map_err(|source| WarehouseError::io(&path, source))?;
                }
            }
        }
        Ok(())
    }
}

/// The state of a folder; an empty one where there is none, or one of another version.
fn read_state(path: &Path) -> Result<State, WarehouseError> {
    let file = path.join(STATE);
    match fs::read(&file) {
        Ok(text) => {
            let unread = |fault| WarehouseError::NotAWarehouse {
                path: path.to_path_buf(),
                what: format!("{STATE} cannot be read ({fault})"),
            };
            // The shape of another layout's state is that layout's affair.
            if serde_json::from_slice::<Layout>(&text).map_err(unread)?.format == FORMAT {
                return serde_json::from_slice(&text).map_err(unread);
            }
            tracing::info!("{}: of another version of this program; its ledger is loaded anew", path.display());
            Ok(State::default())
        }
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(State::default()),
        Err(source) => Err(WarehouseError::io(&file, source)),
    }
}

/// Writes a file whole or not at all: a temporary sibling, synced, renamed over it, and the folder synced.
pub(crate) fn write_durably(path: &Path, content: &[u8]) -> Result<(), WarehouseError> {
    let beside = path.with_extension("tmp");
    let write = || {
        let mut file = File::create(&beside)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|source| WarehouseError::io(path, source))?;
    path.parent().map_or(Ok(()), sync_folder)
}

fn sync_folder(path: &Path) -> Result<(), WarehouseError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|source| WarehouseError::io(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warehouse_belongs_to_one_run_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("warehouse");
        let first = Warehouse::open_or_create(&path).unwrap();
        assert!(matches!(Warehouse::open_or_create(&path), Err(WarehouseError::Busy { .. })));
        drop(first);
        assert!(Warehouse::open_or_create(&path).is_ok());
        assert!(matches!(Warehouse::open(&path), Err(WarehouseError::NotAWarehouse { .. })));
    }

    #[test]
    fn the_state_of_another_layout_is_none_and_a_broken_one_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let opened = |text: &str| {
            fs::write(folder.path().join(STATE), text).unwrap();
            Warehouse::open_or_create(folder.path()).map(|warehouse| warehouse.state().clone())
        };
        for other in [r#"{"format":3,"head":null,"loads":[1]}"#, r#"{"format":99,"tables":{}}"#] {
            assert_eq!(opened(other).unwrap(), State::default());
        }
        for broken in ["{", "{}", r#"{"format":4}"#] {
            assert!(matches!(opened(broken), Err(WarehouseError::NotAWarehouse { .. })), "{broken}");
        }
    }

    #[test]
    fn only_parts_that_the_state_names_survive_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut warehouse = Warehouse::open_or_create(folder.path()).unwrap();
        fs::create_dir(folder.path().join("fact")).unwrap();
        for number in 1..=3 {
            File::create(warehouse.part("fact", number)).unwrap();
        }
        let head = Some(Head { seq: 7, entry_hash: "h".to_owned() });
        let state = State::default().after(2, head.clone(), false, true, vec![]).after(3, head, true, true, vec![]);
        warehouse.commit(state.clone(), &["fact"]).unwrap();
        drop(warehouse);
        let warehouse = Warehouse::open(folder.path()).unwrap();
        assert_eq!(warehouse.state(), &state);
        assert!(!warehouse.part("fact", 1).exists());
        assert!(warehouse.parts("fact").iter().all(|part| part.exists()));
    }
}
