//! Every signed text, spelled out.

use super::statement::{Demand, Part, SignedAt, Signer, StatementFault, demands};

const BUREAU: &str = "https://bureau.example";

fn of(entry: &str) -> Vec<Demand> {
    let mut out = Vec::new();
    demands(&serde_json_canonicalizer::to_vec(&value(entry)).unwrap(), BUREAU, &mut out).unwrap();
    out
}

fn fault(entry: &str) -> StatementFault {
    let mut out = Vec::new();
    let canonical = serde_json_canonicalizer::to_vec(&value(entry)).unwrap();
    let fault = demands(&canonical, BUREAU, &mut out).unwrap_err();
    assert!(out.is_empty());
    fault
}

fn value(entry: &str) -> serde_json::Value {
    serde_json::from_str(entry).unwrap()
}

fn message(demand: &Demand) -> &str {
    std::str::from_utf8(demand.message.as_deref().unwrap()).unwrap()
}

fn agent(handle: &str, key: &str) -> Signer {
    Signer::Agent { handle: handle.into(), key: key.into() }
}

fn instant(text: &str) -> SignedAt {
    SignedAt::Instant(text.into())
}

#[test]
fn enrollment_lines_name_our_bureau() {
    for (action, tag) in [("enrolled", "enroll"), ("amended", "enroll"), ("withdrew", "withdraw")] {
        let entry = r#"{"action":"ACTION","subject":"ans://v1.0.0.desk.guild.example","capability":"x","detail":{
            "bureau":"https://elsewhere.example","key":"K=","signature":"S=","statement_at":"2026-01-02T03:04:05Z"}}"#;
        let [demand] = &of(&entry.replace("ACTION", action))[..] else { panic!() };
        let text = format!("fdbk-{tag}-v1:ans://v1.0.0.desk.guild.example:https://bureau.example:2026-01-02T03:04:05Z");
        assert_eq!(message(demand), text);
        assert_eq!(demand.signer, agent("ans://v1.0.0.desk.guild.example", "K="));
        assert_eq!((demand.part, demand.signature.as_str()), (Part::Entry, "S="));
        assert_eq!(demand.signed_at, instant("2026-01-02T03:04:05Z"));
    }
}

#[test]
fn attestations_by_their_code() {
    let entry = r#"{"action":"attested","subject":"A.b@c.example","capability":"cap","detail":{"interaction_id":"itx_1",
        "evaluator":"É.v@d.example","key":"K","signature":"S","outcome":"OK","statement_at":"T"}}"#;
    let [demand] = &of(entry)[..] else { panic!() };
    assert_eq!(message(demand), "fdbk-attest-v1:itx_1:A.b@c.example:cap:OK:T");
    assert_eq!(demand.signer, agent("É.v@d.example", "K"));
    let without = entry.replace(r#""cap""#, "null");
    assert_eq!(message(&of(&without)[0]), "fdbk-attest-v1:itx_1:A.b@c.example::OK:T");

    let value = entry.replace(r#""OK""#, r#""VALUE_POOR""#);
    assert_eq!(message(&of(&value)[0]), "fdbk-value-v1:itx_1:A.b@c.example:cap:VALUE_POOR::::T");
    let amount = value.replace(r#""key""#, r#""amount":"1.50","currency":"EUR","units":"2 h","key""#);
    assert_eq!(message(&of(&amount)[0]), "fdbk-value-v1:itx_1:A.b@c.example:cap:VALUE_POOR:1.50:EUR:2 h:T");
    let quality = amount.replace("VALUE_POOR", "SLOW");
    assert_eq!(message(&of(&quality)[0]), "fdbk-attest-v1:itx_1:A.b@c.example:cap:SLOW:T");
}

#[test]
fn reports_are_documents() {
    for (action, tag) in [("fact", "fact"), ("probed", "probe")] {
        let entry = r#"{"action":"ACTION","seq":7,"at":"T","x":1,"subject":"A\u0007\"","capability":"c\\d","detail":{
            "signature":"S","reporter":"https://r.example","n":1e21,"list":[{"signature":"kept"}]}}"#;
        let [demand] = &of(&entry.replace("ACTION", action))[..] else { panic!() };
        let body = r#"{"capability":"c\\d","detail":{"list":[{"signature":"kept"}],"n":1e+21,"reporter":"https://r.example"},"subject":"A\u0007\""}"#;
        assert_eq!(message(demand), format!("fdbk-{tag}-v1\n{body}"));
        assert_eq!(demand.signer, Signer::Reporter { reporter: "https://r.example".into() });
        assert_eq!((demand.signature.as_str(), &demand.signed_at), ("S", &SignedAt::EntryAt));
    }
    let bare = of(r#"{"action":"fact","subject":"A","detail":{"reporter":"r","signature":"S"}}"#);
    assert_eq!(
        message(&bare[0]),
        "fdbk-fact-v1\n{\"capability\":null,\"detail\":{\"reporter\":\"r\"},\"subject\":\"A\"}"
    );
}

#[test]
fn a_stop_is_signed_twice() {
    let entry = r#"{"action":"stopped","subject":"A","capability":null,"detail":{"reporter":"r","signature":"S",
        "sender_signature":"Z","sender_key":"K","envelope_digest":"sha256:DIGEST"}}"#;
    let digest = "00ff10".to_owned() + &"ab".repeat(29);
    let [report, sender] = &of(&entry.replace("DIGEST", &digest))[..] else { panic!() };
    let detail =
        format!(r#"{{"envelope_digest":"sha256:{digest}","reporter":"r","sender_key":"K","sender_signature":"Z"}}"#);
    assert_eq!(message(report), format!("fdbk-stop-v1\n{{\"capability\":null,\"detail\":{detail},\"subject\":\"A\"}}"));
    let bytes: Vec<u8> = [0, 0xff, 0x10].into_iter().chain([0xab; 29]).collect();
    assert_eq!(sender.message.as_deref(), Some(&bytes[..]));
    assert_eq!((sender.part, &sender.signer, sender.signature.as_str()), (Part::Sender, &agent("A", "K"), "Z"));
    assert_eq!(sender.signed_at, SignedAt::EntryAt);
    for digest in ["", "zz", &"ab".repeat(31), &"ab".repeat(33), &"é".repeat(32), &("+a".to_owned() + &"ab".repeat(31))]
    {
        assert_eq!(of(&entry.replace("DIGEST", digest))[1].message, None, "{digest}");
    }
}

#[test]
fn claims_unless_rejected() {
    let claim = r#"{"at":"C","claimant":{"agent":"K","handle":"H"},"nda":{"version":1}}"#;
    let entry = |state: &str| {
        format!(
            r#"{{"action":"nda_claimed","subject":"R","detail":{{"claim":{claim},"signature":"S","state":"{state}"}}}}"#
        )
    };
    for state in ["open", "uncounted"] {
        let [demand] = &of(&entry(state))[..] else { panic!() };
        assert_eq!(message(demand), format!("fdbk-nda-claim-v1\n{claim}"));
        assert_eq!((&demand.signer, &demand.signed_at), (&agent("H", "K"), &instant("C")));
    }
    assert!(of(&entry("rejected")).is_empty());
    assert!(of(r#"{"action":"nda_claimed","subject":"R","detail":{"state":"rejected"}}"#).is_empty());
}

#[test]
fn answers_and_resolutions() {
    let detail = r#""claim_digest":"sha256:c","key":"K","signature":"S","statement_at":"T""#;
    let entry =
        |action: &str, more: &str| format!(r#"{{"action":"{action}","subject":"R","detail":{{{more}{detail}}}}}"#);
    let respondent = Signer::AgentOrOwner { handle: "R".into(), key: "K".into() };

    let [answer] = &of(&entry("nda_answered", r#""text":"no\nway","#))[..] else { panic!() };
    assert_eq!(
        message(answer),
        "fdbk-nda-answer-v1\n{\"claim\":\"sha256:c\",\"statement_at\":\"T\",\"text\":\"no\\nway\"}"
    );
    assert_eq!((&answer.signer, &answer.signed_at), (&respondent, &instant("T")));

    let upheld = r#""resolution":"upheld","basis":"acknowledged","#;
    let [acknowledged] = &of(&entry("nda_resolved", upheld))[..] else { panic!() };
    assert_eq!(message(acknowledged), "fdbk-nda-ack-v1\n{\"claim\":\"sha256:c\",\"statement_at\":\"T\"}");
    assert_eq!(acknowledged.signer, respondent);

    let [withdrawn] = &of(&entry("nda_resolved", r#""resolution":"withdrawn","#))[..] else { panic!() };
    assert_eq!(message(withdrawn), "fdbk-nda-withdraw-v1\n{\"claim\":\"sha256:c\",\"statement_at\":\"T\"}");
    assert_eq!(withdrawn.signer, Signer::Claimant { claim: "sha256:c".into(), key: "K".into() });

    for more in [r#""resolution":"upheld","basis":"court","#, r#""resolution":"dismissed","basis":"arbiter","#] {
        assert!(of(&entry("nda_resolved", more)).is_empty());
    }
    // What they lack is `claim.basis`, and no signature is judged.
    let lacking =
        r#"{"action":"nda_resolved","subject":"R","detail":{"resolution":"withdrawn","claim_digest":"c","key":"K"}}"#;
    assert!(of(lacking).is_empty());
}

#[test]
fn acts_without_signature_and_faults() {
    for action in ["excluded", "corrected", "something_else"] {
        assert!(of(&format!(r#"{{"action":"{action}","subject":"A","detail":{{}}}}"#)).is_empty());
    }
    assert_eq!(fault(r#"{"action":"fact","subject":"A","detail":{"signature":"S"}}"#), StatementFault("reporter"));
    assert_eq!(fault(r#"{"action":"withdrew","subject":5,"detail":{}}"#), StatementFault("subject"));
    assert_eq!(
        fault(r#"{"action":"stopped","subject":"A","detail":{"signature":"S","reporter":"r"}}"#),
        StatementFault("sender_key")
    );
    assert_eq!(fault("{}"), StatementFault("action"));
}
