//! The members of an entry that an excerpt may show: those that profile 1.5 lists. Any other member may hold anything.

/// What may stand under a member's name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A text, a number, a boolean or null.
    Scalar,
    /// A list of such.
    Scalars,
    /// An object of these members.
    Object(&'static [Member]),
    /// A list of such objects.
    Objects(&'static [Member]),
    /// Anything.
    Whole,
}

/// A member and what may stand under it.
pub(super) type Member = (&'static str, Shape);

use Shape::{Object, Objects, Scalar, Scalars, Whole};

const FACT: &[Member] = &[
    ("interaction_id", Scalar),
    ("parent_id", Scalar),
    ("reporter", Scalar),
    ("caller_anchor_hash", Scalar),
    ("capability", Scalar),
    ("started_at", Scalar),
    ("ended_at", Scalar),
    ("transport", Scalar),
    ("latency_ms", Scalar),
    ("promise_checks", Objects(&[("promise_id", Scalar), ("held", Scalar)])),
    ("derived_outcome", Scalar),
    ("derived_from", Scalar),
    ("engagement_id", Scalar),
    ("sender", Scalar),
    ("screening", Object(&[("verdict", Scalar), ("provider", Scalar)])),
    ("signature", Scalar),
];

const ATTESTED: &[Member] = &[
    ("interaction_id", Scalar),
    ("evaluator", Scalar),
    ("evaluator_anchor_hash", Scalar),
    ("outcome", Scalar),
    ("statement_at", Scalar),
    ("key", Scalar),
    ("signature", Scalar),
    ("note", Scalar),
    ("engagement_id", Scalar),
    ("amount", Scalar),
    ("currency", Scalar),
    ("units", Scalar),
    ("reason", Scalar),
];

const PROBED: &[Member] = &[
    ("interaction_id", Scalar),
    ("capability", Scalar),
    ("reporter", Scalar),
    ("program", Scalar),
    ("library_version", Scalar),
    ("result", Scalar),
    ("ended_at", Scalar),
    ("signature", Scalar),
];

const STOPPED: &[Member] = &[
    ("interaction_id", Scalar),
    ("reporter", Scalar),
    ("class", Scalar),
    ("stage", Scalar),
    ("ground", Scalar),
    ("decided_by", Scalar),
    ("resolution", Scalar),
    ("recipient_anchor_hash", Scalar),
    ("recipient_operator_hash", Scalar),
    ("solicited", Scalar),
    ("envelope_digest", Scalar),
    ("sender_signature", Scalar),
    ("sender_key", Scalar),
    ("screening_provider", Object(&[("id", Scalar), ("policy_version", Scalar)])),
    ("at", Scalar),
    ("signature", Scalar),
];

const PARTY: &[Member] = &[("agent", Scalar), ("handle", Scalar)];

const CLAIM: &[Member] = &[
    ("nda", Object(&[("id", Scalar), ("version", Scalar), ("digest", Scalar), ("ref", Scalar)])),
    ("claimant", Object(PARTY)),
    ("respondent", Object(PARTY)),
    ("categories", Scalars),
    ("disclosures", Objects(&[("kind", Scalar), ("digest", Scalar), ("at", Scalar)])),
    ("found", Object(&[("at", Scalar), ("material_digest", Scalar), ("note", Scalar)])),
    ("breach_at", Scalar),
    ("at", Scalar),
];

const NDA_CLAIMED: &[Member] = &[
    ("claim", Object(CLAIM)),
    ("claim_digest", Scalar),
    ("claimant_anchor_hash", Scalar),
    ("signature", Scalar),
    ("state", Scalar),
    ("reject_reason", Scalar),
    (
        "agreement",
        Object(&[("direction", Scalar), ("effective_at", Scalar), ("ends_at", Scalar), ("duties_end_at", Scalar)]),
    ),
    ("respondent_org", Scalar),
];

const NDA_ANSWERED: &[Member] =
    &[("claim_digest", Scalar), ("text", Scalar), ("statement_at", Scalar), ("key", Scalar), ("signature", Scalar)];

const NDA_RESOLVED: &[Member] = &[
    ("claim_digest", Scalar),
    ("resolution", Scalar),
    ("basis", Scalar),
    ("resolved_at", Scalar),
    ("statement_at", Scalar),
    ("key", Scalar),
    ("signature", Scalar),
    ("verdict", Whole),
    ("settlement", Whole),
    ("court", Object(&[("forum", Scalar), ("citation", Scalar), ("found_on", Scalar), ("checked_by", Scalar)])),
];

const EXCLUDED: &[Member] =
    &[("target_seq", Scalar), ("reason", Scalar), ("evaluator", Scalar), ("interaction_id", Scalar)];

const CORRECTED: &[Member] = &[
    ("target_seq", Scalar),
    ("kind", Scalar),
    ("error", Scalar),
    ("set", Object(&[("subject", Scalar), ("capability", Scalar), ("interaction_id", Scalar)])),
];

/// What the detail of an action may show; none where the action is unknown, and nothing of it can be told apart.
pub(super) fn detail_of(action: &str) -> Option<Shape> {
    Some(match action {
        // A subject's own statements about itself are its own, whole.
        "enrolled" | "amended" | "withdrew" => Whole,
        "fact" => Object(FACT),
        "attested" => Object(ATTESTED),
        "probed" => Object(PROBED),
        "stopped" => Object(STOPPED),
        "nda_claimed" => Object(NDA_CLAIMED),
        "nda_answered" => Object(NDA_ANSWERED),
        "nda_resolved" => Object(NDA_RESOLVED),
        "excluded" => Object(EXCLUDED),
        "corrected" => Object(CORRECTED),
        _ => return None,
    })
}

/// Members that hold words, in which a name may be spelt out.
pub(super) const WORDS: [&str; 8] =
    ["note", "reason", "ground", "reject_reason", "text", "verdict", "settlement", "court"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::detail::ACTIONS;

    #[test]
    fn every_action_of_the_profile_has_a_shape_and_no_other() {
        for action in ACTIONS {
            assert!(detail_of(action).is_some(), "{action}");
        }
        assert!(detail_of("noted").is_none());
    }

    #[test]
    fn every_column_that_a_figure_reads_may_be_shown() {
        // The tables are filled from these shapes, so a column whose member is not listed would always be empty.
        for table in &crate::warehouse::schema::ACTIONS {
            let Some(Object(members)) = detail_of(table.name) else { continue };
            for column in table.columns {
                let path = super::super::tables::path(table.name, column.name);
                let Some(("detail", first)) = path.first().zip(path.get(1)).map(|(at, first)| (*at, *first)) else {
                    continue;
                };
                assert!(members.iter().any(|(name, _)| *name == first), "{}.{}", table.name, column.name);
            }
        }
    }
}
