//! Signatures (profile 1.4): over a line of text, or over a tag, a newline and a canonical document.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};

use super::json::Json;

/// Signs, or spoils what it signs.
#[derive(Debug, Clone, Copy)]
pub struct Pen {
    /// Whether the signature is to fail, by one bit of its scalar. It keeps its form, so only the arithmetic shows it.
    pub spoils: bool,
}

impl Pen {
    /// The signature over bytes, in base64.
    pub fn sign(self, key: &SigningKey, message: &[u8]) -> String {
        let mut signature = key.sign(message).to_bytes();
        if self.spoils {
            signature[32] ^= 1;
        }
        STANDARD.encode(signature)
    }

    /// Over fields with colons between them.
    pub fn line(self, key: &SigningKey, fields: &[&str]) -> String {
        self.sign(key, fields.join(":").as_bytes())
    }

    /// Over a document.
    pub fn document(self, key: &SigningKey, tag: &str, body: &Json<'_>) -> String {
        let mut message = Vec::with_capacity(1024);
        message.extend(tag.as_bytes());
        message.push(b'\n');
        body.canonical(&mut message);
        self.sign(key, &message)
    }

    /// Signs a reporter's detail and puts the signature into it.
    pub fn report(self, key: &SigningKey, tag: &str, capability: Option<&str>, subject: &str, detail: &mut Json<'_>) {
        let mut message = Vec::with_capacity(1024);
        message.extend(tag.as_bytes());
        message.extend(b"\n{\"capability\":");
        Json::from(capability).canonical(&mut message);
        message.extend(b",\"detail\":");
        detail.canonical(&mut message);
        message.extend(b",\"subject\":");
        Json::from(subject).canonical(&mut message);
        message.push(b'}');
        detail.put("signature", self.sign(key, &message));
    }
}
