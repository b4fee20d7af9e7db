//! The reference: one signature, decided on its own (profile 1.4).

use ed25519_dalek::Signature;

use super::Key;

/// Whether `signature` is a strict signature of `message` under `key`: the verdict of `verify_strict`, with the key's
/// encoding canonical and its order not small ([`Key`] admits no other).
///
/// It holds exactly where S < L, R is the canonical encoding of a point that is not of small order, and
/// \[S\]B - \[k\]A = R for k = SHA-512(R ‖ A ‖ message), with no factor of 8 on either side.
pub fn verify_strict(key: &Key, message: &[u8], signature: &[u8; 64]) -> bool {
    key.verifying().verify_strict(message, &Signature::from_bytes(signature)).is_ok()
}
