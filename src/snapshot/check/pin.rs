//! The key that a reader expects to have signed.

use std::io::{self, Read};
use std::path::Path;

use super::super::SnapshotError;
use super::super::keys::PublicKey;
use crate::export::open_regular;

/// The key that a reader expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pin {
    /// The key itself.
    Key(PublicKey),
    /// Its key id.
    Kid(String),
}

impl Pin {
    /// Reads a public key: PEM, or base64 of its 32 bytes.
    pub fn from_file(path: &Path) -> Result<Self, SnapshotError> {
        let mut text = String::new();
        let fault = |reason: &str| SnapshotError::Key { place: path.display().to_string(), reason: reason.to_owned() };
        let opened = open_regular(path).map_err(SnapshotError::io("read the key", path))?;
        let read = opened.map_err(|found| fault(&found))?.take(64 << 10).read_to_string(&mut text);
        match read {
            Err(reason) if reason.kind() == io::ErrorKind::InvalidData => {
                return Err(fault("is not text"));
            }
            other => other.map_err(SnapshotError::io("read the key", path))?,
        };
        if text.contains("PRIVATE KEY") {
            return Err(fault("is a private key; a check needs the public one (openssl pkey -pubout)"));
        }
        PublicKey::from_text(&text).map(Self::Key).ok_or_else(|| fault("is not an Ed25519 public key in PEM or base64"))
    }

    /// A key id: 43 characters of base64url.
    pub fn from_kid(kid: &str) -> Result<Self, SnapshotError> {
        let well_formed =
            kid.len() == 43 && kid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        match well_formed {
            true => Ok(Self::Kid(kid.to_owned())),
            false => Err(SnapshotError::Key {
                place: format!("key id {kid:?}"),
                reason: "is not an RFC 7638 thumbprint".to_owned(),
            }),
        }
    }

    pub(super) fn accepts(&self, key: &PublicKey) -> bool {
        match self {
            Self::Key(pinned) => pinned == key,
            Self::Kid(kid) => *kid == key.kid(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_to_pin_is_a_regular_file_and_nothing_else_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for (path, found) in
            [(fifo.as_path(), "a fifo"), (folder.path(), "a directory"), (Path::new("/dev/zero"), "a device")]
        {
            let refused = Pin::from_file(path).unwrap_err();
            assert_eq!(refused.to_string(), format!("{}: {found}, where a regular file should be", path.display()));
            assert_eq!(refused.exit_code(), 1);
        }
        // A link to a regular file is one.
        let (file, link) = (folder.path().join("key"), folder.path().join("link"));
        std::fs::write(&file, super::super::super::testing::key().public().base64()).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(Pin::from_file(&link).is_ok());
    }
}
