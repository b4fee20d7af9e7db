//! The vectors of `fixtures/fdbk-score-1.json`, whose script calculates them by itself.

use serde_json::Value;

use super::*;
use crate::instant;

/// `12.5` with 15 places as 12500000000000000.
fn units(value: &Value, places: usize) -> i128 {
    let (whole, fraction) = value.as_str().unwrap().split_once('.').unwrap();
    assert_eq!(fraction.len(), places);
    format!("{whole}{fraction}").parse().unwrap()
}

fn check_vector(case: &Value, prior: &Prior) {
    let name = case["name"].as_str().unwrap();
    let weigher = weigher(case["half_life_days"].as_str().unwrap(), case["value_weight"].as_str().unwrap());
    let as_of = instant::parse(case["as_of"].as_str().unwrap()).unwrap();
    let (mut sum_w, mut sum_wv) = (0, 0);
    for event in case["events"].as_array().unwrap() {
        let code = event["code"].as_str().unwrap();
        let t = instant::parse(event["ended_at"].as_str().unwrap()).unwrap();
        let weight = i128::from(weigher.weight_at(as_of, t, code.starts_with("VALUE_")));
        assert_eq!(weight, units(&event["weight"], 15), "{name}: {event}");
        let hundredths = match code {
            "OK" | "PASS" | "VALUE_OK" => 100,
            "OK_CORRECTED" => 60,
            "FAILED" => 15,
            "FAILED_SILENT" | "CONTRACT" | "FAIL" | "VALUE_POOR" => 0,
            other => panic!("{name}: {other}"),
        };
        sum_w += weight;
        sum_wv += weight * hundredths;
    }
    let expected = &case["expected"];
    assert_eq!((sum_w, sum_wv), (units(&expected["n_eff"], 15), units(&expected["sum_wv"], 17)), "{name}");
    let got = posterior(sum_w, sum_wv, prior);
    for (member, value) in [("a", got.a), ("b", got.b), ("mean", got.mean), ("sd", got.sd), ("lcb", got.lcb)] {
        assert_eq!(expected[member].as_f64().map(f64::to_bits), Some(value.to_bits()), "{name}: {member}");
    }
    let published = &expected["published"];
    for (member, millionths) in [
        ("n_eff", six_places_of_decimal(sum_w, 15)),
        ("mean", six_places_of_f64(got.mean)),
        ("sd", six_places_of_f64(got.sd)),
        ("lcb", six_places_of_f64(got.lcb)),
    ] {
        assert_eq!(Value::Number(millionths_to_json(millionths.unwrap())), published[member], "{name}: {member}");
    }
    let threshold = decimal(case["unproven_threshold"].as_str().unwrap()).units_ceil(15).unwrap();
    assert_eq!(expected["state"], if sum_w >= threshold { "RATED" } else { "UNPROVEN" }, "{name}");
}

#[test]
fn the_vectors_of_fdbk_score_1() {
    let vectors: Value = serde_json::from_str(include_str!("../../../../fixtures/fdbk-score-1.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 30);
    for case in cases {
        check_vector(case, &Prior::uniform());
    }
    for case in vectors["prior_cases"].as_array().unwrap() {
        let sum =
            |member, places| case["others"].as_array().unwrap().iter().map(|other| units(&other[member], places)).sum();
        let prior = Prior::portfolio(
            sum("n_eff", 15),
            sum("sum_wv", 17),
            &decimal(case["prior_weight_events"].as_str().unwrap()),
        )
        .unwrap();
        assert_eq!(
            Value::Number(millionths_to_json(prior.weight_events_millionths())),
            case["prior"]["weight_events"],
            "{}",
            case["name"]
        );
        check_vector(case, &prior);
    }
    assert_eq!(Prior::portfolio(0, 0, &Decimal::ONE), None);
}
