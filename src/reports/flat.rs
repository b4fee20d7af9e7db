//! The published figures once more, flat, for SQL: one table a grain, a unit and a meaning on every column.
//!
//! The tables are read off the documents, so that they cannot say anything else. `sd`, which no document carries, comes
//! from the same posterior.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
    TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;
use serde_json::{Map, Value};

use super::number;
use super::subject::Report;
use crate::instant;

/// What a column holds.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Texts,
    Count,
    Number,
    Flag,
    Instant,
}

/// A column: its name, where its value stands in the row's object, what it holds, its unit, and what it means.
struct Column(&'static str, &'static [&'static str], Kind, &'static str, &'static str);

use Kind::{Count, Flag, Instant, Number, Text, Texts};

const SUBJECT: Column = Column("subject", &["subject"], Text, "handle or ANS name", "Whom the row is about.");
const RATE: &str = "share, 0 to 1, 6 places";

const REPORTS: &[Column] = &[
    SUBJECT,
    Column("capability", &["capability"], Text, "opaque tag", "Null in a report without a capability."),
    Column("enrollment", &["enrollment"], Text, "state of §3.1", "The state for this capability at T."),
    Column("enrolled_at", &["enrolled_at"], Instant, "UTC, ms", "The start of the last enrollment."),
    Column("withdrew_at", &["withdrew_at"], Instant, "UTC, ms", "Its end, where it ended."),
    Column(
        "lcb",
        &["quality", "lcb"],
        Number,
        "probability, 6 places",
        "The bound to rank by (§7.3); null unless served.",
    ),
    Column("mean", &["quality", "mean"], Number, "probability, 6 places", "The posterior mean; null unless served."),
    Column(
        "sd",
        &["sd"],
        Number,
        "probability, 6 places",
        "The posterior's standard deviation; null unless the mean is served.",
    ),
    Column("n_eff", &["quality", "n_eff"], Number, "events, decayed, 6 places", "The sum of weights (profile 2.2)."),
    Column("decline_rate", &["candor", "decline_rate"], Number, RATE, "DECLINED among offered work (§8.2)."),
    Column(
        "silent_failure_rate",
        &["candor", "silent_failure_rate"],
        Number,
        RATE,
        "FAILED_SILENT among accepted work.",
    ),
    Column("refusals", &["candor", "refusals", "count_90d"], Count, "count in the window", "REFUSED; null with none."),
    Column("refusal_callers", &["candor", "refusals", "caller_anchors"], Count, "count", "Distinct callers refused."),
    Column(
        "top_refusal_caller_share",
        &["candor", "refusals", "top_caller_share"],
        Number,
        RATE,
        "The largest caller's.",
    ),
    Column(
        "corroborated_refusal_share",
        &["candor", "refusals", "corroborated_share"],
        Number,
        RATE,
        "Refusals that a screener or a stop bears out.",
    ),
    Column("reachability", &["facts", "reachability_90d"], Number, RATE, "Facts in the window that were reached."),
    Column("latency_p50", &["facts", "latency_ms", "p50"], Count, "ms", "The median latency, nearest rank."),
    Column("latency_p95", &["facts", "latency_ms", "p95"], Count, "ms", "The 95th percentile, nearest rank."),
    Column(
        "contract_violations",
        &["facts", "contract_violations_90d"],
        Count,
        "count in the window",
        "Facts that broke a promise.",
    ),
    Column("unstated_refusals", &["facts", "unstated_refusals_90d"], Count, "count in the window", "REFUSED_UNSTATED."),
    Column("unavailable", &["facts", "unavailable_90d"], Number, RATE, "Facts with UNAVAILABLE."),
    Column("input_required", &["facts", "input_required_90d"], Count, "count in the window", "Facts parked for input."),
    Column("half_life_days", &["evidence", "half_life_days"], Number, "days", "The half-life in force."),
    Column("oldest", &["evidence", "oldest"], Instant, "UTC, ms", "The oldest event of the pool."),
    Column("newest", &["evidence", "newest"], Instant, "UTC, ms", "The newest event of the pool."),
    Column("attester_anchors", &["evidence", "attester_anchors"], Count, "count", "Distinct evaluator anchors (§8.2)."),
    Column(
        "top_anchor_share",
        &["evidence", "top_anchor_share"],
        Number,
        RATE,
        "The largest anchor's share of attested weight.",
    ),
    Column("probe_share", &["evidence", "probe_share"], Number, RATE, "Probes' share of the pool's weight."),
    Column(
        "value_judgment_share",
        &["evidence", "value_judgment_share"],
        Number,
        RATE,
        "Value judgments' share; null with none.",
    ),
    Column(
        "value_judgments_without_amount",
        &["evidence", "value_judgments_without_amount"],
        Count,
        "count",
        "Those that name no amount.",
    ),
    Column(
        "prior_from_agents",
        &["evidence", "portfolio_prior", "from_agents"],
        Count,
        "count",
        "Agents that lend a prior; null with none (§7.5).",
    ),
    Column(
        "prior_weight_events",
        &["evidence", "portfolio_prior", "weight_events"],
        Number,
        "events",
        "The prior's weight.",
    ),
    Column(
        "witnessed_requests",
        &["sender", "witnessed_requests"],
        Count,
        "count in the window",
        "Requests it was seen to send (§4.7).",
    ),
    Column("nda_upheld", &["nda_upheld"], Count, "count in the record period", "Upheld breaches (§4.9)."),
    Column("nda_open", &["nda", "open", "count"], Count, "count", "Open claims; a claim is no breach."),
    Column("issued_at", &["issued_at"], Instant, "UTC, ms", "T."),
    Column("expires_at", &["expires_at"], Instant, "UTC, ms", "When the report expires."),
];

const PROMISES: &[Column] = &[
    SUBJECT,
    Column("promise_id", &["id"], Text, "id", "The promise."),
    Column("class", &["class"], Text, "class of §9", "How it can be checked."),
    Column("text", &["text"], Text, "text", "The promise in words."),
    Column("held", &["held_90d"], Number, RATE, "Checks in the window that held; null for the other classes."),
];

const ENROLLMENTS: &[Column] = &[
    SUBJECT,
    Column("enrolled_at", &["enrolled_at"], Instant, "UTC, ms", "The start."),
    Column("withdrew_at", &["withdrew_at"], Instant, "UTC, ms", "The end; null while it lasts."),
];

const SENDER_CLASSES: &[Column] = &[
    SUBJECT,
    Column("class", &["class"], Text, "class of §4.6", "Classes are never combined (§4.7 rule 5)."),
    Column("stops", &["count"], Count, "count in the window", "Stops that count."),
    Column("refusers", &["refusers"], Count, "count", "Distinct refusing parties."),
    Column("top_refuser_share", &["top_refuser_share"], Number, RATE, "The largest refusing party's."),
];

const UPHELD: &[Column] = &[
    SUBJECT,
    Column("upheld_at", &["upheld_at"], Instant, "UTC, ms", "When it was upheld."),
    Column("basis", &["basis"], Text, "basis of §4.8", "On what."),
    Column("categories", &["categories"], Texts, "tags", "The categories of material."),
    Column("direction", &["direction"], Text, "tag", "The agreement's direction."),
    Column("claimant_anchor_hash", &["claimant_anchor_hash"], Text, "sha256:hex", "The claimant's salted anchor hash."),
    Column("answered", &["answered"], Flag, "", "Whether the respondent answered."),
    Column("answered_at", &["answered_at"], Instant, "UTC, ms", "When it last did."),
];

const EVALUATORS: &[Column] = &[
    Column("evaluator", &["evaluator"], Text, "handle or ANS name", "Who attests."),
    Column("volume", &["volume"], Count, "count", "Final attestations."),
    Column("subjects", &["subjects"], Count, "count", "Distinct subjects."),
    Column(
        "disagreement_rate",
        &["disagreement_rate"],
        Number,
        RATE,
        "Those that differ from the derived outcome (§6.5).",
    ),
    Column("truth_checked", &["truth", "checked"], Count, "count", "Those on probed interactions."),
    Column("truth_agreed", &["truth", "agreed"], Count, "count", "Of these, those on the probe's side."),
    Column("excluded_self_dealing", &["excluded", "self_dealing"], Count, "count", "Excluded as self-dealing."),
    Column(
        "excluded_declared_competitor",
        &["excluded", "declared_competitor"],
        Count,
        "count",
        "Excluded as a competitor's.",
    ),
    Column("excluded_rate_limit", &["excluded", "rate_limit"], Count, "count", "Excluded as over the ceiling."),
    Column("offset", &["offset"], Number, "value, 6 places", "The mean of v minus the pool's mean."),
    Column("diversity", &["diversity"], Number, "0 to 1, 6 places", "1 − Σ p² over outcomes; 0 says nothing."),
];

const EVALUATOR_OUTCOMES: &[Column] = &[
    Column("evaluator", &["evaluator"], Text, "handle or ANS name", "Who attests."),
    Column("outcome", &["outcome"], Text, "code of §5", "The code."),
    Column("attestations", &["attestations"], Count, "count", "Final attestations with it."),
];

const ORGANIZATIONS: &[Column] = &[
    Column("anchor", &["anchor"], Text, "email or domain", "The organization."),
    Column("anchor_kind", &["anchor_kind"], Text, "email | domain", "What it is."),
    Column("charter_id", &["charter", "id"], Text, "charter id", "The domain's charter; null without one."),
    Column("domain_proof", &["charter", "domain_proof"], Text, "current | lapsed", "Its proof at T."),
    Column("rated", &["counts", "RATED"], Count, "members", "In this state."),
    Column("unproven", &["counts", "UNPROVEN"], Count, "members", "In this state."),
    Column("unenrolled", &["counts", "UNENROLLED"], Count, "members", "In this state."),
    Column("withdrawn", &["counts", "WITHDRAWN"], Count, "members", "In this state."),
    Column("joined", &["counts", "joined_90d"], Count, "members", "Joined in the window."),
    Column(
        "contract_violations",
        &["facts", "contract_violations_90d"],
        Count,
        "count in the window",
        "The members' sum.",
    ),
    Column(
        "self_dealing_excluded",
        &["self_dealing_excluded_90d"],
        Count,
        "count in the window",
        "Exclusions between members.",
    ),
    Column("nda_upheld", &["nda", "upheld"], Count, "count", "Upheld breaches."),
    Column("nda_members_with_upheld", &["nda", "members_with_upheld"], Count, "members", "Members with one."),
    Column("nda_open", &["nda", "open", "count"], Count, "count", "Open claims."),
];

const MEMBERS: &[Column] = &[
    Column("anchor", &["anchor"], Text, "email or domain", "The organization."),
    SUBJECT,
    Column("basis", &["basis"], Text, "anchor | mandate", "Why it is a member (§8.5)."),
    Column("member_since", &["member_since"], Instant, "UTC, ms", "Since when."),
    Column("enrollment", &["enrollment"], Text, "state of §3.1", "The subject's own state at T."),
];

const PROVIDERS: &[Column] = &[
    Column("provider", &["id"], Text, "id", "The screening provider (§4.7)."),
    Column("blocked", &["blocked"], Count, "count", "Holds that owners blocked."),
    Column("released", &["released"], Count, "count", "Holds that owners released."),
    Column("open", &["open"], Count, "count", "Holds not resolved."),
];

/// The flat tables of the reports as they grow, a few documents at a time.
#[derive(Default)]
pub(super) struct Flat {
    batches: HashMap<&'static str, Vec<RecordBatch>>,
    /// The subject of the last report, whose next ones say nothing new of it.
    last: Option<String>,
}

/// Every table, by name.
const TABLES: [(&str, &[Column]); 10] = [
    ("reports", REPORTS),
    ("promises", PROMISES),
    ("enrollments", ENROLLMENTS),
    ("sender_classes", SENDER_CLASSES),
    ("nda_upheld", UPHELD),
    ("evaluators", EVALUATORS),
    ("evaluator_outcomes", EVALUATOR_OUTCOMES),
    ("organizations", ORGANIZATIONS),
    ("organization_members", MEMBERS),
    ("screening_providers", PROVIDERS),
];

impl Flat {
    /// Adds reports, which come by subject, with the figures behind them.
    pub(super) fn reports(&mut self, documents: &[Value], reports: &[Report]) -> Result<(), ArrowError> {
        let whole = documents.iter().zip(reports).map(|(document, report)| {
            let mut row = document.clone();
            let served = document["quality"].get("mean").is_some();
            let sd = report.enrolled.as_ref().filter(|_| served).and_then(|enrolled| {
                number::six_places_of_f64(enrolled.posterior().sd).map(number::millionths_to_json)
            });
            row["sd"] = sd.into();
            row["nda_upheld"] = document["nda"]["upheld"].as_array().map(Vec::len).into();
            row
        });
        let mut subjects = Vec::new();
        for document in documents {
            let subject = document["subject"].as_str();
            if self.last.as_deref() != subject {
                self.last = subject.map(str::to_owned);
                subjects.push(document);
            }
        }
        let subjects = || subjects.iter().copied();
        let listed = |name: &'static str| subjects().flat_map(move |report| within(report, "subject", &report[name]));
        let classes = subjects().flat_map(|report| {
            named(&report["sender"]["classes"], "class").map(|row| keyed(row, "subject", report)).collect::<Vec<_>>()
        });
        let upheld = subjects().flat_map(|report| within(report, "subject", &report["nda"]["upheld"]));
        self.add("reports", whole)?;
        self.add("promises", listed("promises"))?;
        self.add("enrollments", listed("enrollments"))?;
        self.add("sender_classes", classes)?;
        self.add("nda_upheld", upheld)
    }

    /// Adds evaluator reports.
    pub(super) fn evaluators(&mut self, documents: &[Value]) -> Result<(), ArrowError> {
        let outcomes = documents.iter().flat_map(|document| {
            document["outcomes"].as_object().into_iter().flatten().map(|(outcome, count)| {
                serde_json::json!({ "evaluator": document["evaluator"], "outcome": outcome, "attestations": count })
            })
        });
        self.add("evaluator_outcomes", outcomes)?;
        self.add("evaluators", documents.iter().cloned())
    }

    /// Adds organization reports.
    pub(super) fn organizations(&mut self, documents: &[Value]) -> Result<(), ArrowError> {
        let members = documents.iter().flat_map(|document| within(document, "anchor", &document["members"]));
        self.add("organization_members", members)?;
        self.add("organizations", documents.iter().cloned())
    }

    /// Adds screening providers.
    pub(super) fn providers(&mut self, documents: &[Value]) -> Result<(), ArrowError> {
        self.add("screening_providers", documents.iter().cloned())
    }

    fn add(&mut self, name: &'static str, rows: impl Iterator<Item = Value>) -> Result<(), ArrowError> {
        let columns = TABLES.iter().find(|table| table.0 == name).map_or(&[][..], |table| table.1);
        self.batches.entry(name).or_default().push(table(columns, rows)?);
        Ok(())
    }

    /// Every table with its rows, those without any too.
    pub(super) fn finish(mut self) -> Result<Vec<(&'static str, Vec<RecordBatch>)>, ArrowError> {
        let mut whole = |(name, columns): (&'static str, &[Column])| match self.batches.remove(name) {
            Some(batches) => Ok((name, batches)),
            None => Ok((name, vec![table(columns, std::iter::empty())?])),
        };
        TABLES.into_iter().map(&mut whole).collect()
    }
}

/// The items of a list, each with the key of the document that holds it.
fn within<'a>(document: &'a Value, key: &'static str, list: &'a Value) -> Vec<Value> {
    let items = list.as_array().into_iter().flatten();
    items.map(|item| keyed(item.as_object().cloned().unwrap_or_default(), key, document)).collect()
}

/// The members of an object that are objects, each with its name as `key`.
fn named<'a>(object: &'a Value, key: &'static str) -> impl Iterator<Item = Map<String, Value>> + 'a {
    object.as_object().into_iter().flatten().map(move |(name, value)| {
        let mut row = value.as_object().cloned().unwrap_or_default();
        row.insert(key.to_owned(), name.as_str().into());
        row
    })
}

fn keyed(mut row: Map<String, Value>, key: &str, document: &Value) -> Value {
    row.insert(key.to_owned(), document[key].clone());
    Value::Object(row)
}

fn table(columns: &[Column], rows: impl Iterator<Item = Value>) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<Value> = rows.collect();
    let fields: Vec<Field> = columns
        .iter()
        .map(|Column(name, _, kind, unit, doc)| {
            let metadata =
                HashMap::from([("doc".to_owned(), (*doc).to_owned()), ("unit".to_owned(), (*unit).to_owned())]);
            Field::new(*name, data_type(*kind), true).with_metadata(metadata)
        })
        .collect();
    let arrays = columns.iter().map(|Column(_, path, kind, ..)| array(*kind, path, &rows)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Text => DataType::Utf8,
        Texts => DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))),
        Count => DataType::Int64,
        Number => DataType::Float64,
        Flag => DataType::Boolean,
        Instant => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
    }
}

fn array(kind: Kind, path: &[&str], rows: &[Value]) -> ArrayRef {
    let values = rows.iter().map(|row| path.iter().try_fold(row, |value, name| value.get(name)));
    match kind {
        Text => Arc::new(values.map(|value| value?.as_str()).collect::<StringArray>()),
        Count => Arc::new(values.map(|value| value?.as_i64()).collect::<Int64Array>()),
        Number => Arc::new(values.map(|value| value?.as_f64()).collect::<Float64Array>()),
        Flag => Arc::new(values.map(|value| value?.as_bool()).collect::<BooleanArray>()),
        Instant => {
            let instants = values.map(|value| instant::parse(value?.as_str()?).ok());
            Arc::new(instants.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
        }
        Texts => {
            let mut builder = ListBuilder::new(StringBuilder::new());
            for value in values {
                let items = value.and_then(Value::as_array);
                items
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .for_each(|item| builder.values().append_value(item));
                builder.append(items.is_some());
            }
            Arc::new(builder.finish())
        }
    }
}
