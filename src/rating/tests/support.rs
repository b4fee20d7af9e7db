//! Tables made in a scratch folder, and a run over them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::engine::{Resources, Session};
use crate::instant;
use crate::rating::{Parameters, Ratings, rate};

/// 2026-11-30T00:00:00Z.
pub const AS_OF: &str = "2026-11-30T00:00:00Z";

pub fn parameters(window_decisions: i64) -> Parameters {
    let as_of = instant::parse(AS_OF).unwrap();
    Parameters { as_of, expires_at: as_of + 26 * 3_600_000, window_decisions }
}

/// Rates the tables of a folder.
pub fn run(dir: &Path, window: i64) -> Ratings {
    let scratch = TempDir::new().unwrap();
    let resources = Resources::new(2, 256 << 20);
    let session = Session::open(&resources, &scratch.path().join("spill")).unwrap();
    rate(dir, &scratch.path().join("store"), &session, &parameters(window)).unwrap()
}

/// Rows by table, on their way into JSON lines.
#[derive(Default)]
pub struct Tables {
    pub organizations: Vec<Value>,
    pub agents: Vec<Value>,
    pub transactions: Vec<Value>,
    pub slash_events: Vec<Value>,
    pub revocations: Vec<Value>,
}

impl Tables {
    /// An organization without verification, once.
    pub fn organization(&mut self, id: &str) {
        if !self.organizations.iter().any(|row| row["id"] == id) {
            self.organizations.push(json!({"id": id, "verification_level": "none"}));
        }
    }

    /// A live agent without a limit, so that a full observation is a dollar.
    pub fn agent(&mut self, id: &str, organization: &str) {
        self.organization(organization);
        self.agents.push(json!({
            "id": id, "mpp_did": "did:mpp:x", "organization_id": organization,
            "data_provenance": "live", "created_at": "2026-01-01T00:00:00Z",
        }));
    }

    /// A decision of the agent: approved, of a dollar, unless `changes` says otherwise.
    pub fn decision(&mut self, agent: &str, day: u32, changes: Value) {
        let at = instant::format(instant::parse("2026-02-01T00:00:00Z").unwrap() + i64::from(day) * instant::DAY_MS);
        let mut row = json!({
            "id": format!("t{:06}", self.transactions.len()), "agent_id": agent, "created_at": at,
            "route": "/authorize-intent", "amount_usd": "1", "approval_status": "approved", "receipt_signed": true,
            "metadata": {},
        });
        if let (Value::Object(row), Value::Object(changes)) = (&mut row, changes) {
            row.extend(changes);
        }
        self.transactions.push(row);
    }

    pub fn slash(&mut self, agent: &str, status: &str) {
        self.slash_events.push(json!({
            "id": format!("s{:06}", self.slash_events.len()), "agent_id": agent, "status": status, "created_at": "2026-06-01T00:00:00Z",
        }));
    }

    /// Writes every table that has rows.
    pub fn write(&self, dir: &Path) {
        for (name, rows) in [
            ("organizations", &self.organizations),
            ("agents", &self.agents),
            ("transactions", &self.transactions),
            ("slash_events", &self.slash_events),
            ("revocations", &self.revocations),
        ] {
            let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
            fs::write(dir.join(format!("{name}.jsonl")), lines).unwrap();
        }
    }

    /// Rates the tables; none of their rows may be refused.
    pub fn rate(&self, window: i64) -> BTreeMap<String, Value> {
        let dir = TempDir::new().unwrap();
        self.write(dir.path());
        let ratings = run(dir.path(), window);
        assert_eq!(ratings.refused, [], "the generator makes valid rows");
        ratings.documents().map(|document| (document["agent_id"].as_str().unwrap().to_owned(), document)).collect()
    }
}

/// The item of `factors[]` with this key.
pub fn factor<'a>(rating: &'a Value, key: &str) -> &'a Value {
    rating["factors"].as_array().unwrap().iter().find(|factor| factor["key"] == key).unwrap()
}

/// The members of a rating without those named.
pub fn without(rating: &Value, names: &[&str]) -> Map<String, Value> {
    let members = rating.as_object().unwrap();
    members.iter().filter(|(name, _)| !names.contains(&name.as_str())).map(|(n, v)| (n.clone(), v.clone())).collect()
}

/// What must hold of every rating: the score is the sum of the published contributions and not negative, the
/// denominator is 1000 less the unscorable weights, and the rest of the verdict follows from them.
pub fn check_sums(rating: &Value) {
    let contributions = |item: &Value| item["contribution"].as_i64().unwrap();
    let factors = rating["factors"].as_array().unwrap();
    let score: i64 = factors.iter().map(contributions).sum();
    assert_eq!(rating["score"], score, "{rating}");
    assert!(score >= 0, "{rating}");
    if factors.is_empty() {
        assert_eq!((&rating["denominator"], &rating["normalized_score"]), (&json!(0), &Value::Null));
        return;
    }
    let weights: i64 = factors.iter().map(|factor| factor["weight"].as_i64().unwrap()).sum();
    let unscorable: i64 =
        rating["unscorable_factors"].as_array().unwrap().iter().map(|item| item["weight"].as_i64().unwrap()).sum();
    assert_eq!(weights + unscorable, 1000);
    assert_eq!(rating["denominator"], weights);
    let uncapped = (2 * 1000 * score + weights) / (2 * weights);
    let ceiling = rating["caps"][0]["ceiling"].as_i64().unwrap();
    assert_eq!(rating["uncapped_score"], uncapped);
    assert_eq!(rating["normalized_score"], uncapped.min(ceiling));
    assert_eq!(rating["caps"][0]["binding"], uncapped > ceiling);
    assert_eq!(rating["tier"].as_str().unwrap().ends_with('*'), weights != 1000);
    for penalty in &factors[factors.len() - 4..] {
        assert!(contributions(penalty) <= 0 && penalty["assessed"].as_i64().unwrap() <= contributions(penalty));
        assert!(penalty["value"].is_null());
    }
    let left: i64 = factors[..factors.len() - 4].iter().map(contributions).sum();
    let assessed: i64 = factors[factors.len() - 4..].iter().map(|penalty| penalty["assessed"].as_i64().unwrap()).sum();
    assert_eq!(score, (left + assessed).max(0));
}
