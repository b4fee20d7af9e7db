//! Runs the binary in a fresh folder, and reads what it leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bureau::ledger::{self, canonical};
use serde_json::Value;
use tempfile::TempDir;

pub const AS_OF: &str = "2026-11-30T00:00:00Z";

/// A fixture of the repository.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// A copy of a folder, free to be changed.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for item in fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        let target = to.join(item.file_name());
        if item.file_type().unwrap().is_dir() {
            copy(&item.path(), &target);
        } else {
            fs::copy(item.path(), target).unwrap();
        }
    }
}

/// A fresh folder with a key and, as `export`, a copy of a fixture's export.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new(name: &str) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        copy(&fixture(name).join("export"), &place.path("export"));
        place.make_key("key");
        place
    }

    /// Makes NAME.pem, and NAME.pub with the public key in base64.
    pub fn make_key(&self, name: &str) {
        let made = self.bureau(&["keygen", "--out", &format!("{name}.pem")]);
        assert!(made.status.success(), "{made:?}");
        let said = String::from_utf8(made.stdout).unwrap();
        let key = said.lines().find_map(|line| line.strip_prefix("key ")).unwrap();
        fs::write(self.path(&format!("{name}.pub")), key).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the command in the folder.
    pub fn bureau(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_bureau")).args(arguments).current_dir(self.folder.path()).output().unwrap()
    }

    /// A whole night over `export` with the key, into `out`, with more arguments.
    pub fn night(&self, out: &str, more: &[&str]) -> Output {
        let mut arguments = vec!["run", "--export", "export", "--out", out, "--as-of", AS_OF];
        arguments.extend(["--salt-file", "export/anchor.salt", "--key", "key.pem"]);
        arguments.extend(more);
        self.bureau(&arguments)
    }

    /// Loads `export` into a warehouse, with more arguments.
    pub fn load(&self, warehouse: &str, more: &[&str]) -> Output {
        let mut arguments = vec!["load", "--export", "export", "--warehouse", warehouse];
        arguments.extend(["--salt-file", "export/anchor.salt"]);
        arguments.extend(more);
        self.bureau(&arguments)
    }

    pub fn snapshot(&self, out: &str) -> PathBuf {
        self.path(out).join("snapshots/2026-11-30T00-00-00Z")
    }

    /// The inner objects of one kind of document, canonical, in their order.
    pub fn documents(&self, out: &str, name: &str, member: &str) -> Vec<String> {
        let file = fs::read(self.snapshot(out).join(format!("{name}.jsonl.zst"))).unwrap();
        let text = zstd::decode_all(file.as_slice()).unwrap();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines
            .map(|line| {
                let document: Value = serde_json::from_slice(line).unwrap();
                String::from_utf8(canonical::to_vec(&document[member])).unwrap()
            })
            .collect()
    }
}

pub fn assert_success(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What a run said on standard error that is no log line.
pub fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().filter(|line| line.starts_with("bureau: ")).collect::<Vec<_>>().join("\n")
}

/// Every file below a folder with its bytes, by relative path.
pub fn files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                found.push((path.strip_prefix(root).unwrap().to_path_buf(), fs::read(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(root, root, &mut found);
    found.sort();
    found
}

/// Links and hashes a ledger anew from the entry at `from`, in canonical form.
pub fn chained(lines: &[String], from: usize) -> Vec<String> {
    let mut previous = ledger::NO_HASH.to_owned();
    let link = |(index, line): (usize, &String)| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        if index < from {
            previous = entry["entry_hash"].as_str().unwrap().to_owned();
            return line.clone();
        }
        let members = entry.as_object_mut().unwrap();
        members.remove("entry_hash");
        members.remove("prev_hash");
        let hash = ledger::entry_hash(&canonical::to_vec(&entry), &previous);
        entry["prev_hash"] = previous.as_str().into();
        previous = STANDARD.encode(hash);
        entry["entry_hash"] = previous.as_str().into();
        String::from_utf8(canonical::to_vec(&entry)).unwrap()
    };
    lines.iter().enumerate().map(link).collect()
}
