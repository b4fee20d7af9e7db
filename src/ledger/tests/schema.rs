//! What `entry.schema` refuses and what it leaves alone, member by member (1.2, 1.5).

use crate::ledger::json::parse;
use crate::ledger::*;
use serde_json::{Value, json};

fn hash() -> String {
    format!("sha256:{}", "0a".repeat(32))
}

fn at() -> &'static str {
    "2026-01-02T03:04:05.678Z"
}

/// A flawless entry of an action, all optional members set.
fn sample(action: &str) -> Value {
    let declaration = || {
        json!({"statement_at": at(), "bureau": "https://b.example", "key": "k", "signature": "s", "anchor_hash": hash(), "capabilities": ["c"],
            "promises": [{"id": "p", "class": "attested-only", "text": "t", "kind": "k", "bound": 2.5}], "competitor_anchors": [hash()]})
    };
    let party = json!({"agent": "k", "handle": "A.b@c.example"});
    let claim = json!({"nda": {"id": "n", "version": 1, "digest": hash(), "ref": "r"}, "claimant": party, "respondent": party, "categories": ["x"],
        "disclosures": [{"kind": "delivery", "digest": hash(), "at": at()}], "found": {"at": at(), "material_digest": hash(), "note": "n"}, "breach_at": at(), "at": at()});
    let detail = match action {
        "enrolled" | "amended" => declaration(),
        "withdrew" => json!({"statement_at": at(), "bureau": "b", "key": "k", "signature": "s"}),
        "fact" => {
            json!({"interaction_id": "i", "parent_id": "p", "reporter": "https://r", "caller_anchor_hash": hash(), "started_at": at(), "ended_at": at(),
            "transport": "OK", "latency_ms": 5, "promise_checks": [{"promise_id": "p", "held": true}], "derived_outcome": "OK", "derived_from": "accepted",
            "engagement_id": "e", "sender": "A.b@c.example", "screening": {"verdict": "held", "provider": "x"}, "signature": "s"})
        }
        "attested" => {
            json!({"interaction_id": "i", "evaluator": "A.b@c.example", "evaluator_anchor_hash": hash(), "outcome": "VALUE_POOR", "statement_at": at(),
            "key": "k", "signature": "s", "note": "n", "engagement_id": "e", "amount": "1", "currency": "EUR", "units": "2", "reason": "r"})
        }
        "probed" => {
            json!({"interaction_id": "i", "reporter": "r", "program": "p", "library_version": "v", "result": "PASS", "ended_at": at(), "signature": "s"})
        }
        "stopped" => {
            json!({"interaction_id": "i", "reporter": "r", "class": "screening", "stage": "ingest", "ground": "g", "decided_by": "person",
            "resolution": "blocked", "recipient_anchor_hash": hash(), "recipient_operator_hash": hash(), "solicited": false, "envelope_digest": hash(),
            "sender_signature": "s", "sender_key": "k", "screening_provider": {"id": "x", "policy_version": "1"}, "at": at(), "signature": "s"})
        }
        "nda_claimed" => {
            json!({"claim": claim, "claim_digest": hash(), "claimant_anchor_hash": hash(), "signature": "s", "state": "open", "reject_reason": "r",
            "agreement": {"direction": "mutual", "effective_at": at(), "ends_at": at(), "duties_end_at": at()}, "respondent_org": "o"})
        }
        "nda_answered" => {
            json!({"claim_digest": hash(), "text": "t", "statement_at": at(), "key": "k", "signature": "s"})
        }
        "nda_resolved" => {
            json!({"claim_digest": hash(), "resolution": "upheld", "basis": "court", "resolved_at": at(), "statement_at": at(), "key": "k",
            "signature": "s", "verdict": {}, "settlement": {}, "court": {"forum": "f", "citation": "c", "found_on": "2026-01-01", "checked_by": "n"}})
        }
        "excluded" => {
            json!({"target_seq": 1, "reason": "rate_limit", "evaluator": "A.b@c.example", "interaction_id": "i"})
        }
        "corrected" => {
            json!({"target_seq": 1, "kind": "amend", "error": "wrong_subject", "set": {"subject": "ans://v1.a.example", "capability": "c", "interaction_id": "i"}})
        }
        _ => json!({}),
    };
    json!({"seq": 2, "at": at(), "action": action, "subject": "A.b@c.example", "capability": "c", "detail": detail, "prev_hash": NO_HASH, "entry_hash": NO_HASH})
}

/// The fault of a sample with one member replaced; absent where `value` is none.
fn fault(action: &str, pointer: &str, value: Option<Value>) -> Option<String> {
    let mut entry = sample(action);
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (entry.pointer_mut(parent).unwrap(), value) {
        (Value::Object(members), Some(value)) => drop(members.insert(name.to_owned(), value)),
        (Value::Object(members), None) => {
            drop(members.remove(name).unwrap_or_else(|| panic!("{pointer} is in the sample")))
        }
        (Value::Array(items), Some(value)) => items[name.parse::<usize>().unwrap()] = value,
        (other, _) => panic!("{other}"),
    }
    let line = entry.to_string();
    let owned = parse(line.as_bytes()).unwrap();
    let entry = Entry::read(owned.root());
    assert_eq!(entry.fault.is_some(), entry.detail == Detail::Faulty, "{line}");
    entry.fault
}

/// Pointers to the members of the sample's detail that may not be absent.
fn required(action: &str) -> Vec<String> {
    let names = match action {
        "enrolled" | "amended" => {
            "statement_at bureau key signature anchor_hash capabilities promises competitor_anchors promises/0/id promises/0/class promises/0/text"
        }
        "withdrew" => "statement_at bureau key signature",
        "fact" => {
            "interaction_id reporter caller_anchor_hash started_at ended_at transport promise_checks signature promise_checks/0/promise_id promise_checks/0/held \
             screening/verdict screening/provider"
        }
        "attested" => {
            "interaction_id evaluator evaluator_anchor_hash outcome statement_at key signature amount currency units"
        }
        "probed" => "interaction_id reporter program library_version result ended_at signature",
        "stopped" => {
            "interaction_id reporter stage decided_by recipient_anchor_hash solicited envelope_digest sender_signature sender_key at signature screening_provider/id"
        }
        "nda_claimed" => {
            "claim claim_digest claimant_anchor_hash signature state agreement agreement/direction agreement/effective_at claim/nda claim/nda/digest \
             claim/claimant/agent claim/claimant/handle claim/respondent claim/respondent/agent claim/respondent/handle claim/categories claim/disclosures claim/disclosures/0/at \
             claim/disclosures/0/digest claim/found claim/at"
        }
        "nda_answered" => "claim_digest text statement_at key signature",
        "nda_resolved" => "claim_digest resolution resolved_at",
        "excluded" => "target_seq reason interaction_id",
        _ => "target_seq kind error set",
    };
    names.split_whitespace().map(|name| format!("/detail/{name}")).collect()
}

/// Every member of the sample's detail, inner ones too, as a pointer.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, v)| (format!("{at}/{name}"), v)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, v)| (format!("{at}/{i}"), v)).collect(),
        _ => Vec::new(),
    };
    for (pointer, value) in inner {
        if value.is_object() || value.is_array() {
            pointers(value, &pointer, found);
        }
        if !pointer.ends_with("/0") {
            found.push(pointer);
        }
    }
}

#[test]
fn every_required_member_is_missed_and_no_other() {
    for action in detail::ACTIONS {
        assert_eq!(fault(action, "/capability", Some(Value::Null)), None, "{action}: the sample is flawless");
        assert_eq!(
            fault(action, "/detail/x_unlisted", Some(json!([{"a": 1e300}]))),
            None,
            "{action}: an unlisted member is kept"
        );
        let (required, mut all) = (required(action), Vec::new());
        pointers(&sample(action)["detail"], "/detail", &mut all);
        for pointer in &required {
            assert!(all.contains(pointer), "{action}{pointer}");
        }
        for pointer in all {
            for absent in [None, Some(Value::Null)] {
                let fault = fault(action, &pointer, absent);
                let needed = required.contains(&pointer) || pointer == "/detail/claim/claimant";
                assert_eq!(fault.is_some(), needed, "{action}{pointer}: {fault:?}");
            }
        }
    }
    for member in ["seq", "at", "action", "subject", "detail", "prev_hash", "entry_hash"] {
        assert_eq!(fault("fact", &format!("/{member}"), None), Some(format!("{member} is missing")));
    }
    assert_eq!(fault("fact", "/capability", None), None);
}

#[test]
fn every_member_has_its_type() {
    // What other rules judge, and what has no type of its own.
    let free = ["class", "ground", "verdict", "settlement", "id", "version", "ref"];
    for action in detail::ACTIONS {
        let mut all = Vec::new();
        pointers(&sample(action)["detail"], "/detail", &mut all);
        for pointer in all {
            let name = pointer.rsplit('/').next().unwrap();
            let free = match pointer.as_str() {
                "/detail/class" | "/detail/ground" | "/detail/verdict" | "/detail/settlement" => true,
                pointer => pointer.starts_with("/detail/claim/nda/") && free.contains(&name),
            };
            let known = sample(action).pointer(&pointer).unwrap().clone();
            for wrong in [json!(7.5), json!("x:y"), json!(true), json!(["x", 1]), json!({"x": 1})] {
                let same_type = std::mem::discriminant(&known) == std::mem::discriminant(&wrong);
                if free || same_type {
                    continue;
                }
                assert!(fault(action, &pointer, Some(wrong.clone())).is_some(), "{action}{pointer} as {wrong}");
            }
        }
    }
}

#[test]
fn value_sets_formats_and_rules_over_several_members() {
    for (action, pointer, value, message) in [
        ("fact", "/seq", json!(0), "seq is not an integer from 1 on"),
        ("fact", "/seq", json!(1.5), "seq is not an integer from 1 on"),
        ("fact", "/at", json!("2026-01-02T03:04:05"), "at is not an RFC 3339 instant with Z or an offset"),
        ("fact", "/subject", json!("a:b@c.example"), "subject is not a string without a colon"),
        ("fact", "/subject", json!("ans://v1:0.a.example"), "subject is not a string without a colon"),
        ("fact", "/capability", json!(7), "capability is neither a string nor null"),
        ("fact", "/detail", json!("x"), "detail is not an object"),
        ("fact", "/prev_hash", json!("AAAA"), "prev_hash is not the base64 of 32 bytes"),
        ("fact", "/entry_hash", json!(NO_HASH.replace('=', "A")), "entry_hash is not the base64 of 32 bytes"),
        ("fact", "/detail/interaction_id", json!("a:b"), "detail.interaction_id is not a string without a colon"),
        ("fact", "/detail/transport", json!("ok"), "detail.transport is not of its value set"),
        ("fact", "/detail/latency_ms", json!(1.5), "detail.latency_ms is not an integer"),
        ("fact", "/detail/latency_ms", json!(-1), "detail.latency_ms is not zero or more"),
        ("fact", "/detail/latency_ms", json!("5"), "detail.latency_ms is not an integer"),
        ("fact", "/detail/derived_outcome", json!("STOPPED"), "detail.derived_outcome is not of its value set"),
        ("fact", "/detail/derived_outcome", json!("VALUE_OK"), "detail.derived_outcome is not of its value set"),
        ("fact", "/detail/derived_outcome", json!("NDA_BREACH"), "detail.derived_outcome is not of its value set"),
        ("fact", "/detail/derived_from", json!("metering"), "derived_from metering comes with a null derived_outcome"),
        (
            "fact",
            "/detail/caller_anchor_hash",
            json!("sha256:0A"),
            "detail.caller_anchor_hash is not sha256: and 64 lower-case hexadecimal digits",
        ),
        (
            "fact",
            "/detail/caller_anchor_hash",
            json!(hash().to_uppercase()),
            "detail.caller_anchor_hash is not sha256: and 64 lower-case hexadecimal digits",
        ),
        ("fact", "/detail/screening/verdict", json!("liked"), "detail.screening.verdict is not of its value set"),
        ("fact", "/detail/promise_checks/0/held", json!("yes"), "detail.promise_checks.held is not a boolean"),
        ("enrolled", "/detail/promises/0/class", json!("wishful"), "detail.promises.class is not of its value set"),
        (
            "amended",
            "/detail/competitor_anchors/0",
            json!("x.example"),
            "detail.competitor_anchors is not a list of hashed anchors",
        ),
        ("attested", "/detail/outcome", json!("O:K"), "detail.outcome is not a string without a colon"),
        ("attested", "/detail/units", json!("4:2"), "amount, currency and units are strings without a colon"),
        ("attested", "/detail/amount", json!(12), "amount, currency and units are strings without a colon"),
        ("attested", "/detail/amount", Value::Null, "amount, currency and units are given all three or not at all"),
        ("probed", "/detail/result", json!("MAYBE"), "detail.result is not of its value set"),
        ("stopped", "/detail/resolution", json!("maybe"), "detail.resolution is not of its value set"),
        ("stopped", "/detail/decided_by", json!("model"), "detail.decided_by is not of its value set"),
        ("nda_claimed", "/detail/state", json!("pending"), "detail.state is not of its value set"),
        (
            "nda_claimed",
            "/detail/claim/found/at",
            json!("then"),
            "detail.claim.found.at is not an RFC 3339 instant with Z or an offset",
        ),
        ("nda_resolved", "/detail/resolution", json!("lapsed"), "detail.resolution is not of its value set"),
        ("excluded", "/detail/reason", json!("bad_vibes"), "detail.reason is not of its value set"),
        ("excluded", "/detail/target_seq", json!("1"), "detail.target_seq is not an integer"),
        ("corrected", "/detail/kind", json!("replace"), "detail.kind is not of its value set"),
        ("corrected", "/detail/error", json!("disagreement"), "detail.error is not of its value set"),
        ("corrected", "/detail/set", json!({}), "an amendment sets at least one member"),
        ("corrected", "/detail/set", json!({"subject": null, "other": 1}), "an amendment sets at least one member"),
        ("corrected", "/detail/set/subject", json!("a:b"), "detail.set.subject is not a string without a colon"),
    ] {
        assert_eq!(
            fault(action, pointer, Some(value.clone())).as_deref(),
            Some(message),
            "{action}{pointer} as {value}"
        );
    }
}

#[test]
fn what_other_rules_name_is_no_fault_here() {
    for (action, pointer, value) in [
        ("fact", "/at", json!("2026-01-02T03:04:05.1+05:30")),
        ("fact", "/subject", json!("ans://v1.0.0.a.example")),
        ("fact", "/detail/latency_ms", json!(5.0)),
        ("fact", "/detail/signature", json!("not base64")),
        ("fact", "/detail/ended_at", json!("1999-01-01T00:00:00Z")),
        ("noted", "/detail/anything", json!(1)),
        ("attested", "/detail/outcome", json!("EXCELLENT")),
        ("attested", "/detail/outcome", json!("NDA_BREACH")),
        ("attested", "/detail/reason", json!("")),
        ("stopped", "/detail/class", json!("door")),
        ("stopped", "/detail/class", json!(5)),
        ("stopped", "/detail/ground", json!(" ")),
        ("stopped", "/detail/ground", json!([])),
        ("nda_claimed", "/detail/claim_digest", json!("wrong")),
        ("nda_claimed", "/detail/claim/categories", json!([])),
        ("nda_claimed", "/detail/claim/disclosures", json!([])),
        ("nda_claimed", "/detail/claim/disclosures/0/kind", json!("rumour")),
        ("nda_resolved", "/detail/basis", json!("rumour")),
        ("nda_resolved", "/detail/court", json!({})),
        ("corrected", "/detail/target_seq", json!(-7)),
        ("corrected", "/detail/set", json!({"capability": null})),
    ] {
        assert_eq!(fault(action, pointer, Some(value.clone())), None, "{action}{pointer} as {value}");
    }
}

#[test]
fn a_rejected_claim_carries_a_reason_and_may_lack_the_rest() {
    let read = |change: &dyn Fn(&mut Value)| {
        let mut entry = sample("nda_claimed");
        entry["detail"]["state"] = json!("rejected");
        change(&mut entry["detail"]);
        let line = entry.to_string();
        let owned = parse(line.as_bytes()).unwrap();
        Entry::read(owned.root()).fault
    };
    assert_eq!(read(&|detail| detail["claim"] = json!({})), None);
    assert_eq!(read(&|detail| drop(detail.as_object_mut().unwrap().remove("agreement"))), None);
    assert_eq!(read(&|detail| detail["agreement"] = json!({"direction": "mutual"})), None);
    assert_eq!(
        read(&|detail| drop(detail.as_object_mut().unwrap().remove("claim"))).as_deref(),
        Some("detail.claim is missing")
    );
    for reason in [Value::Null, json!(""), json!(" ")] {
        assert_eq!(
            read(&|detail| detail["reject_reason"] = reason.clone()).as_deref(),
            Some("a rejected claim carries its reason")
        );
    }
}

#[test]
fn columns_hold_what_the_line_says() {
    let mut entry = sample("corrected");
    entry["detail"]["set"] = json!({"capability": null, "interaction_id": "i2"});
    let line = entry.to_string();
    let owned = parse(line.as_bytes()).unwrap();
    let Detail::Corrected(correction) = Entry::read(owned.root()).detail else { panic!() };
    assert_eq!((correction.set_subject, correction.set_capability, correction.set_capability_null), (None, None, true));
    assert_eq!((correction.set_interaction_id, correction.target_seq), (Some("i2"), 1));
    let line = sample("nda_claimed").to_string();
    let owned = parse(line.as_bytes()).unwrap();
    let Detail::NdaClaimed(claim) = Entry::read(owned.root()).detail else { panic!() };
    let ms = Some(1_767_323_045_678);
    assert_eq!((claim.claimed_at, claim.breach_at, claim.respondent), (ms, ms, Some("A.b@c.example")));
    assert_eq!(
        claim.disclosures.unwrap(),
        [detail::Disclosure { kind: Some("delivery"), digest: Some(&hash()), at: ms }]
    );
    let line = sample("enrolled").to_string();
    let owned = parse(line.as_bytes()).unwrap();
    let Detail::Enrolled(declaration) = Entry::read(owned.root()).detail else { panic!() };
    assert_eq!((declaration.promises[0].bound, declaration.competitor_anchors), (Some(2.5), vec![hash().as_str()]));
}
