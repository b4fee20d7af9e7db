//! The manifest of a snapshot, once its form and its signature have been found right.

use std::io;
use std::path::Path;

use super::super::files::Digesting;
use super::super::keys::{self, PublicKey};
use super::super::manifest::{MANIFEST, MEMBER, Manifest, SCHEMA_VERSION, TAG};
use super::super::{canonical, document};
use super::tree;
use crate::instant;
use crate::ledger::Node;

/// The longest `manifest.json` or `SHA256SUMS` that is read, in bytes.
pub(super) const MAX_MANIFEST: u64 = 16 << 20;

/// The parts of a checked manifest that the rest is held against.
pub(super) struct Trusted {
    pub(super) manifest: Manifest,
    pub(super) as_of: i64,
    pub(super) key: PublicKey,
    pub(super) sha256: String,
    pub(super) bytes: u64,
}

/// Why a manifest cannot be trusted.
pub(super) enum Stop {
    Read(io::Error),
    Wrong(String),
}

/// Reads the manifest, and verifies it by the key that it states.
pub(super) fn read(root: &Path) -> Result<Trusted, Stop> {
    let bytes = tree::whole(root, MANIFEST, MAX_MANIFEST).map_err(Stop::Read)?;
    let wrong = |message: &str| Stop::Wrong(message.to_owned());
    let line = bytes.strip_suffix(b"\n").ok_or_else(|| wrong("does not end with a newline"))?;
    let parts = document::split(line, MEMBER).ok_or_else(|| wrong("is not a signed manifest in canonical form"))?;
    let key = PublicKey::from_base64(parts.key).ok_or_else(|| wrong("bureau_key is not a canonical Ed25519 key"))?;
    if key.kid() != parts.kid {
        return Err(wrong("bureau_kid is not the thumbprint of bureau_key"));
    }
    if !keys::decode(parts.signature).is_some_and(|signature| key.verify(TAG, parts.inner, &signature)) {
        return Err(wrong("bureau_sig does not verify"));
    }
    let version = canonical::read(parts.inner, |inner| Ok(inner.get("schema_version").and_then(Node::as_i64)))
        .map_err(Stop::Wrong)?;
    if version.and_then(|version| u64::try_from(version).ok()) != Some(SCHEMA_VERSION) {
        return Err(Stop::Wrong(format!("schema_version is not {SCHEMA_VERSION}, the one that is known here")));
    }
    let manifest = Manifest::unverified(&bytes).map_err(Stop::Wrong)?;
    let as_of = instant::parse(&manifest.as_of).ok().filter(|as_of| instant::format(*as_of) == manifest.as_of);
    let as_of = as_of.ok_or_else(|| wrong("as_of is not an instant as 3.2 spells it"))?;
    let mut digest = Digesting::new(io::sink());
    io::Write::write_all(&mut digest, &bytes).map_err(Stop::Read)?;
    let (_, sha256, bytes) = digest.finish();
    Ok(Trusted { manifest, as_of, key, sha256, bytes })
}
