//! The snapshot room: canonical documents, signatures, the manifest, publication, and checking what someone else published
//! (profile part 3). It knows bytes, keys and files; it knows no SQL and computes no figure.
//!
//! A night's reports arrive as lines of canonical JSON, sorted. [`publish`](publish::publish) signs each line
//! ([`document`]), writes it beside what is already there, lists every file with its digests ([`manifest`]), and
//! renames the whole into its place. [`check`](check::check) is the other half: it trusts nothing but the bytes that it
//! reads and, where one is pinned, a key.
//!
//! | file | what it knows |
//! | --- | --- |
//! | [`keys`] | Ed25519 keys in PKCS#8 PEM, their key ids, strict verification |
//! | [`history`] | `keys.json`: the current key and the retired ones with their validity (3.4) |
//! | [`document`] | the signed document and its tags (3.2) |
//! | [`manifest`] | `manifest.json` and `SHA256SUMS` (3.3) |
//! | [`tables`] | Parquet whose bytes depend on nothing but the rows (3.3) |
//! | [`probe`] | whether a directory can be published in, before a night's work |
//! | [`publish`] | whole or not at all (3.3) |
//! | [`check`] | every digest, every signature, every line |

mod build;
mod canonical;
pub mod check;
pub mod document;
mod error;
mod files;
mod fsys;
pub mod history;
pub mod keys;
pub mod manifest;
mod place;
mod previous;
pub mod probe;
pub mod publish;
pub mod tables;

pub use error::SnapshotError;

#[cfg(test)]
mod testing;
