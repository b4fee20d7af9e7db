//! The bundled exports with their expected members, and the tables for SQL.

use std::path::PathBuf;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use serde_json::{Value, json};

use super::*;
use crate::policy::Policy;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn fixture_text(name: &str) -> String {
    let plain = fixture(name);
    if plain.exists() {
        return std::fs::read_to_string(plain).unwrap();
    }
    let packed = std::fs::read(fixture(&format!("{name}.zst"))).unwrap();
    String::from_utf8(zstd::decode_all(packed.as_slice()).unwrap()).unwrap()
}

#[test]
fn members_of_the_bundled_exports_are_the_expected_ones() {
    for export in ["small", "policy", "attacks"] {
        let identities = identities(&fixture_text(&format!("{export}/export/identities.jsonl"))).unwrap();
        let charters = charters(&fixture_text(&format!("{export}/export/charters.jsonl"))).unwrap();
        assert!(reporters(&fixture_text(&format!("{export}/export/reporters.jsonl"))).unwrap().iter().count() >= 6);
        let policy = Policy::parse(&fixture_text(&format!("{export}/export/policy.toml")), "policy.toml").unwrap();
        let windows = policy.windows(nov(30, 0));
        let organizations = Organizations::at(&identities, &charters, windows.as_of, windows.window_from);
        let instant = |value: &Value| instant::parse(value.as_str().unwrap()).unwrap();
        let mut compared = 0;
        for expected in fixture_text(&format!("{export}/expected/organizations.jsonl")).lines() {
            let expected: Value = serde_json::from_str(expected).unwrap();
            let anchor = expected["anchor"].as_str().unwrap();
            let members: Vec<Value> = organizations
                .members
                .iter()
                .filter(|m| m.organization == anchor)
                .map(|m| json!([m.subject, m.basis.as_str(), m.member_since, m.kind.as_str()]))
                .collect();
            let listed: Vec<Value> = expected["members"]
                .as_array()
                .unwrap()
                .iter()
                .map(|m| json!([m["subject"], m["basis"], instant(&m["member_since"]), expected["anchor_kind"]]))
                .collect();
            assert_eq!(members, listed, "{export}: {anchor}");
            let former: Vec<Value> = organizations
                .former
                .iter()
                .filter(|m| m.organization == anchor)
                .map(|m| json!([m.subject, m.basis.as_str(), m.left_at]))
                .collect();
            let listed: Vec<Value> = expected["former_members_90d"]
                .as_array()
                .unwrap()
                .iter()
                .map(|m| json!([m["subject"], m["basis"], instant(&m["left_at"])]))
                .collect();
            assert_eq!(former, listed, "{export}: {anchor}");
            let organization = organizations.organizations.iter().find(|o| o.anchor == anchor).unwrap();
            let charter = organization
                .charter
                .as_ref()
                .map_or(Value::Null, |(id, proof)| json!({"id": id, "domain_proof": proof.as_str()}));
            assert_eq!(charter, expected.get("charter").cloned().unwrap_or(Value::Null), "{export}: {anchor}");
            compared += members.len();
        }
        assert!(compared > 50, "{export}: {compared}");
    }
}

#[test]
fn tables_have_their_rows_in_key_order() {
    let (identities, charters) = world();
    let windows = Policy::with_defaults("https://bureau.example").windows(nov(30, 0));
    let all = tables::all(
        &identities,
        &charters,
        &AnchorHashes::of(&identities, &Salt::of_bytes(b"salt".to_vec())),
        &windows,
    )
    .unwrap();
    let rows: Vec<(&str, usize, usize)> =
        all.iter().map(|(name, batch)| (*name, batch.num_rows(), batch.num_columns())).collect();
    assert_eq!(
        rows,
        [
            ("identity", 10, 11),
            ("anchor_party", 7, 2),
            ("membership", 9, 5),
            ("former_membership", 5, 4),
            ("organization", 9, 4)
        ]
    );
    for (name, batch) in &all {
        let key = batch.column(0).as_string::<i32>();
        assert!((1..key.len()).all(|i| key.value(i - 1) <= key.value(i)), "{name}");
    }
    let identity = &all[0].1;
    let party = identity.column_by_name("party").unwrap().as_primitive::<Int64Type>();
    let late = identity.column(0).as_string::<i32>().iter().position(|h| h == Some("Late.zoe@org.example")).unwrap();
    assert!(party.is_null(late) && party.null_count() == 1);
    let again = tables::all(
        &identities,
        &charters,
        &AnchorHashes::of(&identities, &Salt::of_bytes(b"salt".to_vec())),
        &windows,
    )
    .unwrap();
    assert!(all == again);
}

/// In a clean export, whatever is self-dealing and could score is excluded, and nothing else is (1.7).
#[test]
fn exclusions_of_a_clean_export_are_those_of_related_sides() {
    let identities = identities(&fixture_text("small/export/identities.jsonl")).unwrap();
    let charters = charters(&fixture_text("small/export/charters.jsonl")).unwrap();
    let salt = Salt::read(&fixture("small/export/anchor.salt")).unwrap();
    let relations = Relations::new(
        &identities,
        &charters,
        &AnchorHashes::of(&identities, &salt),
        crate::instant::parse("2026-11-30T00:00:00Z").unwrap(),
    );
    let entries: Vec<Value> =
        fixture_text("small/export/ledger.jsonl").lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let detail = |entry: &Value, name: &str| entry["detail"][name].clone();
    let voided: Vec<Value> = entries
        .iter()
        .filter(|entry| entry["action"] == "corrected" && detail(entry, "kind") == "void")
        .map(|entry| detail(entry, "target_seq"))
        .collect();
    let excluded: Vec<Value> = entries
        .iter()
        .filter(|entry| detail(entry, "reason") == "self_dealing" && !voided.contains(&entry["seq"]))
        .map(|entry| detail(entry, "target_seq"))
        .collect();
    let (mut judged, mut related) = (0, 0);
    for entry in &entries {
        let at = instant::parse(&text(&entry["at"])).unwrap();
        // An exclusion may come up to 24 hours later.
        if at > nov(29, 0) {
            continue;
        }
        let subject = text(&entry["subject"]);
        let (ground, may_score) = match entry["action"].as_str() {
            Some("attested") => (relations.handles_related_at(&text(&detail(entry, "evaluator")), &subject, at), true),
            Some("fact") => {
                let ground = relations.hash_related_at(&text(&detail(entry, "caller_anchor_hash")), &subject, at);
                let codes = ["OK", "OK_CORRECTED", "FAILED", "FAILED_SILENT", "CONTRACT"];
                (ground, codes.contains(&text(&detail(entry, "derived_outcome")).as_str()))
            }
            _ => continue,
        };
        judged += 1;
        related += usize::from(ground.is_some());
        let excluded = excluded.contains(&entry["seq"]);
        assert!(ground.is_some() || !excluded, "{} is excluded for nothing", entry["seq"]);
        assert!(excluded || ground.is_none() || !may_score, "{} lacks its exclusion: {ground:?}", entry["seq"]);
    }
    assert!(judged > 3000 && related > 30, "{judged} {related}");
}
