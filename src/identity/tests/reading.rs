//! The three files: what is read, and what is refused.

use serde_json::json;

use super::*;

const KEY: &str = "SEup5lLmc+0a+YmLXdYmQtxrco2IEVsC0Q/FC8U/LyQ=";
const OTHER_KEY: &str = "Va5u38gvvhanvuhILIX3WqqXFQP0eSeWxWzl5fESp78=";

#[test]
fn a_line_is_read_whole() {
    let more = json!({"operator": "opco.example", "owner_account": "acct:7", "unbound_at": "2026-11-20T00:00:00.9999Z", "x": [1],
        "keys": [{"key": KEY, "from": "2026-11-01T02:00:00+02:00", "to": null}], "owner_keys": null});
    let read = identities(&line("Coder.ana@example.org", "ana@example.org", more)).unwrap();
    let identity = read.get("Coder.ana@example.org").unwrap();
    assert_eq!((identity.operator.as_str(), identity.owner_account.as_str()), ("opco.example", "acct:7"));
    assert_eq!(identity.bound, Period { from: nov(1, 0), to: Some(nov(20, 0) + 999) });
    assert_eq!(identity.keys, [KeyPeriod { key: KEY.into(), period: Period { from: nov(1, 0), to: None } }]);
    assert!(identity.owner_keys.is_empty() && read.get("coder.ana@example.org").is_none());
    let plain = identities(&line("A.b@c.example", "b@c.example", json!({}))).unwrap();
    let plain = plain.get("A.b@c.example").unwrap();
    assert_eq!(
        (plain.operator.as_str(), plain.owner_account.as_str()),
        ("b@c.example", "b@c.example"),
        "the anchor, where none is named"
    );
}

#[test]
fn all_faults_of_a_file_come_together_with_their_lines() {
    let text = [
        line("A.a@x.example", "a@x.example", json!({})),
        line("A.a@x.example", "a@x.example", json!({})),
        line("B.b@x.example", "B@x.example", json!({"operator": "Opco.example", "owner_account": "Ü@x.example"})),
        "{\"handle\": \"C\"}\n".into(),
        line(
            "D.d@x.example",
            "d@x.example",
            json!({"bound_at": "2026-11-01T00:00:00", "name_system": "dns", "keys": [{"from": 1}, 2]}),
        ),
        line("E.e@x.example", "e@x.example", json!({"anchor_kind": "domain", "unbound_at": "2026-10-01T00:00:00Z"})),
        "[]\n".into(),
        "{\"handle\": \"F\", \"handle\": \"G\"}\n".into(),
    ]
    .concat();
    let faults: Vec<String> = identities(&text).unwrap_err().iter().map(ToString::to_string).collect();
    for expected in [
        "file.jsonl:2: `handle` is on an earlier line already: A.a@x.example",
        "file.jsonl:3: `anchor` is not lower case",
        "file.jsonl:3: `operator` is not lower case",
        "file.jsonl:3: `owner_account` is not lower case",
        "file.jsonl:4: `anchor` is missing",
        "file.jsonl:4: `bound_at` is missing",
        "file.jsonl:4: `keys` is missing",
        "file.jsonl:5: `bound_at` is no RFC 3339 instant with Z or an offset",
        "file.jsonl:5: `name_system` is neither pan nor ans",
        "file.jsonl:5: `keys[0].key` is missing",
        "file.jsonl:5: `keys[0].from` is no RFC 3339 instant with Z or an offset",
        "file.jsonl:5: `keys[1]` is no object",
        "file.jsonl:6: `anchor` is no domain",
        "file.jsonl:6: `unbound_at` is before `bound_at`",
    ] {
        assert!(faults.iter().any(|fault| fault == expected), "{expected} is not in {faults:#?}");
    }
    assert!(
        faults.iter().any(|f| f.starts_with("file.jsonl:7: "))
            && faults.iter().any(|f| f.starts_with("file.jsonl:8: ")),
        "{faults:#?}"
    );
    assert_eq!(identities(&"{}\n".repeat(1000)).unwrap_err().len(), FAULT_LIMIT);
}

#[test]
fn charters_and_reporters_stand_on_one_line_each() {
    let charter = r#"{"id": "org_1", "domain": "x.example", "domain_proof": [{"from": "2026-01-01T00:00:00Z"}], "mandates": [{"account": "acct:7", "from": "2026-01-01T00:00:00Z"}]}"#;
    let read = charters(charter).unwrap();
    assert_eq!(read.of_domain("x.example").map(|c| c.id.as_str()), Some("org_1"));
    assert!(read.get("org_1").is_some() && read.of_domain("y.example").is_none());
    assert_eq!(charters(&format!("{charter}\n{charter}")).unwrap_err().len(), 2, "id and domain");
    assert!(
        charters(&charter.replace("acct:7", "Acct:7")).is_err()
            && charters(&charter.replace("x.example", "X.example")).is_err()
    );
    let reporter = format!(
        r#"{{"reporter": "r", "keys": [{{"key": "{KEY}", "from": "2026-11-02T00:00:00Z", "to": "2026-11-03T00:00:00Z"}}], "configured_from": "2026-11-01T00:00:00Z", "configured_to": "2026-11-10T00:00:00Z"}}"#
    );
    let read = reporters(&reporter).unwrap();
    assert!(
        read.configured_at("r", nov(1, 0))
            && !read.configured_at("r", nov(10, 0))
            && !read.configured_at("s", nov(1, 0))
    );
    assert!(
        read.key_bound_at("r", KEY, nov(2, 0))
            && !read.key_bound_at("r", KEY, nov(3, 0))
            && !read.key_bound_at("r", OTHER_KEY, nov(2, 0))
    );
    assert!(reporters(&format!("{reporter}\n{reporter}")).is_err());
}

#[test]
fn a_key_is_bound_within_its_period_and_the_handles() {
    let keys = json!([{"key": KEY, "from": "2026-11-01T00:00:00Z", "to": "2026-11-10T00:00:00Z"}, {"key": OTHER_KEY, "from": "2026-11-05T00:00:00Z"},
        {"key": "no key", "from": "2026-11-01T00:00:00Z"}]);
    let owner = json!([{"key": OTHER_KEY, "from": "2026-11-01T00:00:00Z"}]);
    let read = identities(&line(
        "A",
        "a@x.example",
        json!({"keys": keys, "owner_keys": owner, "unbound_at": "2026-11-20T00:00:00Z"}),
    ))
    .unwrap();
    for (key, at, is_bound) in [
        (KEY, nov(1, 0) - 1, false),
        (KEY, nov(1, 0), true),
        (KEY, nov(10, 0) - 1, true),
        (KEY, nov(10, 0), false),
        (OTHER_KEY, nov(5, 0) - 1, false),
        (OTHER_KEY, nov(7, 0), true),
        (OTHER_KEY, nov(20, 0) - 1, true),
        (OTHER_KEY, nov(20, 0), false),
        ("no key", nov(7, 0), false),
    ] {
        assert_eq!(read.key_bound_at("A", key, at), is_bound, "{key} {}", instant::format(at));
    }
    assert!(
        !read.key_bound_at("B", KEY, nov(1, 0))
            && !read.owner_key_bound_at("A", KEY, nov(2, 0))
            && read.owner_key_bound_at("A", OTHER_KEY, nov(2, 0))
    );
}
