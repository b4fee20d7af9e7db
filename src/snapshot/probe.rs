//! Whether a directory can be published in, asked before a night's work.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::SnapshotError;
use super::fsys::{Disk, Real};
use super::place::latest_is_free;
use super::publish::LOCK;

/// Makes the directory and a file in it, as [`publish`](super::publish::publish) would, and removes again what it made.
///
/// Another run that publishes there now is no fault: it may be done by the time that this one comes to publish.
pub fn probe(snapshots: &Path) -> Result<(), SnapshotError> {
    // The innermost first, as they are removed.
    let missing: Vec<&Path> =
        snapshots.ancestors().filter(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    let disk = Disk(&Real);
    let probed = disk.create_folders(snapshots).and_then(|()| takes_files(disk, snapshots));
    for folder in missing {
        // One that is not empty any more is another run's too.
        let _ = fs::remove_dir(folder);
    }
    probed
}

fn takes_files(disk: Disk<'_>, snapshots: &Path) -> Result<(), SnapshotError> {
    latest_is_free(snapshots)?;
    // One that another user's run left may not be ours to lock.
    let lock = snapshots.join(LOCK);
    match OpenOptions::new().write(true).open(&lock) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(SnapshotError::io("write", &lock)(fault)),
        _ => {}
    }
    let path = snapshots.join(format!(".probe-{}", std::process::id()));
    // What a killed run of the same number left would be in the way.
    let _ = fs::remove_file(&path);
    let written =
        disk.create(&path).and_then(|mut file| file.write_all(b"\n").map_err(SnapshotError::io("write", &path)));
    let removed = fs::remove_file(&path).map_err(SnapshotError::io("remove", &path));
    written.and(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_probe() {
        let folder = tempfile::tempdir().unwrap();
        let left = || fs::read_dir(folder.path()).unwrap().count();
        probe(&folder.path().join("a/b/snapshots")).unwrap();
        assert_eq!(left(), 0);
        // What was there before stays.
        let snapshots = folder.path().join("out/snapshots");
        fs::create_dir_all(&snapshots).unwrap();
        fs::write(snapshots.join(LOCK), "").unwrap();
        std::os::unix::fs::symlink("nowhere", snapshots.join("latest")).unwrap();
        probe(&snapshots).unwrap();
        assert_eq!((left(), fs::read_dir(&snapshots).unwrap().count()), (1, 2));
    }

    #[test]
    fn what_stands_in_the_way_is_told_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
        fs::create_dir_all(at("locked").join(LOCK)).unwrap();
        fs::create_dir_all(at("moved/latest")).unwrap();
        let before = fs::read_dir(folder.path()).unwrap().count();
        let cases = [
            ("file", 3),
            ("file/snapshots", 3),
            ("dangling", 3),
            ("dangling/snapshots", 3),
            ("locked", 3),
            ("moved", 1),
        ];
        for (name, code) in cases {
            let fault = probe(&at(name)).expect_err(name);
            assert_eq!((fault.exit_code(), fault.to_string().lines().count()), (code, 1), "{fault}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "{name}");
        }
        assert_eq!(fs::read(at("file")).unwrap(), b"x");
        assert_eq!(probe(Path::new("/proc/out/snapshots")).unwrap_err().exit_code(), 3);
    }
}
