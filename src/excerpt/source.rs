//! The warehouse as the last report stage left it, opened for one subject.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};

use super::ExcerptError;
use crate::engine::{Resources, Rows, Session};
use crate::instant;
use crate::night::{Audited, Inputs, NightError, Reported};
use crate::warehouse::{Warehouse, schema};

/// Intermediates of the report stage that this room reads.
const DERIVED: [&str; 19] = [
    "policy",
    "identity",
    "anchor_party",
    "correction",
    "standing_exclusion",
    "standing_fact",
    "standing_attestation",
    "standing_probe",
    "stop_accepted",
    "claim_entry",
    "enrollment_interval",
    "interaction",
    "event",
    "pool",
    "report_index",
    "prior",
    "known_subject",
    "refusing_party",
    "sender_seen",
];

/// A session over a warehouse with the one-row table `excerpted` (subject, as_of).
pub(super) struct Source {
    /// The session.
    pub session: Session,
    /// What the report stage said.
    pub reported: Reported,
    /// The run's inputs.
    pub inputs: Inputs,
    /// Whose excerpt is made.
    pub subject: String,
}

impl Source {
    /// Opens a warehouse whose last audit and report are of one instant and of its last load; of `as_of`, where that is given.
    pub fn open(
        warehouse: &Warehouse,
        subject: &str,
        as_of: Option<i64>,
        resources: &Resources,
    ) -> Result<Source, ExcerptError> {
        let reported: Reported = stage(&warehouse.join("documents/run.json"), "report")?;
        let audited: Audited = stage(&warehouse.join("audit.json"), "audit")?;
        let stale =
            |what: String| ExcerptError::Night(NightError::Stage { path: warehouse.path().to_path_buf(), what });
        let found = reported.facts.as_of;
        if let Some(asked) = as_of.filter(|asked| *asked != found) {
            return Err(stale(format!(
                "its figures are of {}, not of {}; run `bureau audit` and `bureau report` for that instant first",
                instant::format(found),
                instant::format(asked)
            )));
        }
        if audited.as_of != found || audited.load != warehouse.number() {
            let what = "the last audit is of another instant or load than its figures";
            return Err(stale(format!("{what}; run `bureau audit` and `bureau report` again")));
        }
        let session = Session::open(resources, &warehouse.join("spill"))?;
        for table in schema::ACTIONS.iter().chain([&schema::LEDGER]) {
            session.register_parquet(table.name, &warehouse.parts(table.name))?;
        }
        for name in DERIVED {
            session.register_kept(name, &warehouse.join("derived"))?;
        }
        session.register_parquet("finding", &[warehouse.join("findings.parquet")])?;
        session.register_parquet("withheld", &[warehouse.join("withheld.parquet")])?;
        session.register_batch("excerpted", parameters(subject, found)?)?;
        let inputs = Inputs::open(warehouse)?;
        Ok(Source { session, reported, inputs, subject: subject.to_owned() })
    }

    /// *T*, in milliseconds.
    pub fn as_of(&self) -> i64 {
        self.reported.facts.as_of
    }

    /// The rows of a query.
    pub fn rows(&self, name: &str, sql: &str) -> Result<Rows, ExcerptError> {
        Ok(self.session.rows(name, sql)?)
    }

    /// The fault of a subject that nothing is known about.
    pub fn unknown(&self) -> ExcerptError {
        ExcerptError::Unknown { subject: self.subject.clone(), as_of: instant::format(self.as_of()) }
    }
}

fn stage<T: serde::de::DeserializeOwned>(path: &Path, name: &str) -> Result<T, ExcerptError> {
    let missing = |what: &str| {
        ExcerptError::Night(NightError::Stage {
            path: path.to_path_buf(),
            what: format!("{what}; run `bureau {name}` first"),
        })
    };
    let text = std::fs::read(path).map_err(|_| missing("is not there"))?;
    serde_json::from_slice(&text).map_err(|_| missing("cannot be read"))
}

fn parameters(subject: &str, as_of: i64) -> Result<RecordBatch, ExcerptError> {
    let fields = vec![
        Field::new("subject", DataType::Utf8, false),
        Field::new("as_of", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), false),
    ];
    let as_of = TimestampMillisecondArray::from(vec![as_of]).with_timezone("UTC");
    Ok(RecordBatch::try_new(
        Arc::new(Schema::new(fields)),
        vec![Arc::new(StringArray::from(vec![subject])), Arc::new(as_of)],
    )?)
}
