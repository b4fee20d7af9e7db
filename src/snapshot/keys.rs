//! Ed25519 keys (3.4): the signing key as PKCS#8 PEM, the public key with its key id, and strict verification.
//!
//! `bureau_kid` is the RFC 7638 thumbprint of the key as an OKP JWK (RFC 8037): SHA-256 over
//! `{"crv":"Ed25519","kty":"OKP","x":"<base64url>"}`, in base64url without padding. The public key of RFC 8037's own
//! example, `11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo`, has the key id `kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k`.
//!
//! Verification is strict: a key or an R of small order is refused, and so is a key that is not spelt canonically.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::spki::der::zeroize::Zeroizing;
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, KeypairBytes, PublicKeyBytes};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

use super::SnapshotError;
use crate::export::open_regular;

/// A key file longer than this is none, and is not read.
const MAX_KEY_FILE: usize = 16 * 1024;

const TOO_LONG: &str = "is too long for a signing key";

/// The bureau's signing key. Its bytes are overwritten when it is dropped, and `Debug` shows the key id only.
pub struct BureauKey {
    secret: SigningKey,
    public: PublicKey,
}

impl BureauKey {
    /// Reads PKCS#8 PEM, version 1 or 2, from a regular file that only its owner may read and write.
    pub fn from_file(path: &Path) -> Result<Self, SnapshotError> {
        let place = path.display().to_string();
        let file = open_regular(path).map_err(SnapshotError::io("read the signing key", path))?;
        let file = file.map_err(|found| key_fault(&place, &found))?;
        let opened = file.metadata().map_err(SnapshotError::io("read the signing key", path))?;
        let mode = opened.mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(SnapshotError::KeyMode { path: path.to_path_buf(), mode });
        }
        if opened.len() > MAX_KEY_FILE as u64 {
            return Err(key_fault(&place, TOO_LONG));
        }
        // Room for all that is read, so that no reallocation leaves a copy behind.
        let mut text = Zeroizing::new(Vec::with_capacity(MAX_KEY_FILE + 1));
        file.take(MAX_KEY_FILE as u64 + 1)
            .read_to_end(&mut text)
            .map_err(SnapshotError::io("read the signing key", path))?;
        Self::from_bytes(&text, &place)
    }

    /// Reads PKCS#8 PEM from the text of an environment variable.
    pub fn from_env(variable: &str) -> Result<Self, SnapshotError> {
        let place = format!("environment variable {variable}");
        let text = std::env::var(variable).map_err(|_| key_fault(&place, "is not set, or is not text"))?;
        Self::from_pem(&Zeroizing::new(text), &place)
    }

    /// Reads PKCS#8 PEM; `place` names where it came from in errors.
    pub fn from_pem(pem: &str, place: &str) -> Result<Self, SnapshotError> {
        Self::from_bytes(pem.as_bytes(), place)
    }

    fn from_bytes(pem: &[u8], place: &str) -> Result<Self, SnapshotError> {
        if pem.len() > MAX_KEY_FILE {
            return Err(key_fault(place, TOO_LONG));
        }
        let text = std::str::from_utf8(pem).map_err(|_| key_fault(place, "is not PEM text"))?;
        if text.contains("BEGIN PUBLIC KEY") {
            return Err(key_fault(place, "is a public key; the signing key is needed"));
        }
        if text.contains("BEGIN ENCRYPTED PRIVATE KEY") {
            return Err(key_fault(place, "is encrypted; decrypt it with `openssl pkey` first"));
        }
        SigningKey::from_pkcs8_pem(text.trim()).map(Self::new).map_err(|_| {
            key_fault(place, "is not an Ed25519 private key in PKCS#8 PEM (openssl genpkey -algorithm ed25519)")
        })
    }

    fn new(secret: SigningKey) -> Self {
        let public = PublicKey { key: secret.verifying_key() };
        Self { secret, public }
    }

    /// A new key in memory: for `keygen`, or to be thrown away after a run.
    pub fn generate() -> Result<Self, SnapshotError> {
        let mut seed = Zeroizing::new([0u8; 32]);
        getrandom::fill(&mut *seed).map_err(|fault| key_fault("the system's random numbers", &fault.to_string()))?;
        Ok(Self::new(SigningKey::from_bytes(&seed)))
    }

    /// Writes the key as PKCS#8 PEM version 1, which `openssl pkey` reads, to a new file of mode 0600, synced with its folder.
    pub fn write_new(&self, path: &Path) -> Result<(), SnapshotError> {
        let pair = KeypairBytes { secret_key: self.secret.to_bytes(), public_key: None };
        let pem = pair
            .to_pkcs8_pem(LineEnding::LF)
            .map_err(|_| key_fault(&path.display().to_string(), "the key cannot be written as PKCS#8"))?;
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut file = opened.map_err(|fault| match fault.kind() {
            std::io::ErrorKind::AlreadyExists => SnapshotError::KeyExists(path.to_path_buf()),
            _ => SnapshotError::io("create", path)(fault),
        })?;
        let written = file.write_all(pem.as_bytes()).and_then(|()| file.sync_all());
        if let Err(fault) = written {
            // Half a key is of no use, and its name would be in the way of the next attempt.
            let _ = std::fs::remove_file(path);
            return Err(SnapshotError::io("write", path)(fault));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(SnapshotError::io("sync the folder", folder))
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Ed25519 over the tag, one newline and the canonical inner object (3.2).
    pub fn sign(&self, tag: &str, inner: &[u8]) -> [u8; 64] {
        self.secret.sign(&signing_text(tag, inner)).to_bytes()
    }
}

impl std::fmt::Debug for BureauKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "BureauKey({})", self.public.kid())
    }
}

fn key_fault(place: &str, reason: &str) -> SnapshotError {
    SnapshotError::Key { place: place.to_owned(), reason: reason.to_owned() }
}

fn signing_text(tag: &str, inner: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(tag.len() + 1 + inner.len());
    text.extend_from_slice(tag.as_bytes());
    text.push(b'\n');
    text.extend_from_slice(inner);
    text
}

/// An Ed25519 public key: canonical, and not of small order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: VerifyingKey,
}

impl PublicKey {
    /// The key of 32 bytes; none where they are not the canonical spelling of a point, or one of small order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let key = VerifyingKey::from_bytes(bytes).ok()?;
        // Decompression takes a y beyond the field and a negative zero; the canonical spelling is the one that comes back.
        (!key.is_weak() && key.to_edwards().compress().as_bytes() == bytes).then_some(Self { key })
    }

    /// The key of standard base64 with padding, in its one canonical spelling.
    pub fn from_base64(text: &str) -> Option<Self> {
        Self::from_bytes(&decode::<32>(text)?)
    }

    /// The key of a JWK's `x`: base64url without padding, canonical.
    pub fn from_jwk_x(text: &str) -> Option<Self> {
        Self::from_bytes(&URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?)
    }

    /// A key to pin: PEM (`openssl pkey -pubout`), or base64 of the 32 bytes.
    pub fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.starts_with("-----BEGIN PUBLIC KEY-----") {
            return Self::from_bytes(&PublicKeyBytes::from_public_key_pem(text).ok()?.0);
        }
        Self::from_base64(text)
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// `bureau_key`: standard base64 with padding.
    pub fn base64(&self) -> String {
        STANDARD.encode(self.bytes())
    }

    /// A JWK's `x`: base64url without padding.
    pub fn jwk_x(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.bytes())
    }

    /// `bureau_kid`: the RFC 7638 thumbprint.
    pub fn kid(&self) -> String {
        let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, self.jwk_x());
        URL_SAFE_NO_PAD.encode(Sha256::digest(jwk.as_bytes()))
    }

    /// Whether `signature` is this key's over the tag, a newline and the inner object; strictly.
    pub fn verify(&self, tag: &str, inner: &[u8], signature: &[u8; 64]) -> bool {
        self.key.verify_strict(&signing_text(tag, inner), &Signature::from_bytes(signature)).is_ok()
    }
}

/// Standard base64 of exactly `N` bytes, in its one canonical spelling.
pub(super) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    // The engine refuses missing padding and non-zero trailing bits, so a text that decodes is canonical.
    STANDARD.decode(text).ok()?.try_into().ok()
}

/// Standard base64 with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
