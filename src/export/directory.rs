//! The directory's names: which file is which, and what may not stand beside what.

use super::ExportError;
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

/// The files of an export directory (1.1). Files with other names are ignored.
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
    /// A directory that cannot be listed, a file missing that 1.1 does not call optional, two spellings of one file.
    pub fn open(root: &Path) -> Result<Export, ExportError> {
        let top = Listing::of(root, "")?;
        let ledger = ledger_files(root, &top)?;
        let rating = top.directory("rating").then(|| root.join("rating"));
        let export = Export {
            root: root.to_path_buf(),
            identities: top.jsonl("identities")?,
            charters: top.jsonl("charters")?,
            reporters: top.jsonl("reporters")?,
            policy: top.file("policy.toml"),
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
    /// Regular files with their name less `.zst` or `.gz`, ordered by it.
    files: Vec<(String, ExportFile)>,
    directories: Vec<String>,
}

impl Listing {
    fn of(path: &Path, prefix: &str) -> Result<Listing, ExportError> {
        let fault = |source| ExportError::Directory { path: path.to_path_buf(), source };
        let mut listing = Listing { files: Vec::new(), directories: Vec::new() };
        for entry in fs::read_dir(path).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            // A name that is not UTF-8 is none of 1.1.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            // Follows links; one that leads nowhere counts as a file, so that opening it says so.
            if entry.path().is_dir() {
                listing.directories.push(name);
            } else {
                let file = ExportFile { path: entry.path(), name: format!("{prefix}{name}").into() };
                listing.files.push((uncompressed(&name).to_owned(), file));
            }
        }
        listing.files.sort_by(|a, b| (&a.0, &a.1.name).cmp(&(&b.0, &b.1.name)));
        Ok(listing)
    }

    fn directory(&self, name: &str) -> bool {
        self.directories.iter().any(|d| d == name)
    }

    fn file(&self, name: &str) -> Option<ExportFile> {
        self.files.iter().find(|(_, f)| *f.name == *name).map(|(_, f)| f.clone())
    }

    /// `<stem>.jsonl` in whichever of its three spellings is there.
    fn jsonl(&self, stem: &str) -> Result<Option<ExportFile>, ExportError> {
        let mut found =
            self.files.iter().filter(|(base, _)| base.strip_suffix(".jsonl") == Some(stem)).map(|(_, file)| file);
        match (found.next(), found.next()) {
            (Some(first), Some(second)) => {
                Err(ExportError::TwoSpellings { first: first.name.clone(), second: second.name.clone() })
            }
            (first, _) => Ok(first.cloned()),
        }
    }

    /// Every `*.jsonl`, in the order of the uncompressed names, so that compressing a file moves nothing.
    fn all_jsonl(self) -> Result<Vec<ExportFile>, ExportError> {
        let mut found: Vec<(String, ExportFile)> = Vec::new();
        for (base, file) in self.files.into_iter().filter(|(base, _)| base.ends_with(".jsonl")) {
            match found.last() {
                Some((last, first)) if *last == base => {
                    return Err(ExportError::TwoSpellings { first: first.name.clone(), second: file.name });
                }
                _ => found.push((base, file)),
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
}
