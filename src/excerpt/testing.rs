//! Nights of the fixtures, their reports signed, for the tests of this room.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use super::*;
use crate::engine::Resources;
use crate::identity::Salt;
use crate::instant;
use crate::night;
use crate::snapshot::check::Pin;
use crate::snapshot::document::{Kind, signed_document};
use crate::snapshot::keys::BureauKey;
use crate::warehouse::Warehouse;

pub(super) const T: &str = "2026-11-30T00:00:00Z";

/// A night of a fixture, its reports signed.
pub(super) struct Night {
    pub folder: tempfile::TempDir,
    pub warehouse: Warehouse,
    pub key: BureauKey,
    pub reports: Vec<Value>,
}

pub(super) fn resources() -> Resources {
    Resources::new(2, 256 << 20)
}

impl Night {
    pub fn of(fixture: &str) -> Night {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture).join("export");
        let folder = tempfile::tempdir().unwrap();
        let mut warehouse = Warehouse::open_or_create(&folder.path().join("warehouse")).unwrap();
        let salt = Salt::read(&root.join("anchor.salt")).unwrap();
        let as_of = instant::parse(T).unwrap();
        night::load(&root, &mut warehouse, Some(&salt), false, false, &|_| {}).unwrap();
        night::audit(&warehouse, as_of, &resources(), true).unwrap();
        night::report(&warehouse, as_of, &resources(), true).unwrap();
        let text = std::fs::read_to_string(warehouse.join("documents/reports.jsonl")).unwrap();
        let reports: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let night = Night { folder, warehouse, key: BureauKey::generate().unwrap(), reports };
        let lines: Vec<u8> = night
            .reports
            .iter()
            .flat_map(|report| [signed_document(&night.key, Kind::Report, report), b"\n".to_vec()].concat())
            .collect();
        std::fs::write(night.all(), zstd::encode_all(lines.as_slice(), 3).unwrap()).unwrap();
        night
    }

    pub fn small() -> &'static Night {
        static NIGHT: OnceLock<Night> = OnceLock::new();
        NIGHT.get_or_init(|| Night::of("small"))
    }

    pub fn policy() -> &'static Night {
        static NIGHT: OnceLock<Night> = OnceLock::new();
        NIGHT.get_or_init(|| Night::of("policy"))
    }

    pub fn attacks() -> &'static Night {
        static NIGHT: OnceLock<Night> = OnceLock::new();
        NIGHT.get_or_init(|| Night::of("attacks"))
    }

    pub fn all(&self) -> PathBuf {
        self.folder.path().join("reports.jsonl.zst")
    }

    pub fn subjects(&self) -> Vec<String> {
        let mut subjects: Vec<String> =
            self.reports.iter().map(|report| report["subject"].as_str().unwrap().to_owned()).collect();
        subjects.dedup();
        subjects
    }

    pub fn excerpt(&self, subject: &str) -> Excerpt {
        collect(&self.warehouse, subject, None, &resources()).unwrap()
    }

    /// The subject of the first report that is as asked.
    pub fn subject(&self, wanted: impl Fn(&Value) -> bool) -> String {
        self.reports.iter().find(|report| wanted(report)).unwrap()["subject"].as_str().unwrap().to_owned()
    }

    pub fn confirm(&self, subject: &str) -> Verdict {
        self.verdict(&self.excerpt(subject).to_bytes(Some(&self.key)), &self.all())
    }

    pub fn verdict(&self, bytes: &[u8], reports: &Path) -> Verdict {
        let (excerpt, faults) = Excerpt::parse(bytes).unwrap();
        let pin = Pin::from_kid(&self.key.public().kid()).unwrap();
        let (signed, all) = SignedReport::read_all(reports, excerpt.subject(), Some(&pin)).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        recompute(&excerpt, faults, &signed, all, scratch.path(), &resources()).unwrap()
    }

    pub fn confirm_all(&self, subjects: &[String]) {
        for subject in subjects {
            let verdict = self.confirm(subject);
            assert!(verdict.confirmed(), "{subject}: {:#?} {:#?}", verdict.faults, verdict.differences);
            let expected = self.reports.iter().filter(|report| report["subject"] == subject.as_str()).count();
            assert_eq!(verdict.reports, expected, "{subject}");
        }
    }
}

/// One subject of each sort, and every seventh.
pub(super) fn sample(night: &Night) -> Vec<String> {
    let mut chosen: Vec<String> = night.subjects().into_iter().step_by(7).collect();
    let has = |member: &'static str| move |report: &Value| report.get(member).is_some();
    for state in ["RATED", "UNPROVEN", "WITHDRAWN", "UNENROLLED"] {
        chosen.push(night.subject(|report| report["enrollment"] == state));
    }
    chosen.push(night.subject(has("sender")));
    chosen
        .push(night.subject(|report| {
            !report["nda"]["upheld"].as_array().into_iter().flatten().collect::<Vec<_>>().is_empty()
        }));
    chosen.push(night.subject(|report| report["candor"].get("refusals").is_some()));
    chosen.push(night.subject(|report| report["evidence"].get("value_judgment_share").is_some()));
    chosen.sort();
    chosen.dedup();
    chosen
}
