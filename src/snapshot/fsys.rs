//! Every call that changes the disk goes through one seam, so that a test can make each of them fail in turn.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::SnapshotError;

/// Decides whether a call is made. The real one makes it; a test's may fail before it or after it.
pub(super) trait Seam: Sync {
    /// Makes the call `act`, named `action`, on `path`.
    fn call(&self, action: &'static str, path: &Path, act: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()>;
}

/// The disk as it is.
pub(super) struct Real;

impl Seam for Real {
    fn call(&self, _: &'static str, _: &Path, act: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        act()
    }
}

/// The calls of the publishing order, each with its place in the error.
#[derive(Clone, Copy)]
pub(super) struct Disk<'a>(pub(super) &'a dyn Seam);

type Done = Result<(), SnapshotError>;

impl<'a> Disk<'a> {
    fn call(self, action: &'static str, path: &Path, act: &mut dyn FnMut() -> io::Result<()>) -> Done {
        self.0.call(action, path, act).map_err(SnapshotError::io(action, path))
    }

    /// `mkdir`; the folder must not exist.
    pub(super) fn create_folder(self, path: &Path) -> Done {
        self.call("create the folder", path, &mut || fs::create_dir(path))
    }

    /// `mkdir -p`, each new folder's parent synced.
    pub(super) fn create_folders(self, path: &Path) -> Done {
        if path.as_os_str().is_empty() || path.is_dir() {
            return Ok(());
        }
        let parent = path.parent().unwrap_or(Path::new(""));
        self.create_folders(parent)?;
        match self.create_folder(path) {
            Err(_) if path.is_dir() => Ok(()),
            made => made.and_then(|()| self.sync_folder(parent)),
        }
    }

    /// A new file that must not exist (`O_CREAT | O_EXCL`).
    pub(super) fn create(self, path: &'a Path) -> Result<NewFile<'a>, SnapshotError> {
        let mut made = None;
        self.call("create", path, &mut || {
            OpenOptions::new().write(true).create_new(true).open(path).map(|file| made = Some(file))
        })?;
        match made {
            Some(file) => Ok(NewFile { disk: self, path, file }),
            None => Err(SnapshotError::io("create", path)(io::ErrorKind::Other.into())),
        }
    }

    /// `fsync` of a folder, which makes its names durable. A path of no components is the working directory.
    pub(super) fn sync_folder(self, path: &Path) -> Done {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        self.call("sync the folder", path, &mut || File::open(path)?.sync_all())
    }

    /// `rename(2)`.
    pub(super) fn rename(self, from: &Path, to: &Path) -> Done {
        self.call("rename to", to, &mut || fs::rename(from, to))
    }

    /// `symlink(2)`.
    pub(super) fn symlink(self, target: &Path, link: &Path) -> Done {
        self.call("create the link", link, &mut || std::os::unix::fs::symlink(target, link))
    }

    /// `link(2)`: a second name for a file.
    pub(super) fn hard_link(self, file: &Path, name: &Path) -> Done {
        self.call("link", name, &mut || fs::hard_link(file, name))
    }

    /// `unlink(2)`.
    pub(super) fn remove_file(self, path: &Path) -> Done {
        self.call("remove", path, &mut || fs::remove_file(path))
    }

    /// Removes a folder of this room's own making with all that is in it. Links in it are removed, not followed.
    pub(super) fn remove_folder(self, path: &Path) -> Done {
        self.call("remove", path, &mut || fs::remove_dir_all(path))
    }
}

/// A file being written for the first time.
pub(super) struct NewFile<'a> {
    disk: Disk<'a>,
    path: &'a Path,
    file: File,
}

impl NewFile<'_> {
    /// `fsync`; only then may anything be renamed over this file's folder.
    pub(super) fn sync(self) -> Done {
        self.disk.call("sync", self.path, &mut || self.file.sync_all())
    }
}

impl Write for NewFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = &mut self.file;
        self.disk.0.call("write", self.path, &mut || file.write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
