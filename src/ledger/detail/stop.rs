//! `stopped`: a request refused or held before the subject saw it (§4.6).

use crate::ledger::members::{Object, SchemaFault};
use crate::ledger::node::Node;

/// The stages outside the screening class, whose stages are call sites that the specification leaves to another document.
const STAGES: [&str; 4] = ["boundary", "admission", "formation", "approval"];

/// A stop. `stop.forbidden` judges its class, its ground, and whether screening carries a resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop<'a> {
    /// The request that was stopped.
    pub interaction_id: &'a str,
    /// Who reports.
    pub reporter: &'a str,
    /// The class, any string; null where there is none.
    pub class: Option<&'a str>,
    /// Where it was stopped.
    pub stage: &'a str,
    /// The reason in its own words, any string; null where there is none.
    pub ground: Option<&'a str>,
    /// `rule`, `screener` or `person`.
    pub decided_by: &'a str,
    /// `blocked`, `released` or `open`.
    pub resolution: Option<&'a str>,
    /// The hash of the intended recipient's anchor.
    pub recipient_anchor_hash: &'a str,
    /// The hash of the recipient's operator.
    pub recipient_operator_hash: Option<&'a str>,
    /// Whether the request answers one of the recipient's own.
    pub solicited: bool,
    /// The digest that the sender signed.
    pub envelope_digest: &'a str,
    /// The sender's signature over its 32 bytes, base64 as it stands.
    pub sender_signature: &'a str,
    /// The sender's key, base64 as it stands.
    pub sender_key: &'a str,
    /// Who screened.
    pub screening_provider: Option<ScreeningProvider<'a>>,
    /// When it was stopped (`detail.at`), ms.
    pub stopped_at: i64,
    /// The reporter's signature, base64 as it stands.
    pub signature: &'a str,
}

/// A screening provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreeningProvider<'a> {
    /// Its name.
    pub id: &'a str,
    /// The version of its policy.
    pub policy_version: Option<&'a str>,
}

impl<'a> Stop<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        let class = detail.some("class").and_then(Node::as_str);
        let stage = match class {
            Some("scope" | "volume" | "qualification" | "mandate") => detail.one_of("stage", &STAGES)?,
            _ => detail.text("stage")?,
        };
        // In the order of the names, which costs one step a member.
        Ok(Stop {
            stopped_at: detail.instant("at")?,
            class,
            decided_by: detail.one_of("decided_by", &["rule", "screener", "person"])?,
            envelope_digest: detail.hash("envelope_digest")?,
            ground: detail.some("ground").and_then(Node::as_str),
            interaction_id: detail.field("interaction_id")?,
            recipient_anchor_hash: detail.hash("recipient_anchor_hash")?,
            recipient_operator_hash: detail.hash_opt("recipient_operator_hash")?,
            reporter: detail.text("reporter")?,
            resolution: detail.one_of_opt("resolution", &["blocked", "released", "open"])?,
            screening_provider: detail.object_opt("screening_provider", |provider| {
                Ok(ScreeningProvider { id: provider.text("id")?, policy_version: provider.text_opt("policy_version")? })
            })?,
            sender_key: detail.text("sender_key")?,
            sender_signature: detail.text("sender_signature")?,
            signature: detail.text("signature")?,
            solicited: detail.boolean("solicited")?,
            stage,
        })
    }
}
