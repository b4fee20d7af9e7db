//! `attested`: a caller's judgment of work or of spend.

use crate::ledger::members::{Object, SchemaFault};

/// An attestation (§6). `attest.code` judges its outcome and whether a reason stands where one must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation<'a> {
    /// The interaction judged.
    pub interaction_id: &'a str,
    /// The evaluator's handle.
    pub evaluator: &'a str,
    /// The hash of the evaluator's anchor.
    pub evaluator_anchor_hash: &'a str,
    /// The code given, any string without a colon.
    pub outcome: &'a str,
    /// The signed instant, ms.
    pub statement_at: i64,
    /// The evaluator's agent key, base64 as it stands.
    pub key: &'a str,
    /// Its signature, base64 as it stands.
    pub signature: &'a str,
    /// Words that are kept and never scored.
    pub note: Option<&'a str>,
    /// The engagement that it belongs to.
    pub engagement_id: Option<&'a str>,
    /// The amount spent, as signed.
    pub amount: Option<&'a str>,
    /// Its currency, as signed.
    pub currency: Option<&'a str>,
    /// The units bought, as signed.
    pub units: Option<&'a str>,
    /// Why the spend was not worthwhile.
    pub reason: Option<&'a str>,
}

impl<'a> Attestation<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        let signed = |name: &str| match detail.field_opt(name) {
            Err(_) => Err(SchemaFault::Rule("amount, currency and units are strings without a colon")),
            taken => taken,
        };
        // In the order of the names, which costs one step a member.
        let attestation = Attestation {
            amount: signed("amount")?,
            currency: signed("currency")?,
            engagement_id: detail.text_opt("engagement_id")?,
            evaluator: detail.text("evaluator")?,
            evaluator_anchor_hash: detail.hash("evaluator_anchor_hash")?,
            interaction_id: detail.field("interaction_id")?,
            key: detail.text("key")?,
            note: detail.text_opt("note")?,
            outcome: detail.field("outcome")?,
            reason: detail.text_opt("reason")?,
            signature: detail.text("signature")?,
            statement_at: detail.instant("statement_at")?,
            units: signed("units")?,
        };
        match (attestation.amount, attestation.currency, attestation.units) {
            (Some(_), Some(_), Some(_)) | (None, None, None) => Ok(attestation),
            _ => Err(SchemaFault::Rule("amount, currency and units are given all three or not at all")),
        }
    }
}
