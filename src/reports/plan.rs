//! The files of `queries/`, in an order in which each reads only what comes before it.

use crate::engine::{self, Key};

/// A query file.
#[derive(Debug, Clone, Copy)]
pub struct Query {
    /// The stem of the file, and the name of its table.
    pub name: &'static str,
    /// One SELECT.
    pub sql: &'static str,
}

macro_rules! query {
    ($name:literal) => {
        query!("", $name)
    };
    ($folder:literal, $name:literal) => {
        Query { name: $name, sql: include_str!(concat!("../../queries/", $folder, $name, ".sql")) }
    };
}

/// Results that later queries read, written to Parquet once each: first those that the next list reads.
pub const FIRST: [Query; 9] = [
    query!("discounted"),
    query!("correction"),
    query!("standing_exclusion"),
    query!("excluded_target"),
    query!("fact_version"),
    query!("moved_attestation"),
    query!("declaration"),
    query!("enrollment_interval"),
    query!("enrollment"),
];

/// Results whose rows rest on the entries of one interaction, slice by slice, each with the columns that name the entry by which its
/// rows are stored.
pub const SLICED: [(Query, Key); 8] = [
    (query!("standing_fact"), &["seq"]),
    (query!("standing_probe"), &["seq"]),
    (query!("standing_attestation"), &["seq"]),
    (query!("promise_check"), &["fact_seq"]),
    (query!("broken_fact"), &["fact_seq"]),
    (query!("interaction"), &["fact_seq", "probe_seq"]),
    (query!("event"), &["seq"]),
    (query!("evaluator_attestation"), &["seq"]),
];

/// Results that gather them up.
pub const GATHERED: [Query; 12] = [
    query!("stop_accepted"),
    query!("claim_entry"),
    query!("claim_event"),
    query!("claim_state"),
    query!("pool"),
    query!("capability_seen"),
    query!("sender_seen"),
    query!("known_subject"),
    query!("report_index"),
    query!("prior"),
    query!("facts"),
    query!("organization_member"),
];

/// The pairs from which the run makes the input table `refusing_party`, which the next two read.
pub const STOP_LINK: Query = query!("stop_link");
/// Stops that count, with the party that refused.
pub const STOP_COUNTED: Query = query!("stop_counted");

/// Figures that only documents read: as many rows as there are subjects, capabilities, evaluators or organizations.
pub const CANDOR: Query = query!("candor");
/// Refusals a subject and capability.
pub const REFUSAL: Query = query!("refusal");
/// Promise checks a subject and promise.
pub const PROMISE_HELD: Query = query!("promise_held");
/// The sender record's classes.
pub const SENDER_CLASS: Query = query!("sender_class");
/// Screening providers.
pub const SCREENING_PROVIDER: Query = query!("screening_provider");
/// Upheld breaches.
pub const NDA_UPHELD: Query = query!("nda_upheld");
/// Open claims.
pub const NDA_OPEN: Query = query!("nda_open");
/// Closed claims.
pub const NDA_CLOSED: Query = query!("nda_closed");
/// A subject's own claims.
pub const NDA_FILED: Query = query!("nda_filed");
/// An evaluator's counts.
pub const EVALUATOR_FIGURE: Query = query!("evaluator_figure");
/// Its outcomes.
pub const EVALUATOR_OUTCOME: Query = query!("evaluator_outcome");
/// How far its attestations stand from the pools that they fell in. It reads `pool_mean`, which the run makes.
pub const EVALUATOR_OFFSET: Query = query!("evaluator_offset");
/// An organization's counts.
pub const ORGANIZATION_FIGURE: Query = query!("organization_figure");
/// Members that left.
pub const ORGANIZATION_FORMER: Query = query!("organization_former");
/// The sender record across members.
pub const ORGANIZATION_SENDER: Query = query!("organization_sender");
/// The NDA record across members.
pub const ORGANIZATION_NDA: Query = query!("organization_nda");

/// What a night that builds on the report before asks about what changed since, each before what reads it.
pub const CHANGED: [Query; 4] = [
    query!("carry/", "changed_entry"),
    query!("carry/", "changed_enrollment"),
    query!("carry/", "changed_promise"),
    query!("carry/", "changed_handle"),
];
/// Of that, the interactions that are computed again.
pub const CHANGED_INTERACTION: Query = query!("carry/", "changed_interaction");
/// Interactions that corrections tie together.
pub const INTERACTION_LINK: Query = query!("carry/", "interaction_link");

/// A digest of the queries whose results one night carries into the next.
pub fn digest() -> String {
    let queries = FIRST
        .into_iter()
        .chain(SLICED.map(|(query, _)| query))
        .chain(CHANGED)
        .chain([CHANGED_INTERACTION, INTERACTION_LINK]);
    engine::digest(queries.map(|query| (query.name, query.sql)))
}
