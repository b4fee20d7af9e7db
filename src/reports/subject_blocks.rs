//! The blocks of a `report`, each from its own counts and sums (§8.1; profile 2.6).
//!
//! A rate with nothing behind it is null, a count never is.

use serde_json::{Map, Value, json};

use super::number::{self, Prior};
use crate::instant;

/// One enrollment of a subject (profile 2.4), instants in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enrollment {
    /// Its start.
    pub enrolled_at: i64,
    /// Its end, where the subject withdrew.
    pub withdrew_at: Option<i64>,
}

impl Enrollment {
    /// `enrolled_at`, and `withdrew_at` where there is one.
    pub fn members(&self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("enrolled_at".to_owned(), instant::format(self.enrolled_at).into());
        if let Some(end) = self.withdrew_at {
            members.insert("withdrew_at".to_owned(), instant::format(end).into());
        }
        members
    }
}

/// What the mesh measured of a subject in the window: counts of facts, and two latencies in milliseconds (a row of `facts`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// All of them.
    pub facts: i64,
    /// Those that found it unreachable or timed out.
    pub unreachable: i64,
    /// Those of derived outcome UNAVAILABLE.
    pub unavailable: i64,
    /// Those with a failed promise check that counts, or derived outcome CONTRACT.
    pub contract_violations: i64,
    /// Those of derived outcome REFUSED_UNSTATED.
    pub unstated_refusals: i64,
    /// Those that were parked for the caller's input.
    pub input_required: i64,
    /// The 50th percentile of latency.
    pub latency_p50: Option<i64>,
    /// The 95th.
    pub latency_p95: Option<i64>,
}

impl Facts {
    /// The `facts` member.
    pub fn block(&self) -> Value {
        json!({
            "reachability_90d": ratio((self.facts - self.unreachable).into(), self.facts.into()),
            "latency_ms": { "p50": self.latency_p50, "p95": self.latency_p95 },
            "contract_violations_90d": self.contract_violations,
            "unstated_refusals_90d": self.unstated_refusals,
            "unavailable_90d": ratio(self.unavailable.into(), self.facts.into()),
            "input_required_90d": self.input_required,
        })
    }
}

/// Requests that a subject judged harmful or outside its offerings (a row of `refusal`), counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusals {
    /// All of them.
    pub refused: i64,
    /// Distinct callers.
    pub caller_anchors: i64,
    /// Those of the largest caller.
    pub top_caller: i64,
    /// Those that a screener, or a stop of the same caller elsewhere, corroborates.
    pub corroborated: i64,
}

/// What a subject chose and admitted in the window (a row of `candor`), counts of interactions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candor {
    /// Declined up front.
    pub declined: i64,
    /// Ended in an acceptance code.
    pub worked: i64,
    /// Of those, FAILED_SILENT.
    pub failed_silent: i64,
    /// Present where there is one.
    pub refusals: Option<Refusals>,
}

impl Candor {
    /// The `candor` member.
    pub fn block(&self) -> Value {
        let mut block = Map::new();
        block.insert("decline_rate".to_owned(), ratio(self.declined.into(), (self.declined + self.worked).into()));
        block.insert("silent_failure_rate".to_owned(), ratio(self.failed_silent.into(), self.worked.into()));
        if let Some(refusals) = &self.refusals {
            let all = refusals.refused.into();
            let block_of_refusals = json!({
                "count_90d": refusals.refused,
                "caller_anchors": refusals.caller_anchors,
                "top_caller_share": ratio(refusals.top_caller.into(), all),
                "corroborated_share": ratio(refusals.corroborated.into(), all),
            });
            block.insert("refusals".to_owned(), block_of_refusals);
        }
        Value::Object(block)
    }
}

/// A quality pool (a row of `pool`). Weights are in units of 1e-15, instants in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    /// Its events.
    pub events: i64,
    /// Σ w.
    pub sum_w: i128,
    /// Σ w·v, in units of 1e-17.
    pub sum_wv: i128,
    /// The first event.
    pub oldest: Option<i64>,
    /// The last.
    pub newest: Option<i64>,
    /// The part of Σ w that probes bring.
    pub probe_w: i128,
    /// The part that value judgments bring.
    pub value_w: i128,
    /// The part that attestations bring, value judgments included.
    pub attested_w: i128,
    /// The largest part of that from one anchor.
    pub top_anchor_w: Option<i128>,
    /// Anchors behind it.
    pub attester_anchors: i64,
    /// Value judgments.
    pub value_events: i64,
    /// Of those, the ones that carry no amount.
    pub value_events_without_amount: i64,
}

/// A prior that an anchor's other agents lend (profile 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lent {
    /// How many they are.
    pub from_agents: i64,
    /// What they lend.
    pub prior: Prior,
}

impl Lent {
    /// `{from_agents, weight_events}`.
    pub fn block(&self) -> Value {
        let weight = number::millionths_to_json(self.prior.weight_events_millionths());
        json!({ "from_agents": self.from_agents, "weight_events": weight })
    }
}

impl Pool {
    /// The `evidence` member. `half_life_days` is the policy's.
    pub fn evidence(&self, half_life_days: &Value, lent: Option<&Lent>) -> Value {
        let mut block = Map::new();
        let mut put = |name: &str, value: Value| block.insert(name.to_owned(), value);
        put("half_life_days", half_life_days.clone());
        put("oldest", self.oldest.map(instant::format).into());
        put("newest", self.newest.map(instant::format).into());
        put("attester_anchors", self.attester_anchors.into());
        put("top_anchor_share", self.top_anchor_w.map_or(Value::Null, |top| ratio(top, self.attested_w)));
        put("probe_share", ratio(self.probe_w, self.sum_w));
        put("portfolio_prior", lent.map_or(Value::Bool(false), Lent::block));
        if self.value_events > 0 {
            put("value_judgment_share", ratio(self.value_w, self.sum_w));
            put("value_judgments_without_amount", self.value_events_without_amount.into());
        }
        Value::Object(block)
    }
}

/// A promise of the latest declaration, and how it was kept in the window (§9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// Its id.
    pub id: String,
    /// `mesh-verifiable`, `probe-verifiable` or `attested-only`.
    pub class: String,
    /// What is promised.
    pub text: String,
    /// Checks that count, and those of them that held.
    pub checks: i64,
    /// Those that held.
    pub held: i64,
}

impl Promise {
    /// Only a mesh-verifiable promise has a `held_90d`.
    pub fn block(&self) -> Value {
        let verifiable = self.class == "mesh-verifiable";
        let held = if verifiable { ratio(self.held.into(), self.checks.into()) } else { Value::Null };
        json!({ "id": self.id, "class": self.class, "text": self.text, "held_90d": held })
    }
}

/// A published ratio, null where nothing is behind it (profile 2.2).
fn ratio(numerator: i128, denominator: i128) -> Value {
    json!(number::six_places_of_ratio(numerator, denominator).map(number::millionths_to_json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_seen_has_null_rates_and_zero_counts() {
        let expected = json!({
            "reachability_90d": null, "latency_ms": { "p50": null, "p95": null }, "contract_violations_90d": 0,
            "unstated_refusals_90d": 0, "unavailable_90d": null, "input_required_90d": 0,
        });
        assert_eq!(Facts::default().block(), expected);
    }

    #[test]
    fn rates_are_rounded_half_away_from_zero_at_six_places() {
        let facts = Facts { facts: 12, unreachable: 1, unavailable: 5, ..Facts::default() };
        let block = facts.block();
        assert_eq!(block["reachability_90d"].to_string(), "0.916667");
        assert_eq!(block["unavailable_90d"].to_string(), "0.416667");
    }

    #[test]
    fn a_decline_is_measured_against_work_and_a_silent_failure_against_work_alone() {
        let candor = Candor { declined: 1, worked: 3, failed_silent: 3, refusals: None };
        assert_eq!(candor.block(), json!({ "decline_rate": 0.25, "silent_failure_rate": 1 }));
        assert_eq!(Candor::default().block(), json!({ "decline_rate": null, "silent_failure_rate": null }));
    }

    #[test]
    fn refusals_stand_beside_the_rates() {
        let refusals = Refusals { refused: 4, caller_anchors: 2, top_caller: 3, corroborated: 1 };
        let block = Candor { refusals: Some(refusals), ..Candor::default() }.block();
        let expected =
            json!({ "count_90d": 4, "caller_anchors": 2, "top_caller_share": 0.75, "corroborated_share": 0.25 });
        assert_eq!(block["refusals"], expected);
    }

    #[test]
    fn an_empty_pool_has_no_shares_and_no_instants() {
        let expected = json!({
            "half_life_days": 60, "oldest": null, "newest": null, "attester_anchors": 0, "top_anchor_share": null,
            "probe_share": null, "portfolio_prior": false,
        });
        assert_eq!(Pool::default().evidence(&json!(60), None), expected);
    }

    #[test]
    fn shares_are_parts_of_weight_and_the_top_anchor_a_part_of_the_attested() {
        let pool = Pool {
            events: 3,
            sum_w: 2_000_000_000_000_000,
            probe_w: 500_000_000_000_000,
            value_w: 250_000_000_000_000,
            attested_w: 1_000_000_000_000_000,
            top_anchor_w: Some(750_000_000_000_000),
            attester_anchors: 2,
            value_events: 1,
            ..Pool::default()
        };
        let block = pool.evidence(&json!(60), None);
        assert_eq!(block["probe_share"], json!(0.25));
        assert_eq!(block["value_judgment_share"], json!(0.125));
        assert_eq!(block["top_anchor_share"], json!(0.75));
        assert_eq!(block["value_judgments_without_amount"], json!(0));
    }

    #[test]
    fn only_a_mesh_verifiable_promise_says_how_it_was_held() {
        let promise = |class: &str, checks| Promise {
            id: "p1".to_owned(),
            class: class.to_owned(),
            text: "p95 latency under 5s".to_owned(),
            checks,
            held: 2,
        };
        assert_eq!(promise("mesh-verifiable", 3).block()["held_90d"].to_string(), "0.666667");
        assert_eq!(promise("mesh-verifiable", 0).block()["held_90d"], Value::Null);
        assert_eq!(promise("attested-only", 3).block()["held_90d"], Value::Null);
    }
}
