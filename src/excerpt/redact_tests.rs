use serde_json::json;

use super::*;

const SUBJECT: &str = "Coder.ana@example.org";
const EVALUATOR: &str = "Scout.lee@example.net";
const HASH: &str = "sha256:aaaa";

fn known() -> BTreeMap<String, Known> {
    let one = |hash: &str, names: &[&str]| Known {
        anchor_hash: hash.to_owned(),
        operator_hash: hash.to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    BTreeMap::from([
        (SUBJECT.to_owned(), one("sha256:0000", &["ana@example.org"])),
        (EVALUATOR.to_owned(), one(HASH, &["lee@example.net"])),
    ])
}

fn signature() -> String {
    format!("{}==", "S".repeat(86))
}

fn redact(entry: Value, own: bool) -> Redacted {
    let known = known();
    let claimants = BTreeMap::from([
        ("sha256:theirs".to_owned(), EVALUATOR.to_owned()),
        ("sha256:mine".to_owned(), SUBJECT.to_owned()),
    ]);
    let mut redactor =
        Redactor { subject: SUBJECT, known: &known, claimants: &claimants, pseudonyms: Pseudonyms::default() };
    redactor.redact(entry, own)
}

fn entry(action: &str, subject: &str, detail: Value) -> Value {
    json!({ "seq": 7, "at": "2026-01-01T00:00:00Z", "action": action, "subject": subject, "detail": detail })
}

#[test]
fn an_evaluator_is_the_hash_of_its_anchor_and_its_words_are_the_subjects_to_read() {
    let detail = json!({
        "interaction_id": "itx", "evaluator": EVALUATOR, "evaluator_anchor_hash": HASH, "outcome": "VALUE_POOR",
        "statement_at": "2026-01-01T00:00:00Z", "key": "K".repeat(44), "signature": signature(),
        "note": "Slow.", "reason": "Ask SCOUT.LEE@example.net or lee@example.net", "amount": "4200", "currency": "USD", "units": "21",
    });
    let shown = redact(entry("attested", SUBJECT, detail), false);
    let text = shown.entry.to_string();
    assert!(!text.to_lowercase().contains("lee@"), "{text}");
    assert!(!text.contains("KKKK") && !text.contains("SSSS"), "{text}");
    let detail = &shown.entry["detail"];
    assert_eq!((&detail["evaluator"], &detail["note"]), (&json!(HASH), &json!("Slow.")));
    assert_eq!(detail["reason"], "Ask sha256:aaaa or sha256:aaaa");
    assert_eq!((&detail["amount"], &detail["units"]), (&json!("4200"), &json!("21")));
    assert_eq!(shown.withheld, ["detail.evaluator", "detail.key", "detail.reason", "detail.signature"]);
    assert!(shown.hash_is_safe, "the signature that was taken out keeps the hash from confirming a guess");
}

#[test]
fn a_fact_is_whole_unless_it_names_its_caller() {
    let fact = |sender: Value| {
        let detail = json!({
            "interaction_id": "itx", "reporter": "https://runtime.example.net", "caller_anchor_hash": HASH,
            "promise_checks": [{"promise_id": "p1", "held": true}], "signature": signature(), "sender": sender,
        });
        redact(entry("fact", SUBJECT, detail), false)
    };
    let whole = fact(Value::Null);
    assert_eq!((whole.withheld.as_slice(), whole.hash_is_safe), ([].as_slice(), true));
    let named = fact(json!(EVALUATOR));
    assert_eq!(named.withheld, ["detail.sender", "detail.signature"]);
    assert_eq!(named.entry["detail"]["reporter"], "https://runtime.example.net");
    // Who calls itself is no secret.
    assert!(fact(json!(SUBJECT)).withheld.is_empty());
}

#[test]
fn a_member_that_the_profile_does_not_list_is_withheld_wherever_it_stands() {
    let detail = json!({
        "interaction_id": "itx", "ground": "offering not declared", "class": "scope", "recipient_anchor_hash": HASH,
        "content": "please wire 4200", "screening_provider": {"id": "guard", "prompt": "please"}, "signature": signature(),
        "stage": ["please"],
    });
    let mut stop = entry("stopped", SUBJECT, detail);
    stop["request"] = json!("please");
    let shown = redact(stop, false);
    assert!(!shown.entry.to_string().contains("please"));
    assert_eq!(shown.entry["detail"]["ground"], "offering not declared");
    let expected =
        ["detail.content", "detail.screening_provider.prompt", "detail.signature", "detail.stage", "request"];
    assert_eq!(shown.withheld, expected);
}

#[test]
fn an_exclusion_hides_its_evaluator_and_with_it_the_hash_that_would_confirm_a_guess() {
    let shown = redact(
        entry(
            "excluded",
            SUBJECT,
            json!({"target_seq": 3, "reason": "self_dealing", "evaluator": EVALUATOR, "interaction_id": "i"}),
        ),
        false,
    );
    assert_eq!(shown.entry["detail"]["evaluator"], HASH);
    assert!(!shown.hash_is_safe);
    let of_fact = json!({"target_seq": 3, "reason": "self_dealing", "interaction_id": "i"});
    assert!(redact(entry("excluded", SUBJECT, of_fact), false).hash_is_safe);
}

#[test]
fn other_subjects_are_numbers_and_the_same_one_is_the_same_number() {
    let known = known();
    let claimants = BTreeMap::new();
    let mut redactor =
        Redactor { subject: SUBJECT, known: &known, claimants: &claimants, pseudonyms: Pseudonyms::default() };
    let moved = |to: &str| {
        entry(
            "corrected",
            SUBJECT,
            json!({"target_seq": 3, "kind": "amend", "error": "wrong_subject", "set": {"subject": to}}),
        )
    };
    let first = redactor.redact(moved("B.b@example.org"), false);
    assert_eq!(first.entry["detail"]["set"]["subject"], "(another subject 1)");
    assert!(!first.hash_is_safe);
    assert_eq!(redactor.redact(moved(SUBJECT), false).entry["detail"]["set"]["subject"], SUBJECT);
    let probe = json!({"interaction_id": "i", "reporter": "r", "result": "PASS", "signature": signature()});
    assert_eq!(
        redactor.redact(entry("probed", "C.c@example.org", probe.clone()), false).entry["subject"],
        "(another subject 2)"
    );
    assert_eq!(
        redactor.redact(entry("probed", "B.b@example.org", probe), false).entry["subject"],
        "(another subject 1)"
    );
}

fn claim(claimant: &str) -> Value {
    json!({
        "claim": {
            "nda": {"id": "nda_1", "version": 1, "digest": "sha256:d", "ref": "mesh:1"},
            "claimant": {"agent": "A".repeat(44), "handle": claimant}, "respondent": {"agent": "R", "handle": SUBJECT},
            "categories": ["pricing"], "disclosures": [{"kind": "delivery", "digest": "sha256:e", "at": "2026-01-01T00:00:00Z"}],
            "found": {"at": "2026-01-01T00:00:00Z", "material_digest": "sha256:f", "note": "told by lee@example.net"},
            "breach_at": null, "at": "2026-01-01T00:00:00Z",
        },
        "claim_digest": "sha256:theirs", "claimant_anchor_hash": HASH, "signature": signature(), "state": "rejected",
        "reject_reason": "not bound",
    })
}

#[test]
fn a_respondent_sees_the_claim_with_its_records_and_of_the_claimant_the_hash() {
    let shown = redact(entry("nda_claimed", SUBJECT, claim(EVALUATOR)), false);
    let text = shown.entry.to_string();
    assert!(!text.contains("lee@example.net") && !text.contains("AAAA"), "{text}");
    let detail = &shown.entry["detail"];
    assert_eq!(detail["claimant_anchor_hash"], HASH);
    assert_eq!(detail["claim"]["disclosures"][0]["digest"], "sha256:e");
    assert_eq!(detail["claim"]["nda"]["id"], "nda_1");
    assert_eq!(detail["reject_reason"], "not bound");
    assert_eq!(detail["claim"]["found"]["note"], "told by sha256:aaaa");
}

#[test]
fn a_claimant_sees_its_own_claim_whole() {
    let mut own = claim(SUBJECT);
    own["claim"]["respondent"]["handle"] = json!(EVALUATOR);
    let shown = redact(entry("nda_claimed", EVALUATOR, own), true);
    assert!(shown.withheld.is_empty(), "{:?}", shown.withheld);
    assert_eq!(shown.entry["subject"], EVALUATOR);
}

#[test]
fn a_withdrawal_is_signed_by_the_claimant_and_an_acknowledgment_by_the_respondent() {
    let resolution = |digest: &str, basis: Value| {
        let detail = json!({"claim_digest": digest, "resolution": "withdrawn", "basis": basis, "key": "K".repeat(44), "signature": signature()});
        redact(entry("nda_resolved", SUBJECT, detail), false).withheld
    };
    assert_eq!(resolution("sha256:theirs", Value::Null), ["detail.key", "detail.signature"]);
    assert_eq!(resolution("sha256:unknown", Value::Null), ["detail.key", "detail.signature"]);
    assert_eq!(resolution("sha256:theirs", json!("acknowledged")), [""; 0]);
    assert_eq!(resolution("sha256:mine", Value::Null), [""; 0]);
}

#[test]
fn nothing_of_an_unknown_action_can_be_told_apart() {
    let shown = redact(entry("noted", SUBJECT, json!({"text": "by Scout.lee@example.net"})), false);
    assert_eq!(shown.withheld, ["detail"]);
    assert!(!shown.hash_is_safe);
    let own = entry("enrolled", SUBJECT, json!({"anything": {"at": ["all"]}, "signature": "s"}));
    assert_eq!(redact(own.clone(), false).entry, own);
}

#[test]
fn a_name_is_replaced_in_any_case_and_a_short_one_is_no_name() {
    assert_eq!(replaced("Über LEE@X, lee@x", "lee@x", "#"), "Über #, #");
    assert_eq!(replaced("abc", "abc", "#"), "abc");
}
