//! Profile 2.1, value by value.

use super::*;
use crate::instant::{self, DAY_MS};

const BUREAU: &str = "bureau = \"https://bureau.example\"\n";

fn faults(text: &str) -> Vec<String> {
    Policy::parse(text, "policy.toml").err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn with(line: &str) -> Result<Policy, Vec<PolicyFault>> {
    Policy::parse(&format!("{BUREAU}{line}\n"), "policy.toml")
}

#[test]
fn what_is_left_out_has_its_default() {
    assert_eq!(with("").unwrap(), Policy::with_defaults("https://bureau.example"));
}

#[test]
fn every_bound_is_held_with_its_section_and_line() {
    for (name, inside, outside, section) in [
        ("half_life_days", "1e-9", "0.0", "§7.2"),
        ("unproven_threshold", "0", "-0.5", "§7.4"),
        ("value_weight", "1.0", "1.0000000000000001", "§7.6"),
        ("value_weight", "0", "-1", "§7.6"),
        ("prior_weight_events", "10", "10.1", "§7.5"),
        ("portfolio_prior", "true", "1", "§7.5"),
        ("evaluator_min_volume", "3", "2", "profile 2.1"),
        ("evaluator_min_volume", "4.0", "3.5", "profile 2.1"),
        ("cooling_off_days", "14", "13.9999999999", "§3.3"),
        ("attestation_window_days", "0.1", "0", "§6.2"),
        ("rate_ceiling", "0", "-1", "§6.4"),
        ("rate_ceiling", "3e1", "0.5", "§6.4"),
        ("rate_window_days", "0", "inf", "§6.4"),
        ("window_days", "1_000", "nan", "§8.2"),
        ("sender_threshold", "3", "2", "§4.7"),
        ("claim_filing_days", "90", "89", "§4.8"),
        ("claim_open_days", "0.5", "0", "§4.8"),
        ("claim_record_days", "1095", "1094.999", "§4.8"),
        ("report_ttl_hours", "0.01", "0", "profile 2.1"),
        ("rating_window_decisions", "1", "0", "profile 2.1"),
        ("rating_window_decisions", "1000", "1001", "profile 2.1"),
        ("formula_version", "\"fdbk-score-1\"", "\"fdbk-score-2\"", "§7.3"),
        ("evaluator_weighting", "'fdbk-evw-0'", "'fdbk-evw-1'", "§6.5"),
        ("court_procedure", "\"In writing.\"", "\" \"", "§10.3"),
        ("half_life_days", "60", "\"60\"", "§7.2"),
        ("half_life_days", "60", "0x3C", "§7.2"),
        ("half_life_days", "60", "{ days = 60 }", "§7.2"),
        ("half_life_days", "60", "123456789012345678901234567890.5", "§7.2"),
    ] {
        assert!(with(&format!("{name} = {inside}")).is_ok(), "{name} = {inside}");
        let found = with(&format!("\n{name} = {outside}")).unwrap_err();
        assert_eq!(found.len(), 1, "{name} = {outside}: {found:?}");
        assert_eq!((found[0].line, found[0].name.as_str(), found[0].section), (3, name, section), "{outside}");
    }
}

#[test]
fn a_number_is_the_decimal_as_written() {
    let policy = with("half_life_days = 45.500\nvalue_weight = 3.5e-1\nwindow_days = 1_00").unwrap();
    assert_eq!(
        (policy.half_life_days.to_string(), policy.value_weight.to_string(), policy.window_days.to_string()),
        ("45.5".into(), "0.35".into(), "100".into())
    );
}

#[test]
fn all_faults_come_together_in_line_order() {
    let text = "half_life_days = 0\nfailed_value = 0.2\nok_corrected_value = 0.6\ncooling_off = 30\ncooling_off_days = 7\nrate.ceiling = 3\n[bureau]\nurl = 1\n";
    assert_eq!(
        faults(text),
        [
            "policy.toml:1: half_life_days: 0 is out of its bound: above 0 (§7.2)",
            "policy.toml:2: failed_value: is a constant of fdbk-score-1 and no policy value (§5)",
            "policy.toml:3: ok_corrected_value: is a constant of fdbk-score-1 and no policy value (§5)",
            "policy.toml:4: cooling_off: is no policy value (profile 2.1)",
            "policy.toml:5: cooling_off_days: 7 is out of its bound: at least 14 (§3.3)",
            "policy.toml:6: rate: is no policy value (profile 2.1)",
            "policy.toml:7: bureau: [bureau] is out of its bound: a URL (§10.3)",
        ]
    );
    assert_eq!(faults(""), ["policy.toml:1: bureau: is missing, and has no default: a URL (§10.3)"]);
}

#[test]
fn broken_toml_names_its_line() {
    for text in [
        "bureau = \"https://b.example\"\nhalf_life_days = \n",
        "bureau = \"https://b.example\"\nbureau = \"https://c.example\"\n",
    ] {
        let found = Policy::parse(text, "policy.toml").unwrap_err();
        assert!(found.iter().all(|f| f.line == 2 && f.name.is_empty()), "{found:?}");
    }
}

#[test]
fn a_byte_order_mark_and_a_file_too_long_are_refused() {
    let marked = faults(&format!("\u{feff}{BUREAU}"));
    assert_eq!(marked.len(), 1);
    assert!(marked[0].starts_with("policy.toml:1: begins with a byte order mark"), "{marked:?}");
    let long = format!("{BUREAU}#{}", "x".repeat(MAX_BYTES));
    let found = faults(&long);
    assert!(found.len() == 1 && found[0].contains("at most 1048576"), "{found:?}");
    assert!(Policy::parse(&long[..MAX_BYTES], "policy.toml").is_ok());
}

#[test]
fn faults_are_limited_and_a_syntax_error_is_one() {
    let names: String = (0..20_000).map(|i| format!("unknown_{i:05} = 1\n")).collect();
    let found = Policy::parse(&format!("{BUREAU}{names}"), "policy.toml").unwrap_err();
    assert_eq!((found.len(), found[0].line, found[99].line), (FAULT_LIMIT, 2, 101));
    let nested = faults(&format!("{BUREAU}a={}", "[".repeat(10_000)));
    assert_eq!(nested.len(), 1, "{nested:?}");
    assert!(nested[0].starts_with("policy.toml:2: "), "{nested:?}");
    let twice = "a=1\n".repeat(100_000);
    let found = Policy::parse(&twice, "policy.toml").unwrap_err();
    assert_eq!((found.len(), found[0].line), (1, 2), "{found:?}");
    // What the file says is repeated in part only.
    let long = faults(&format!("{BUREAU}half_life_days = \"{}\"\n{} = 1", "é".repeat(9_000), "n".repeat(9_000)));
    assert!(long.len() == 2 && long.iter().all(|fault| fault.chars().count() < 250), "{long:?}");
}

#[test]
fn a_bureau_is_a_url() {
    for good in ["https://bureau.example", "http://[::1]:8080/x", "HTTPS://bücher.example/"] {
        assert!(Policy::parse(&format!("bureau = \"{good}\""), "p").is_ok(), "{good}");
    }
    for bad in ["", "bureau.example", "https://", "https:///path", "://x", "1a://x", "https://a b", "https://a\\nb"] {
        assert!(Policy::parse(&format!("bureau = \"{bad}\""), "p").is_err(), "{bad}");
    }
}

#[test]
fn a_heavy_value_judgment_warns_and_a_court_needs_a_procedure() {
    assert!(with("value_weight = 0.5").unwrap().warnings().is_empty());
    let heavy = with("value_weight = 0.500000000000000000001").unwrap().warnings();
    assert_eq!(
        heavy[0].to_string(),
        "value_weight: 0.500000000000000000001 is above 0.5, which a bureau should not exceed (§7.6)"
    );
    let policy = with("").unwrap();
    assert!(policy.court_procedure_fault(false, "p").is_none());
    assert_eq!(policy.court_procedure_fault(true, "p").map(|f| f.name).as_deref(), Some("court_procedure"));
    assert!(with("court_procedure = \"by post\"").unwrap().court_procedure_fault(true, "p").is_none());
}

#[test]
fn windows_are_exact_for_whole_and_for_broken_milliseconds() {
    let t = instant::parse("2026-11-30T00:00:00Z").unwrap();
    let windows = Policy::with_defaults("https://b.example").windows(t);
    assert_eq!(instant::format(windows.window_from), "2026-09-01T00:00:00.000Z");
    assert_eq!(windows.cooling_from, t - 30 * DAY_MS);
    assert_eq!((windows.claim_open_from, windows.claim_record_from), (t - 365 * DAY_MS, t - 1825 * DAY_MS));
    assert!(
        windows.in_window(t)
            && !windows.in_window(t + 1)
            && windows.in_window(windows.window_from + 1)
            && !windows.in_window(windows.window_from)
    );
    // d = 14.00000001 days is 0.864 ms more than 14 days: the truth of each comparison is found in units of 1 µs.
    let d = 14 * 86_400_000_000 + 864;
    let policy =
        with("window_days = 14.00000001\ncooling_off_days = 14.00000001\nclaim_open_days = 14.00000001").unwrap();
    let windows = policy.windows(t);
    for x in (t - 14 * DAY_MS - 3)..(t - 14 * DAY_MS + 3) {
        let (x_us, t_us) = (x * 1000, t * 1000);
        assert_eq!(x > windows.window_from, x_us > t_us - d);
        assert_eq!(x <= windows.cooling_from, x_us + d <= t_us);
        assert_eq!(policy.takes_effect_at(x) <= t, x_us + d <= t_us);
        assert_eq!(t < policy.takes_effect_at(x), t_us < x_us + d);
        assert_eq!(x < windows.claim_open_from, t_us > x_us + d);
    }
}

#[test]
fn spans_are_rounded_for_their_comparison() {
    let spans =
        with("attestation_window_days = 0.00000001\nrate_window_days = 0.00000001\nclaim_filing_days = 90.00000001")
            .unwrap()
            .spans();
    assert!(spans.attested_in_time(5, 5) && !spans.attested_in_time(6, 5), "0.864 ms of window");
    assert!(spans.in_rate_window(5, 5) && !spans.in_rate_window(4, 5) && !spans.in_rate_window(6, 5));
    assert!(spans.filed_in_time(90 * DAY_MS, 0) && !spans.filed_in_time(90 * DAY_MS + 1, 0));
    assert!(spans.filed_in_time(i64::MAX, i64::MAX));
}

#[test]
fn absurd_spans_stay_inside_the_calendar() {
    let policy =
        with("window_days = 1e27\nclaim_open_days = 1e27\ncooling_off_days = 1e27\nreport_ttl_hours = 1e27").unwrap();
    let windows = policy.windows(0);
    let first = instant::parse("0000-01-01T00:00:00+23:59").unwrap();
    let last = instant::parse("9999-12-31T23:59:59.999-23:59").unwrap();
    assert!(windows.in_window(first) && windows.claim_open_from < first && windows.cooling_from < first);
    assert!(policy.takes_effect_at(0) > last);
    assert_eq!(instant::format(policy.expires_at(0)), "9999-12-30T00:00:00.000Z");
    assert_eq!(Policy::with_defaults("https://b.example").expires_at(0), 26 * 3_600_000);
}

#[test]
fn policy_json_holds_every_value_in_force() {
    let policy = with("half_life_days = 45.5\nunproven_threshold = 12.5").unwrap();
    let json = policy.to_json();
    assert_eq!(json.as_object().map(|o| o.len()), Some(20));
    assert_eq!(json["half_life_days"], serde_json::json!(45.5));
    assert_eq!(json["claim_record_days"], serde_json::json!(1825));
    assert_eq!(json["portfolio_prior"], serde_json::json!(false));
    assert!(json.get("court_procedure").is_none());
    let again = Policy::with_defaults("https://bureau.example");
    assert_ne!(policy.digest(), again.digest());
    assert!(again.digest().len() == 64 && again.digest().bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase()));
}

#[test]
fn thresholds_compare_exact_sums() {
    assert_eq!(with("unproven_threshold = 12.5").unwrap().unproven_threshold_units(), 12_500_000_000_000_000);
    assert_eq!(
        with("unproven_threshold = 12.5000000000000001").unwrap().unproven_threshold_units(),
        12_500_000_000_000_001
    );
    assert_eq!(with("unproven_threshold = 1e27").unwrap().unproven_threshold_units(), i128::MAX);
}

#[test]
fn the_table_has_one_row() {
    let batch = with("unproven_threshold = 1e27").unwrap().table(0).unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (1, 9));
}
