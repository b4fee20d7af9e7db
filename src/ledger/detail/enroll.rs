//! `enrolled`, `amended`, `withdrew`: what a subject declares of itself.

use crate::ledger::members::{Object, SchemaFault};

const CLASSES: [&str; 3] = ["mesh-verifiable", "probe-verifiable", "attested-only"];

/// A declaration. A later one replaces capabilities, promises and competitors as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration<'a> {
    /// The signed instant, ms.
    pub statement_at: i64,
    /// The bureau that the statement is made to.
    pub bureau: &'a str,
    /// The subject's agent key, base64 as it stands.
    pub key: &'a str,
    /// Its signature, base64 as it stands.
    pub signature: &'a str,
    /// The hash of the subject's anchor.
    pub anchor_hash: &'a str,
    /// The capabilities offered.
    pub capabilities: Vec<&'a str>,
    /// The promises made, in the declared order.
    pub promises: Vec<Promise<'a>>,
    /// Hashes of the anchors that may not rate this subject.
    pub competitor_anchors: Vec<&'a str>,
}

/// A promise of a declaration (§9).
#[derive(Debug, Clone, PartialEq)]
pub struct Promise<'a> {
    /// Its name inside the declaration.
    pub id: &'a str,
    /// `mesh-verifiable`, `probe-verifiable` or `attested-only`.
    pub class: &'a str,
    /// Its words.
    pub text: &'a str,
    /// What is measured, `latency_p95_ms` for example.
    pub kind: Option<&'a str>,
    /// The bound of what is measured, in the unit of `kind`.
    pub bound: Option<f64>,
}

/// A withdrawal.
#[derive(Debug, Clone, PartialEq)]
pub struct Withdrawal<'a> {
    /// The signed instant, ms.
    pub statement_at: i64,
    /// The bureau that the statement is made to.
    pub bureau: &'a str,
    /// The subject's agent key, base64 as it stands.
    pub key: &'a str,
    /// Its signature, base64 as it stands.
    pub signature: &'a str,
}

impl<'a> Declaration<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        Ok(Declaration {
            statement_at: detail.instant("statement_at")?,
            bureau: detail.text("bureau")?,
            key: detail.text("key")?,
            signature: detail.text("signature")?,
            anchor_hash: detail.hash("anchor_hash")?,
            capabilities: detail.texts("capabilities")?,
            promises: detail.objects("promises", |promise| {
                Ok(Promise {
                    id: promise.text("id")?,
                    class: promise.one_of("class", &CLASSES)?,
                    text: promise.text("text")?,
                    kind: promise.text_opt("kind")?,
                    bound: promise.number_opt("bound")?,
                })
            })?,
            competitor_anchors: detail.hashes("competitor_anchors")?,
        })
    }
}

impl<'a> Withdrawal<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        Ok(Withdrawal {
            statement_at: detail.instant("statement_at")?,
            bureau: detail.text("bureau")?,
            key: detail.text("key")?,
            signature: detail.text("signature")?,
        })
    }
}
