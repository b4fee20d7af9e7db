//! The report's shape in each state, and what it serves at the border of the threshold.

use serde_json::{Map, Value, json};

use super::super::subject_blocks::{Candor, Enrollment, Facts, Pool};
use super::{Enrolled, Report, ReportTerms, State};

const ONE: i128 = 1_000_000_000_000_000;

fn terms() -> ReportTerms {
    ReportTerms { half_life_days: json!(60), unproven_threshold: 20 * ONE }
}

fn report(state: State, sum_w: i128, sum_wv: i128) -> Report {
    Report {
        subject: "Coder.ana@example.org".to_owned(),
        capability: Some("code-review".to_owned()),
        state,
        facts: Facts::default(),
        enrolled: Some(Enrolled {
            enrollments: vec![
                Enrollment { enrolled_at: 0, withdrew_at: Some(1_000) },
                Enrollment { enrolled_at: 2_000, withdrew_at: None },
            ],
            pool: Pool { sum_w, sum_wv, ..Pool::default() },
            lent: None,
            candor: Candor::default(),
            promises: Vec::new(),
        }),
    }
}

fn quality(report: &Report) -> Value {
    report.document(&Map::new(), &terms(), None, None)["quality"].clone()
}

#[test]
fn an_unenrolled_subject_has_facts_and_records_and_nothing_else() {
    let report =
        Report { capability: None, state: State::Unenrolled, enrolled: None, ..report(State::Unenrolled, 0, 0) };
    let document = report.document(&Map::new(), &terms(), Some(&json!({ "classes": {} })), None);
    let names: Vec<_> = document.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["capability", "enrollment", "facts", "sender", "subject"]);
    assert_eq!(document["capability"], Value::Null);
    assert_eq!(document["enrollment"], json!("UNENROLLED"));
}

#[test]
fn the_last_enrollment_stands_first_and_every_one_is_listed() {
    let document = report(State::Unproven, 0, 0).document(&Map::new(), &terms(), None, None);
    assert_eq!(document["enrolled_at"], json!("1970-01-01T00:00:02.000Z"));
    assert_eq!(document.get("withdrew_at"), None);
    let expected = json!([
        { "enrolled_at": "1970-01-01T00:00:00.000Z", "withdrew_at": "1970-01-01T00:00:01.000Z" },
        { "enrolled_at": "1970-01-01T00:00:02.000Z" },
    ]);
    assert_eq!(document["enrollments"], expected);
}

#[test]
fn an_unproven_capability_serves_its_sample_size_alone() {
    assert_eq!(quality(&report(State::Unproven, 20 * ONE - 1, 0)).to_string(), r#"{"n_eff":20}"#);
}

#[test]
fn a_rated_one_serves_mean_and_bound() {
    // a = 19, b = 3: mean 19/22; sd = sqrt(57 / (22^2 * 23)) = 0.0715570..., lcb = mean - 1.2816 sd.
    let quality = quality(&report(State::Rated, 20 * ONE, 1_800 * ONE));
    assert_eq!(quality["mean"].to_string(), "0.863636");
    assert_eq!(quality["lcb"].to_string(), "0.771929");
    assert_eq!(quality["n_eff"], json!(20));
}

#[test]
fn a_withdrawn_one_serves_them_from_the_threshold_up() {
    assert_eq!(quality(&report(State::Withdrawn, 20 * ONE - 1, 0)).get("mean"), None);
    assert_eq!(quality(&report(State::Withdrawn, 20 * ONE, 0))["lcb"], json!(0));
    assert!(quality(&report(State::Withdrawn, 20 * ONE, 0)).get("mean").is_some());
}

#[test]
fn reports_stand_by_subject_then_capability_with_none_first() {
    let named = |subject: &str, capability: Option<&str>| Report {
        subject: subject.to_owned(),
        capability: capability.map(str::to_owned),
        ..report(State::Rated, 0, 0)
    };
    let mut reports =
        [named("b", Some("a")), named("a", Some("ß")), named("a", Some("z")), named("B", None), named("b", None)];
    reports.sort_by(Report::order);
    let keys: Vec<_> = reports.iter().map(|one| (one.subject.as_str(), one.capability.as_deref())).collect();
    assert_eq!(keys, [("B", None), ("a", Some("z")), ("a", Some("ß")), ("b", None), ("b", Some("a"))]);
}

#[test]
fn every_state_reads_back() {
    for state in [State::Unenrolled, State::Unproven, State::Rated, State::Withdrawn] {
        assert_eq!(State::parse(state.as_str()), Some(state));
    }
    assert_eq!(State::parse("rated"), None);
}
