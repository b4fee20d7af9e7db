//! The audit's queries: `queries/audit/*.sql` and those of `queries/carry` that it asks, each under the name of its file.

use crate::engine;

/// A query and its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Query {
    /// The stem of its file, and the table that its rows are kept as where they are.
    pub name: &'static str,
    /// One SELECT.
    pub text: &'static str,
}

macro_rules! queries {
    ($list:ident of $folder:literal: $($name:ident $stem:literal,)*) => {
        $(pub(super) const $name: Query =
            Query { name: $stem, text: include_str!(concat!("../../queries/", $folder, "/", $stem, ".sql")) };)*
        const $list: &[Query] = &[$($name,)*];
    };
}

queries! { JUDGING of "audit":
    CLOCK "clock",
    ENTRY "entry",
    ENTRY_AGAIN "entry_again",
    FIRST_UNSEEN "first_unseen",
    FACT_ENTRY "fact_entry",
    PROBE_ENTRY "probe_entry",
    STOP_ENTRY "stop_entry",
    CORRECTION_TARGET "correction_target",
    CLAIM_FILED "claim_filed",
    CORRECTION_SPAN "correction_span",
    FACT_VERSION "fact_version",
    FACT_CHECK "fact_check",
    WITNESS "witness",
    FACT_PROMISE "fact_promise",
    FACT_DUPLICATE "fact_duplicate",
    CLAIM_NAMED "claim_named",
    ENROLLMENT_ACT "enrollment_act",
    ATTESTATION_JUDGED "attestation_judged",
    EXCLUSION_STANDING "exclusion_standing",
    EXCLUSION_OF_FACT "exclusion_of_fact",
    ATTESTATION_GROUND "attestation_ground",
    FACT_GROUND "fact_ground",
}

queries! { CARRYING of "carry":
    DOUBTFUL_ENTRY "doubtful_entry",
    DOUBTFUL_INTERACTION "doubtful_interaction",
    CORRECTED_INTERACTION "corrected_interaction",
    INTERACTION_LINK "interaction_link",
    DOUBTFUL_PAIR "doubtful_pair",
    ATTESTED_BESIDE "attested_beside",
}

/// A digest of the audit's queries.
pub fn digest() -> String {
    engine::digest(JUDGING.iter().chain(CARRYING).map(|query| (query.name, query.text)))
}
