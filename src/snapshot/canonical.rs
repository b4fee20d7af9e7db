//! The seam to the ledger's parser and canonical form (1.2, RFC 8785), as this room needs them.

use serde_json::Value;

use crate::ledger::json::{Literals, Parser};
use crate::ledger::{Node, canonical};

/// The canonical bytes of a document that this crate makes.
pub(super) fn to_vec(value: &Value) -> Vec<u8> {
    canonical::to_vec(value)
}

/// Parses one object that must already stand in canonical form, and reads it. The error says what is wrong with it.
pub(super) fn read<T>(bytes: &[u8], read: impl FnOnce(Node<'_>) -> Result<T, String>) -> Result<T, String> {
    let mut parser = Parser::new(Literals::Canonical);
    let root = parser.parse(bytes).map_err(|fault| fault.to_string())?.root();
    let mut written = Vec::with_capacity(bytes.len());
    canonical::write(root, &mut written);
    match written == bytes {
        true => read(root),
        false => Err("not in canonical form (RFC 8785)".to_owned()),
    }
}
