//! The columns of the warehouse tables: name, type, unit and meaning of each. The one place that says so; the loader
//! fills them in this order, and every Parquet file carries `doc` and `unit` in the metadata of its fields.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use sha2::{Digest, Sha256};

/// What a column holds.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// A whole number of 64 bits.
    Int,
    /// A double.
    Float,
    /// True or false.
    Bool,
    /// An instant, UTC, in milliseconds.
    Instant,
    /// Bytes.
    Bytes,
    /// A list of texts.
    Texts,
    /// A struct. Its fields are nullable wherever it is: engines differ in what a field of a null struct is otherwise.
    Struct(&'static [Column]),
    /// A list of structs.
    Structs(&'static [Column]),
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in SQL.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it can be null.
    pub nullable: bool,
    /// The unit, or the encoding where the value has none.
    pub unit: &'static str,
    /// What it means, with its source.
    pub doc: &'static str,
}

impl Column {
    /// Whether its values go into pages as they are made, not into Arrow arrays first.
    pub(super) fn is_paged(&self) -> bool {
        matches!(self.kind, Kind::Bytes)
    }
}

/// One table: its name and its columns.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// The name in SQL, and of the folder.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    /// Columns whose values hardly repeat, for which a dictionary only costs time.
    pub distinct: &'static [&'static str],
}

impl Table {
    /// The Arrow schema, with `doc` and `unit` in the metadata of each field.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(fields(self.columns)))
    }

    /// How many runs of slices stand apart in its files; 1 where it has no `slice`.
    pub fn runs(&self) -> usize {
        if self.columns.iter().any(|column| column.name == SLICE.name) { RUNS } else { 1 }
    }
}

/// The number of slices.
pub const SLICES: usize = 256;

/// Runs of slices whose rows stand together.
const RUNS: usize = 8;

/// The slice of an interaction: entries of one interaction share it, and slices are about equally full.
pub fn slice_of(interaction_id: &str) -> u8 {
    let digest: [u8; 32] = Sha256::digest(interaction_id).into();
    digest[0]
}

/// The run that a slice is in.
pub(super) fn run_of(slice: u8) -> usize {
    usize::from(slice) * RUNS / SLICES
}

/// Columns of facts, attestations and probes that no rule and no figure asks: what an entry was for, and what its signature is checked
/// with, for which the canonical bytes are read.
pub const UNREAD: [&str; 10] = [
    "currency",
    "engagement_id",
    "key",
    "library_version",
    "note",
    "parent_id",
    "program",
    "signature",
    "statement_at",
    "units",
];

fn fields(columns: &[Column]) -> Fields {
    columns.iter().map(field).collect()
}

fn field(column: &Column) -> Field {
    let metadata =
        HashMap::from([("doc".to_owned(), column.doc.to_owned()), ("unit".to_owned(), column.unit.to_owned())]);
    Field::new(column.name, data_type(column.kind), column.nullable).with_metadata(metadata)
}

/// The Arrow type of a kind.
pub fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::Utf8,
        Kind::Int => DataType::Int64,
        Kind::Float => DataType::Float64,
        Kind::Bool => DataType::Boolean,
        Kind::Instant => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        Kind::Bytes => DataType::Binary,
        Kind::Texts => DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))),
        Kind::Struct(columns) => DataType::Struct(fields(columns)),
        Kind::Structs(columns) => DataType::List(Arc::new(Field::new("item", DataType::Struct(fields(columns)), true))),
    }
}

const fn column(name: &'static str, kind: Kind, unit: &'static str, doc: &'static str) -> Column {
    Column { name, kind, nullable: false, unit, doc }
}

const fn maybe(name: &'static str, kind: Kind, unit: &'static str, doc: &'static str) -> Column {
    Column { name, kind, nullable: true, unit, doc }
}

const SEQ: Column = column("seq", Kind::Int, "position in the ledger, from 1", "The entry's seq (profile 1.2).");
const AT: Column =
    column("at", Kind::Instant, "UTC, ms", "When the bureau recorded the entry, cut to the millisecond.");
const SUBJECT: Column = column("subject", Kind::Text, "handle or ANS name", "Whom the entry is about (§4.1).");
const CAPABILITY: Column =
    maybe("capability", Kind::Text, "opaque tag", "The capability tag, null where the entry has none.");
const SIGNATURE: Column = column("signature", Kind::Text, "base64, Ed25519", "The signature of profile 1.4.");
const KEY: Column =
    column("key", Kind::Text, "base64, Ed25519", "The public key that the entry names as its signer's.");
const STATEMENT_AT: Column = column("statement_at", Kind::Instant, "UTC, ms", "The signed instant.");
const INTERACTION: Column = column("interaction_id", Kind::Text, "id", "The interaction (§1).");
const SLICE: Column = column(
    "slice",
    Kind::Int,
    "0 to 255",
    "The first byte of SHA-256(interaction_id). Rows of one run of 32 slices stand together in row groups, in seq order.",
);
const REPORTER: Column = column("reporter", Kind::Text, "URL", "The reporter that supplied it (§4.2).");
const CLAIM_DIGEST: Column =
    column("claim_digest", Kind::Text, "sha256:hex", "SHA-256 of the JCS claim body (profile 1.4).");

const PROMISE: &[Column] = &[
    column("id", Kind::Text, "id", "The promise's id."),
    column("class", Kind::Text, "mesh-verifiable | probe-verifiable | attested-only", "How it can be checked (§9)."),
    column("text", Kind::Text, "text", "The promise in words."),
    maybe("kind", Kind::Text, "tag", "What is measured, where it names it."),
    maybe("bound", Kind::Float, "in the unit of its kind", "The bound, where it is a number."),
];

const DECLARED: &[Column] = &[
    SEQ,
    AT,
    SUBJECT,
    CAPABILITY,
    STATEMENT_AT,
    column("bureau", Kind::Text, "URL", "The bureau that the statement names."),
    KEY,
    SIGNATURE,
    column("anchor_hash", Kind::Text, "sha256:hex", "The salted hash of the subject's anchor (profile 1.3)."),
    column("capabilities", Kind::Texts, "opaque tags", "The declared capabilities, as a whole."),
    column("promises", Kind::Structs(PROMISE), "", "The declared promises, as a whole, in their order."),
    column("competitor_anchors", Kind::Texts, "sha256:hex", "Declared competitors' anchor hashes (§6.4)."),
];

/// Every entry, in `seq` order: the chain and the bytes that are hashed.
pub const LEDGER: Table = Table {
    name: "ledger",
    columns: &[
        SEQ,
        maybe("at", Kind::Instant, "UTC, ms", "When the bureau recorded the entry; null where it cannot be read."),
        maybe("action", Kind::Text, "action", "The action (§4.1), known or not."),
        maybe("subject", Kind::Text, "handle or ANS name", "Whom the entry is about."),
        CAPABILITY,
        column("prev_hash", Kind::Text, "base64, SHA-256", "The hash of the entry before, as the entry states it."),
        column("entry_hash", Kind::Text, "base64, SHA-256", "SHA-256(canonical ‖ prev_hash) (profile 1.2)."),
        column("canonical", Kind::Bytes, "RFC 8785", "The entry without its two hash members, in canonical form."),
        maybe("fault", Kind::Text, "text", "What is wrong with its members (entry.schema); null where nothing is."),
    ],
    distinct: &["seq", "at", "prev_hash", "entry_hash", "canonical"],
};

/// The tables of the actions, in the order of profile 1.5. They hold the entries whose members are as 1.5 says.
pub const ACTIONS: [Table; 12] = [
    Table { name: "enrolled", columns: DECLARED, distinct: &["signature"] },
    Table { name: "amended", columns: DECLARED, distinct: &["signature"] },
    Table {
        name: "withdrew",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            STATEMENT_AT,
            column("bureau", Kind::Text, "URL", "The bureau that the statement names."),
            KEY,
            SIGNATURE,
        ],
        distinct: &["signature"],
    },
    Table {
        name: "fact",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            INTERACTION,
            SLICE,
            maybe("parent_id", Kind::Text, "id", "The interaction this call served (§4.5)."),
            REPORTER,
            column("caller_anchor_hash", Kind::Text, "sha256:hex", "The salted hash of the caller's anchor."),
            column("started_at", Kind::Instant, "UTC, ms", "When the interaction began."),
            column("ended_at", Kind::Instant, "UTC, ms", "When it ended."),
            column("transport", Kind::Text, "OK | UNREACHABLE | TIMEOUT | MALFORMED", "What the transport saw."),
            maybe("latency_ms", Kind::Int, "ms", "The time to the answer."),
            column(
                "promise_checks",
                Kind::Structs(&[
                    column("promise_id", Kind::Text, "id", "The promise checked."),
                    column("held", Kind::Bool, "", "Whether it held."),
                ]),
                "",
                "The reporter's inline checks (§9).",
            ),
            maybe("derived_outcome", Kind::Text, "code of §5", "The outcome the reporter derived."),
            maybe("derived_from", Kind::Text, "tag", "The observation it was derived from."),
            maybe("engagement_id", Kind::Text, "id", "The engagement (§4.4)."),
            maybe("sender", Kind::Text, "handle or ANS name", "The caller's handle, where the reporter identifies it."),
            maybe(
                "screening",
                Kind::Struct(&[
                    maybe("verdict", Kind::Text, "flagged | held", "What the screener said."),
                    maybe("provider", Kind::Text, "id", "The screening provider."),
                ]),
                "",
                "A screener's verdict on the request (§8.2).",
            ),
            SIGNATURE,
        ],
        distinct: &["seq", "at", "interaction_id", "started_at", "ended_at", "signature"],
    },
    Table {
        name: "attested",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            INTERACTION,
            SLICE,
            column("evaluator", Kind::Text, "handle or ANS name", "Who attests (§6)."),
            column("evaluator_anchor_hash", Kind::Text, "sha256:hex", "The salted hash of the evaluator's anchor."),
            column("outcome", Kind::Text, "code of §5", "The outcome attested."),
            STATEMENT_AT,
            KEY,
            SIGNATURE,
            maybe("note", Kind::Text, "text", "Stored, never scored, never published (§6.1)."),
            maybe("engagement_id", Kind::Text, "id", "The engagement reviewed."),
            maybe("amount", Kind::Text, "decimal as signed, in currency", "A value judgment's settled spend (§6.6)."),
            maybe("currency", Kind::Text, "code", "Its currency."),
            maybe("units", Kind::Text, "decimal as signed, in the meter's units", "The metered quantity it paid for."),
            maybe("reason", Kind::Text, "text", "Why, for VALUE_POOR; stored, never scored."),
        ],
        distinct: &["seq", "at", "interaction_id", "statement_at", "signature"],
    },
    Table {
        name: "probed",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            INTERACTION,
            SLICE,
            REPORTER,
            column("program", Kind::Text, "id", "The probe program (§4.3)."),
            column("library_version", Kind::Text, "version", "The probe library's version."),
            column("result", Kind::Text, "PASS | FAIL", "The result."),
            column("ended_at", Kind::Instant, "UTC, ms", "When the probe ended."),
            SIGNATURE,
        ],
        distinct: &["interaction_id", "signature"],
    },
    Table {
        name: "stopped",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            INTERACTION,
            REPORTER,
            maybe("class", Kind::Text, "class of §4.6", "The sender-record class; judged by stop.forbidden."),
            column("stage", Kind::Text, "call site", "Where the stop happened."),
            maybe("ground", Kind::Text, "text", "The reason named; never published."),
            column("decided_by", Kind::Text, "rule | person | model", "Who decided."),
            maybe("resolution", Kind::Text, "blocked | released | open", "How a screening hold ended."),
            column("recipient_anchor_hash", Kind::Text, "sha256:hex", "The salted hash of the recipient's anchor."),
            maybe("recipient_operator_hash", Kind::Text, "sha256:hex", "The salted hash of its operator."),
            column("solicited", Kind::Bool, "", "Whether the request answers one of the recipient's."),
            column("envelope_digest", Kind::Text, "sha256:hex", "The digest that the sender signed."),
            column("sender_signature", Kind::Text, "base64, Ed25519", "The sender's signature over those 32 bytes."),
            column("sender_key", Kind::Text, "base64, Ed25519", "The sender's key."),
            maybe(
                "screening_provider",
                Kind::Struct(&[
                    maybe("id", Kind::Text, "id", "The provider."),
                    maybe("policy_version", Kind::Text, "version", "Its policy's version."),
                ]),
                "",
                "Who screened (§4.7).",
            ),
            column("stopped_at", Kind::Instant, "UTC, ms", "When the request was stopped (`at` of the detail)."),
            SIGNATURE,
        ],
        distinct: &["interaction_id", "signature", "sender_signature", "envelope_digest"],
    },
    Table {
        name: "nda_claimed",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            CLAIM_DIGEST,
            maybe("body_digest", Kind::Text, "sha256:hex", "SHA-256 of the claim body that the entry carries, as JCS."),
            column("claimant_anchor_hash", Kind::Text, "sha256:hex", "The salted hash of the claimant's anchor."),
            SIGNATURE,
            column("state", Kind::Text, "open | rejected | uncounted", "As the bureau recorded it (§4.8)."),
            maybe("reject_reason", Kind::Text, "text", "Why, where rejected."),
            maybe(
                "agreement",
                Kind::Struct(&[
                    maybe("direction", Kind::Text, "tag", "The agreement's direction."),
                    maybe("effective_at", Kind::Instant, "UTC, ms", "When it took effect."),
                    maybe("ends_at", Kind::Instant, "UTC, ms", "When it ended; null: no end."),
                    maybe("duties_end_at", Kind::Instant, "UTC, ms", "When the duties ended; null: no end."),
                ]),
                "",
                "The agreement's periods.",
            ),
            maybe("respondent_org", Kind::Text, "charter id", "The organization that the respondent's seat names."),
            maybe("nda_digest", Kind::Text, "sha256:hex", "The digest of the agreement."),
            maybe("claimant_key", Kind::Text, "base64, Ed25519", "The claimant's agent key."),
            maybe("claimant", Kind::Text, "handle or ANS name", "The claimant; never published beside the claim."),
            maybe("respondent_key", Kind::Text, "base64, Ed25519", "The respondent's agent key."),
            maybe("respondent", Kind::Text, "handle or ANS name", "The respondent as the body names it."),
            maybe("categories", Kind::Texts, "tags", "The categories of material."),
            maybe(
                "disclosures",
                Kind::Structs(&[
                    maybe("kind", Kind::Text, "rfp_release | sow_task | delivery", "The record's kind."),
                    maybe("digest", Kind::Text, "sha256:hex", "Its digest."),
                    maybe("at", Kind::Instant, "UTC, ms", "The instant it states."),
                ]),
                "",
                "The records that show the material reached the respondent.",
            ),
            maybe("breach_at", Kind::Instant, "UTC, ms", "The breach, where the claimant knows it."),
            maybe("claimed_at", Kind::Instant, "UTC, ms", "The signed instant (`at` of the body)."),
        ],
        distinct: &["signature"],
    },
    Table {
        name: "nda_answered",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            CLAIM_DIGEST,
            column("text", Kind::Text, "text", "The answer; never published."),
            STATEMENT_AT,
            KEY,
            SIGNATURE,
        ],
        distinct: &["signature"],
    },
    Table {
        name: "nda_resolved",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            CLAIM_DIGEST,
            column("resolution", Kind::Text, "upheld | dismissed | withdrawn | set_aside", "How it ended."),
            maybe("basis", Kind::Text, "acknowledged | arbiter | owners | court", "On what (§4.8)."),
            column("resolved_at", Kind::Instant, "UTC, ms", "When it was resolved."),
            maybe("statement_at", Kind::Instant, "UTC, ms", "The signed instant of an acknowledgment or withdrawal."),
            maybe("key", Kind::Text, "base64, Ed25519", "The key that signed it."),
            maybe("signature", Kind::Text, "base64, Ed25519", "Its signature."),
            column("has_verdict", Kind::Bool, "", "Whether an arbiter's verdict is given."),
            column("has_settlement", Kind::Bool, "", "Whether a settlement is given."),
            maybe(
                "court",
                Kind::Struct(&[
                    maybe("forum", Kind::Text, "text", "The court or tribunal."),
                    maybe("citation", Kind::Text, "text", "The record cited."),
                    maybe("found_on", Kind::Text, "date", "The date of the finding."),
                    maybe("checked_by", Kind::Text, "name", "Who at the bureau checked it."),
                ]),
                "",
                "A court's finding.",
            ),
        ],
        distinct: &["signature"],
    },
    Table {
        name: "excluded",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            column("target_seq", Kind::Int, "seq", "The attestation or fact that is excluded."),
            column("reason", Kind::Text, "self_dealing | declared_competitor | rate_limit", "On what ground (§6.4)."),
            maybe("evaluator", Kind::Text, "handle or ANS name", "The evaluator, where the target is an attestation."),
            INTERACTION,
        ],
        distinct: &["target_seq"],
    },
    Table {
        name: "corrected",
        columns: &[
            SEQ,
            AT,
            SUBJECT,
            CAPABILITY,
            column("target_seq", Kind::Int, "seq", "The entry that is corrected."),
            column("kind", Kind::Text, "void | amend", "Whether the target is gone or counts with other members."),
            column("error", Kind::Text, "wrong_subject | wrong_interaction | failed_dedup", "The data error (§10)."),
            maybe("set_subject", Kind::Text, "handle or ANS name", "The subject it counts with."),
            maybe("set_capability", Kind::Text, "opaque tag", "The capability it counts with."),
            maybe("set_interaction_id", Kind::Text, "id", "The interaction it counts with."),
            column("set_capability_null", Kind::Bool, "", "Whether it counts with no capability."),
        ],
        distinct: &["target_seq"],
    },
];

/// The table of an action, or none where the action is unknown.
pub fn of_action(action: &str) -> Option<usize> {
    ACTIONS.iter().position(|table| table.name == action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_says_what_it_means_and_stands_once() {
        for table in ACTIONS.iter().chain([&LEDGER]) {
            let mut names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
            for column in table.columns {
                assert!(!column.doc.is_empty(), "{}.{}", table.name, column.name);
            }
            for column in table.columns {
                if let Kind::Struct(fields) = column.kind {
                    assert!(!column.nullable || fields.iter().all(|field| field.nullable), "{}", column.name);
                }
            }
            for name in table.distinct {
                assert!(names.contains(name), "{}.{name}", table.name);
            }
        }
    }
}
