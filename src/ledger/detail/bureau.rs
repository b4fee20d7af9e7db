//! `excluded` and `corrected`: the bureau's own acts, which nobody signs.

use crate::ledger::members::{Object, SchemaFault};

/// An exclusion (§6.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion<'a> {
    /// The `seq` of what is excluded.
    pub target_seq: i64,
    /// `self_dealing`, `declared_competitor` or `rate_limit`.
    pub reason: &'a str,
    /// The evaluator whose attestation is excluded.
    pub evaluator: Option<&'a str>,
    /// The interaction.
    pub interaction_id: &'a str,
}

/// A correction (§10). `correct.target` judges what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction<'a> {
    /// The `seq` of what is corrected.
    pub target_seq: i64,
    /// `void` or `amend`.
    pub kind: &'a str,
    /// `wrong_subject`, `wrong_interaction` or `failed_dedup`.
    pub error: &'a str,
    /// The subject that the target gets.
    pub set_subject: Option<&'a str>,
    /// The capability that the target gets.
    pub set_capability: Option<&'a str>,
    /// The target gets no capability: `set.capability` is null.
    pub set_capability_null: bool,
    /// The interaction that the target gets.
    pub set_interaction_id: Option<&'a str>,
}

impl<'a> Exclusion<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        Ok(Exclusion {
            target_seq: detail.integer("target_seq")?,
            reason: detail.one_of("reason", &["self_dealing", "declared_competitor", "rate_limit"])?,
            evaluator: detail.text_opt("evaluator")?,
            interaction_id: detail.field("interaction_id")?,
        })
    }
}

impl<'a> Correction<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        let target_seq = detail.integer("target_seq")?;
        let kind = detail.one_of("kind", &["void", "amend"])?;
        let error = detail.one_of("error", &["wrong_subject", "wrong_interaction", "failed_dedup"])?;
        let (set_subject, set_capability, set_capability_null, set_interaction_id) = detail
            .object_opt("set", |set| {
                // A capability alone may be set to null; a subject or interaction that is null is not set.
                let null = set.raw("capability").is_some_and(|capability| capability.is_null());
                Ok((set.subject_opt("subject")?, set.text_opt("capability")?, null, set.field_opt("interaction_id")?))
            })?
            .unwrap_or_default();
        let correction = Correction {
            target_seq,
            kind,
            error,
            set_subject,
            set_capability,
            set_capability_null,
            set_interaction_id,
        };
        let sets =
            set_subject.is_some() || set_capability.is_some() || set_capability_null || set_interaction_id.is_some();
        if kind == "amend" && !sets {
            return Err(SchemaFault::Rule("an amendment sets at least one member"));
        }
        Ok(correction)
    }
}
