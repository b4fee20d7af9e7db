//! The directory's names: which file is which, and what may not stand beside what.

use super::{ExportError, irregular};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of the export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its name inside the export directory with `/`, as messages use it.
    pub name: Arc<str>,
}

/// The files of an export directory (1.1). Other names are ignored, and inside `ledger/` all with a leading dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The directory.
    pub root: PathBuf,
    /// `ledger.jsonl`, or the files of `ledger/` in name order. Empty where `rating/` stands alone.
    pub ledger: Vec<ExportFile>,
    /// `identities.jsonl`; there whenever a ledger is.
    pub identities: Option<ExportFile>,
    /// `charters.jsonl`.
    pub charters: Option<ExportFile>,
    /// `reporters.jsonl`; there whenever a ledger is.
    pub reporters: Option<ExportFile>,
    /// `policy.toml`. Whoever reads the policy judges its absence.
    pub policy: Option<ExportFile>,
    /// The directory `rating/`. What its files are is judged with their rows (part 4), since a wrong one is a finding there.
    pub rating: Option<PathBuf>,
}

impl Export {
    /// Looks through `root` and decides which file is which. Opens no file.
    ///
    /// # Errors
    /// A directory that cannot be listed, a file missing that 1.1 does not call optional, two spellings of one file,
    /// a directory, fifo, socket or device under the name of a file.
    pub fn open(root: &Path) -> Result<Export, ExportError> {
        let top = Listing::of(root, "")?;
        let ledger = ledger_files(root, &top)?;
        let rating = top.directory("rating").then(|| root.join("rating"));
        let export = Export {
            root: root.to_path_buf(),
            identities: top.jsonl("identities")?,
            charters: top.jsonl("charters")?,
            reporters: top.jsonl("reporters")?,
            policy: top.file("policy.toml")?,
            ledger,
            rating,
        };
        let missing = |what| Err(ExportError::Missing { path: root.to_path_buf(), what });
        match (export.ledger.is_empty(), &export.rating) {
            (true, None) => missing("ledger.jsonl, no ledger/*.jsonl and no rating/ (.zst and .gz looked for too)"),
            (false, _) if export.identities.is_none() => missing("identities.jsonl (.zst and .gz looked for too)"),
            (false, _) if export.reporters.is_none() => missing("reporters.jsonl (.zst and .gz looked for too)"),
            _ => Ok(export),
        }
    }
}

fn ledger_files(root: &Path, top: &Listing) -> Result<Vec<ExportFile>, ExportError> {
    let single = top.jsonl("ledger")?;
    let many = match top.directory("ledger") {
        true => Listing::of(&root.join("ledger"), "ledger/")?.all_jsonl()?,
        false => Vec::new(),
    };
    match (single, many.first()) {
        (Some(single), Some(part)) => Err(ExportError::TwoSpellings { first: single.name, second: part.name.clone() }),
        (Some(single), None) => Ok(vec![single]),
        (None, _) => Ok(many),
    }
}

/// What one directory holds.
struct Listing {
    /// Ordered by `base`, then by name.
    items: Vec<Item>,
}

struct Item {
    /// The name in its directory less `.zst` or `.gz`.
    base: String,
    file: ExportFile,
    directory: bool,
    /// What it is, where it is no regular file.
    found: Option<&'static str>,
}

impl Item {
    /// The file, where it is one.
    fn regular(&self) -> Result<ExportFile, ExportError> {
        match self.found {
            Some(found) => Err(ExportError::NotRegular { file: self.file.name.clone(), found }),
            None => Ok(self.file.clone()),
        }
    }
}

impl Listing {
    fn of(path: &Path, prefix: &str) -> Result<Listing, ExportError> {
        let fault = |source| ExportError::Directory { path: path.to_path_buf(), source };
        let mut items = Vec::new();
        for entry in fs::read_dir(path).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            // A name that is not UTF-8 is none of 1.1.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            // Follows links; one that leads nowhere counts as a file, so that opening it says so.
            let metadata = fs::metadata(entry.path()).ok();
            items.push(Item {
                base: uncompressed(&name).to_owned(),
                file: ExportFile { path: entry.path(), name: format!("{prefix}{name}").into() },
                directory: metadata.as_ref().is_some_and(fs::Metadata::is_dir),
                found: metadata.as_ref().and_then(irregular),
            });
        }
        items.sort_by(|a, b| (&a.base, &a.file.name).cmp(&(&b.base, &b.file.name)));
        Ok(Listing { items })
    }

    fn directory(&self, name: &str) -> bool {
        self.items.iter().any(|item| item.directory && *item.file.name == *name)
    }

    fn file(&self, name: &str) -> Result<Option<ExportFile>, ExportError> {
        self.items.iter().find(|item| *item.file.name == *name).map(Item::regular).transpose()
    }

    /// `<stem>.jsonl` in whichever of its three spellings is there.
    fn jsonl(&self, stem: &str) -> Result<Option<ExportFile>, ExportError> {
        let mut found = self.items.iter().filter(|item| item.base.strip_suffix(".jsonl") == Some(stem));
        let first = found.next().map(Item::regular).transpose()?;
        let second = found.next().map(Item::regular).transpose()?;
        match (first, second) {
            (Some(first), Some(second)) => Err(ExportError::TwoSpellings { first: first.name, second: second.name }),
            (first, _) => Ok(first),
        }
    }

    /// Every `*.jsonl`, in the order of the uncompressed names, so that compressing a file moves nothing. As with the
    /// shell's pattern of that form, a hidden file is none.
    fn all_jsonl(&self) -> Result<Vec<ExportFile>, ExportError> {
        let mut found: Vec<(&str, ExportFile)> = Vec::new();
        for item in self.items.iter().filter(|item| item.base.ends_with(".jsonl") && !item.base.starts_with('.')) {
            let file = item.regular()?;
            match found.last() {
                Some((last, first)) if *last == item.base => {
                    return Err(ExportError::TwoSpellings { first: first.name.clone(), second: file.name });
                }
                _ => found.push((&item.base, file)),
            }
        }
        Ok(found.into_iter().map(|(_, file)| file).collect())
    }
}

fn uncompressed(name: &str) -> &str {
    name.strip_suffix(".zst").or_else(|| name.strip_suffix(".gz")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(names: &[&str]) -> (tempfile::TempDir, Result<Export, ExportError>) {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let opened = Export::open(dir.path());
        (dir, opened)
    }

    fn refused(names: &[&str]) -> String {
        let (dir, opened) = export(names);
        opened.unwrap_err().to_string().replace(&dir.path().display().to_string(), "DIR")
    }

    fn names(files: &[ExportFile]) -> Vec<&str> {
        files.iter().map(|f| &*f.name).collect()
    }

    #[test]
    fn one_ledger_file_or_many_in_name_order() {
        let (_dir, opened) = export(&[
            "ledger.jsonl.gz",
            "identities.jsonl",
            "reporters.jsonl.zst",
            "policy.toml",
            "notes.txt",
            "ledger/README",
        ]);
        let opened = opened.unwrap();
        assert_eq!(names(&opened.ledger), ["ledger.jsonl.gz"]);
        assert!(opened.policy.is_some() && opened.charters.is_none() && opened.rating.is_none());
        let (_dir, opened) = export(&[
            "ledger/10.jsonl",
            "ledger/2.jsonl.zst",
            "ledger/1.jsonl.gz",
            "ledger/x.json",
            "charters.jsonl",
            "identities.jsonl",
            "reporters.jsonl",
        ]);
        let opened = opened.unwrap();
        assert_eq!(names(&opened.ledger), ["ledger/1.jsonl.gz", "ledger/10.jsonl", "ledger/2.jsonl.zst"]);
        assert!(opened.charters.is_some());
    }

    #[test]
    fn rating_tables_stand_alone() {
        let (dir, opened) = export(&["rating/transactions.jsonl.zst", "rating/notes.md"]);
        let opened = opened.unwrap();
        assert_eq!(opened.rating, Some(dir.path().join("rating")));
        assert!(opened.ledger.is_empty());
    }

    #[test]
    fn what_is_missing_or_there_twice_is_named() {
        let rest = ["identities.jsonl", "reporters.jsonl"];
        let with = |more: &[&'static str]| refused(&[more, &rest].concat());
        assert_eq!(
            refused(&rest),
            "DIR holds no ledger.jsonl, no ledger/*.jsonl and no rating/ (.zst and .gz looked for too)"
        );
        assert!(refused(&["ledger.jsonl", "reporters.jsonl"]).starts_with("DIR holds no identities.jsonl"));
        assert!(refused(&["ledger.jsonl", "identities.jsonl"]).starts_with("DIR holds no reporters.jsonl"));
        assert!(with(&["ledger.jsonl", "ledger.jsonl.zst"]).starts_with("ledger.jsonl and ledger.jsonl.zst are two"));
        assert!(with(&["ledger.jsonl", "ledger/1.jsonl"]).starts_with("ledger.jsonl and ledger/1.jsonl are two"));
        assert!(
            with(&["ledger/1.jsonl.gz", "ledger/1.jsonl.zst"])
                .starts_with("ledger/1.jsonl.gz and ledger/1.jsonl.zst are two")
        );
        assert!(
            with(&["ledger.jsonl", "charters.jsonl", "charters.jsonl.gz"])
                .starts_with("charters.jsonl and charters.jsonl.gz")
        );
        assert!(matches!(Export::open(Path::new("/nowhere/at/all")), Err(ExportError::Directory { .. })));
    }

    #[test]
    fn what_is_no_regular_file_is_refused_unopened_and_hidden_parts_are_ignored() {
        let whole = ["ledger/1.jsonl", "identities.jsonl", "reporters.jsonl"];
        for name in [
            "ledger.jsonl",
            "identities.jsonl.gz",
            "charters.jsonl.zst",
            "reporters.jsonl",
            "policy.toml",
            "ledger/2.jsonl",
        ] {
            let (dir, _) = export(&whole);
            let path = dir.path().join(name);
            let _absent = fs::remove_file(&path);
            fs::create_dir(&path).unwrap();
            let text = Export::open(dir.path()).unwrap_err().to_string();
            assert_eq!(text, format!("{name}: a directory, where a regular file should be"));
        }
        let (dir, _) = export(&whole);
        let policy = dir.path().join("policy.toml");
        assert!(std::process::Command::new("mkfifo").arg(&policy).status().unwrap().success());
        let text = Export::open(dir.path()).unwrap_err().to_string();
        assert_eq!(text, "policy.toml: a fifo, where a regular file should be");
        fs::remove_file(&policy).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &policy).unwrap();
        let text = Export::open(dir.path()).unwrap_err().to_string();
        assert_eq!(text, "policy.toml: a device, where a regular file should be");
        fs::remove_file(&policy).unwrap();
        std::os::unix::fs::symlink(dir.path().join("identities.jsonl"), &policy).unwrap();
        fs::write(dir.path().join("ledger/._1.jsonl"), "rubbish").unwrap();
        fs::create_dir(dir.path().join("ledger/.2.jsonl.gz")).unwrap();
        let opened = Export::open(dir.path()).unwrap();
        assert!(opened.policy.is_some());
        assert_eq!(names(&opened.ledger), ["ledger/1.jsonl"]);
    }
}
