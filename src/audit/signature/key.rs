//! A public key, decoded and classified once (profile 1.4).
//!
//! Keys and signatures are standard base64 with padding, in the one spelling an encoder writes: a text whose last
//! character has bits that no byte holds is refused, so no two texts name one key.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use curve25519_dalek::edwards::EdwardsPoint;
use ed25519_dalek::VerifyingKey;

/// Why nothing verifies under a key's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// Not the canonical base64 of 32 bytes. Such a key is bound to nobody.
    #[error("the key is no base64 of 32 bytes")]
    Spelling,
    /// 32 bytes that encode no point of the curve.
    #[error("the key is no point of the curve")]
    NotAPoint,
    /// A point written in another way than its own encoding: y not reduced, or the sign of x = 0 set.
    #[error("the key's encoding is not canonical")]
    NonCanonical,
    /// One of the eight points of small order, under which one signature can fit every message.
    #[error("the key is of small order")]
    SmallOrder,
}

/// The 32 bytes of a key's text, or `None` where it is not their canonical base64.
pub fn key_bytes(text: &str) -> Option<[u8; 32]> {
    decode::<32, 44, 33>(text)
}

/// The 64 bytes of a signature's text, or `None` where it is not their canonical base64.
pub fn signature_bytes(text: &str) -> Option<[u8; 64]> {
    decode::<64, 88, 66>(text)
}

/// `BYTES` bytes out of exactly `CHARS` characters, through the `ROOM` bytes that those could hold without padding.
fn decode<const BYTES: usize, const CHARS: usize, const ROOM: usize>(text: &str) -> Option<[u8; BYTES]> {
    if text.len() != CHARS {
        return None;
    }
    let mut room = [0u8; ROOM];
    let length = STANDARD.decode_slice(text, &mut room).ok()?;
    room.get(..length)?.try_into().ok()
}

/// A key under which signatures can verify: a point in its canonical encoding, not of small order.
#[derive(Debug, Clone)]
pub struct Key {
    verifying: VerifyingKey,
    prime_order: bool,
}

impl Key {
    /// Decodes a key's text.
    ///
    /// # Errors
    /// Whatever keeps every signature from verifying under it.
    pub fn decode(text: &str) -> Result<Self, KeyFault> {
        Self::from_bytes(&key_bytes(text).ok_or(KeyFault::Spelling)?)
    }

    /// Decodes and classifies 32 bytes.
    ///
    /// # Errors
    /// All of [`KeyFault`] but [`KeyFault::Spelling`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyFault> {
        // `from_bytes` accepts y >= p and -0; comparing with the point's own encoding refuses both.
        let verifying = VerifyingKey::from_bytes(bytes).map_err(|_| KeyFault::NotAPoint)?;
        let point = verifying.to_edwards();
        if point.compress().to_bytes() != *bytes {
            return Err(KeyFault::NonCanonical);
        }
        if point.is_small_order() {
            return Err(KeyFault::SmallOrder);
        }
        Ok(Self { verifying, prime_order: point.is_torsion_free() })
    }

    /// The 32 bytes that a signature's hash covers.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.verifying.as_bytes()
    }

    /// Whether the key has no torsion component, which a batch needs of it.
    pub fn is_prime_order(&self) -> bool {
        self.prime_order
    }

    pub(super) fn verifying(&self) -> &VerifyingKey {
        &self.verifying
    }

    pub(super) fn point(&self) -> EdwardsPoint {
        self.verifying.to_edwards()
    }
}

type Decoded = Result<Arc<Key>, KeyFault>;

/// Every key text met so far with what it decodes to. One text, one decoding, however many threads ask.
#[derive(Debug, Default)]
pub struct Keys {
    known: RwLock<HashMap<Box<str>, Decoded>>,
}

impl Keys {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// The key that `text` names.
    ///
    /// # Errors
    /// Those of [`Key::decode`]; they are kept as well.
    pub fn get(&self, text: &str) -> Decoded {
        // A poisoned lock still guards a whole map: entries are inserted complete or not at all.
        if let Some(found) = self.known.read().unwrap_or_else(|e| e.into_inner()).get(text) {
            return found.clone();
        }
        let decoded = Key::decode(text).map(Arc::new);
        let mut known = self.known.write().unwrap_or_else(|e| e.into_inner());
        known.entry(text.into()).or_insert(decoded).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use curve25519_dalek::constants::EIGHT_TORSION;

    const GOOD: [u8; 32] = [
        0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1,
        0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
    ];

    #[test]
    fn one_spelling_of_a_key() {
        let text = STANDARD.encode(GOOD);
        assert_eq!(key_bytes(&text), Some(GOOD));
        let bare = text.trim_end_matches('=');
        assert_eq!(key_bytes(bare), None, "no padding");
        assert_eq!(key_bytes(&format!("{text}=")), None);
        assert_eq!(key_bytes(&format!(" {text}")), None);
        assert_eq!(key_bytes(&text.replace('+', "-").replace('/', "_").replace("Go=", "Gp=")), None, "trailing bits");
        assert_eq!(key_bytes(&format!("{}AA=", &text[..41])).map(|b| b.len()), Some(32));
        assert_eq!(key_bytes(&format!("{}A==", &text[..41])), None, "31 bytes");
        assert_eq!(key_bytes("é".repeat(22).as_str()), None, "44 bytes that are no ASCII");
        assert_eq!(Key::decode("").unwrap_err(), KeyFault::Spelling);
    }

    #[test]
    fn one_spelling_of_a_signature() {
        let bytes: [u8; 64] = std::array::from_fn(|i| i as u8);
        let text = STANDARD.encode(bytes);
        assert_eq!(signature_bytes(&text), Some(bytes));
        assert!(text.ends_with("Pw=="));
        assert_eq!(signature_bytes(&text.replace("Pw==", "Px==")), None, "trailing bits");
        assert_eq!(signature_bytes(&text.replace("Pw==", "Pw=")), None);
        assert_eq!(signature_bytes(&STANDARD.encode([0u8; 63])), None);
        assert_eq!(signature_bytes(&STANDARD.encode([0u8; 65])), None);
        assert_eq!(signature_bytes(&STANDARD.encode([0u8; 66])), None);
    }

    #[test]
    fn what_a_key_must_be() {
        assert!(Key::from_bytes(&GOOD).unwrap().is_prime_order());
        for point in EIGHT_TORSION {
            assert_eq!(Key::from_bytes(&point.compress().to_bytes()).unwrap_err(), KeyFault::SmallOrder);
        }
        let mixed = Key::from_bytes(&GOOD).unwrap().point() + EIGHT_TORSION[1];
        assert!(!Key::from_bytes(&mixed.compress().to_bytes()).unwrap().is_prime_order());

        // y = p + k for the k below 19 that are coordinates of points, with either sign, and y = 1 with the sign set.
        let mut refused = 0;
        for k in 0u8..19 {
            for sign in [0x7f, 0xff] {
                let mut bytes = [0xff; 32];
                bytes[0] = 0xed + k;
                bytes[31] = sign;
                match Key::from_bytes(&bytes) {
                    Err(KeyFault::NonCanonical) => refused += 1,
                    other => assert_eq!(other.unwrap_err(), KeyFault::NotAPoint),
                }
            }
        }
        assert!(refused >= 10, "{refused}");
        let mut minus_zero = [0u8; 32];
        minus_zero[0] = 1;
        minus_zero[31] = 0x80;
        assert_eq!(Key::from_bytes(&minus_zero).unwrap_err(), KeyFault::NonCanonical);
    }

    #[test]
    fn the_cache_keeps_keys_and_faults() {
        let keys = Keys::new();
        let text = STANDARD.encode(GOOD);
        let first = keys.get(&text).unwrap();
        assert!(Arc::ptr_eq(&first, &keys.get(&text).unwrap()));
        assert_eq!(keys.get("?").unwrap_err(), KeyFault::Spelling);
        assert_eq!(keys.get("?").unwrap_err(), KeyFault::Spelling);
    }
}
