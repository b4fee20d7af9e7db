//! Organization documents: their shape, and that no figure of quality is pooled in them.

use super::*;
use crate::reports::sender::ClassCounts;

const T: i64 = 1_796_000_000_000;

/// Members that are figures of quality, wherever they might stand.
const QUALITY: [&str; 12] =
    ["quality", "lcb", "mean", "sd", "n_eff", "score", "rating", "a", "b", "sum_w", "sum_wv", "average"];

/// The paths of figures of quality outside `members[].capabilities[]`.
fn pooled(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let here = format!("{path}.{name}");
                let inside = path == ".members[].capabilities[]";
                if !inside && QUALITY.iter().any(|word| name.split('_').any(|part| part == *word) || name == word) {
                    found.push(here.clone());
                }
                pooled(inner, &here, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| pooled(item, &format!("{path}[]"), found)),
        _ => {}
    }
}

fn pooled_in(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    pooled(document, "", &mut found);
    found
}

fn member(subject: &str, basis: &str, enrollment: &str) -> Member {
    Member { subject: subject.to_owned(), basis: basis.to_owned(), member_since: T, enrollment: enrollment.to_owned() }
}

fn report(capability: Value, enrollment: &str, quality: Value, prior: Value) -> Value {
    json!({
        "subject": "Audit.ops@harborandline.example", "capability": capability, "enrollment": enrollment,
        "quality": quality, "evidence": { "portfolio_prior": prior },
    })
}

fn capabilities(reports: &[Value]) -> Vec<MemberCapability> {
    reports.iter().filter_map(MemberCapability::of_report).collect()
}

fn example() -> Value {
    let organization = Organization {
        anchor: "harborandline.example".to_owned(),
        anchor_kind: "domain".to_owned(),
        charter: Some(Charter { id: "org_7k2m9q4w1x8e5r3t".to_owned(), domain_proof: "current".to_owned() }),
        members: vec![
            member("Audit.ops@harborandline.example", "anchor", "RATED"),
            member("Buyer.lee@example.net", "mandate", "UNENROLLED"),
        ],
        former: vec![FormerMember {
            subject: "Quotes.ops@harborandline.example".to_owned(),
            basis: "anchor".to_owned(),
            left_at: T,
            enrollment: "WITHDRAWN".to_owned(),
        }],
        counts: Counts { rated: 1, unenrolled: 1, joined: 2, ..Counts::default() },
        contract_violations: 4,
        self_dealing: 3,
        sender: SenderRecord {
            witnessed: 7,
            classes: vec![ClassCounts { class: "scope".to_owned(), stops: 5, refusers: 4, top_count: 2 }],
        },
        nda: OrganizationNda { upheld: 2, members_with_upheld: 1, open: 3, claimants: 2, ..OrganizationNda::default() },
    };
    let served = capabilities(&[
        report(json!("freight-audit"), "RATED", json!({ "lcb": 0.884, "mean": 0.9, "n_eff": 233 }), json!(false)),
        report(json!("filing"), "UNPROVEN", json!({ "n_eff": 6.1 }), json!({ "from_agents": 1, "weight_events": 10 })),
    ]);
    let capabilities = BTreeMap::from([("Audit.ops@harborandline.example".to_owned(), served)]);
    let frame = Map::from_iter([("bureau".to_owned(), json!("https://bureau.example"))]);
    let terms = SenderTerms { window_days: json!(90), threshold_refusers: 3 };
    organization.document(&frame, &terms, &json!(1825), &capabilities)
}

#[test]
fn the_document_has_the_shape_of_the_specification() {
    let since = instant::format(T);
    let expected = json!({
        "anchor": "harborandline.example", "anchor_kind": "domain",
        "charter": { "id": "org_7k2m9q4w1x8e5r3t", "domain_proof": "current" },
        "members": [
            { "subject": "Audit.ops@harborandline.example", "basis": "anchor", "member_since": since,
              "enrollment": "RATED",
              "capabilities": [
                  { "capability": "filing", "state": "UNPROVEN", "n_eff": 6.1,
                    "portfolio_prior": { "from_agents": 1, "weight_events": 10 } },
                  { "capability": "freight-audit", "state": "RATED", "lcb": 0.884, "n_eff": 233, "portfolio_prior": false },
              ],
              "portfolio_prior": { "from_agents": 1, "weight_events": 10 } },
            { "subject": "Buyer.lee@example.net", "basis": "mandate", "member_since": since, "enrollment": "UNENROLLED" },
        ],
        "former_members_90d": [
            { "subject": "Quotes.ops@harborandline.example", "basis": "anchor", "left_at": since, "enrollment": "WITHDRAWN" },
        ],
        "counts": { "RATED": 1, "UNPROVEN": 0, "UNENROLLED": 1, "WITHDRAWN": 0, "joined_90d": 2 },
        "facts": { "contract_violations_90d": 4 },
        "self_dealing_excluded_90d": 3,
        "sender": { "window_days": 90, "threshold_refusers": 3, "witnessed_requests": 7,
                    "classes": { "scope": { "count": 5, "refusers": 4, "top_refuser_share": 0.4 } } },
        "nda": { "record_days": 1825, "upheld": 2, "members_with_upheld": 1, "open": { "count": 3, "claimants": 2 },
                 "closed": { "dismissed": 0, "withdrawn": 0, "set_aside": 0, "lapsed": 0 } },
        "bureau": "https://bureau.example",
    });
    assert_eq!(example(), expected);
}

#[test]
fn no_figure_of_quality_is_pooled() {
    assert_eq!(pooled_in(&example()), Vec::<String>::new());
}

#[test]
fn the_walk_finds_a_pooled_figure_wherever_it_hides() {
    for (place, member) in
        [("", "mean"), ("/counts", "lcb"), ("/members/0", "n_eff"), ("/nda", "mean_score"), ("/facts", "score")]
    {
        let mut document = example();
        if let Some(Value::Object(object)) = document.pointer_mut(place) {
            object.insert(member.to_owned(), json!(0.9));
        }
        assert_eq!(pooled_in(&document).len(), 1, "{member} in {place:?}");
    }
}

#[test]
fn no_query_behind_the_document_reads_a_figure_of_quality() {
    let queries = [
        include_str!("../../queries/organization_figure.sql"),
        include_str!("../../queries/organization_former.sql"),
        include_str!("../../queries/organization_member.sql"),
        include_str!("../../queries/organization_nda.sql"),
        include_str!("../../queries/organization_sender.sql"),
    ];
    for query in queries {
        let code: Vec<&str> = query.lines().map(|line| line.split("--").next().unwrap_or("")).collect();
        let words = code.join("\n").to_lowercase();
        let words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
        let read: Vec<&str> = words
            .filter(|word| {
                ["pool", "event", "prior", "sum_w", "sum_wv", "mean", "lcb", "n_eff", "weight"].contains(word)
            })
            .collect();
        assert_eq!(read, Vec::<&str>::new());
    }
}

#[test]
fn an_unenrolled_member_shows_no_capability_whatever_a_report_says() {
    let served = capabilities(&[report(json!("filing"), "RATED", json!({ "lcb": 0.9, "n_eff": 30 }), json!(false))]);
    let document = member_document(&member("Buyer.lee@example.net", "mandate", "UNENROLLED"), &served);
    assert_eq!((document.get("capabilities"), document.get("portfolio_prior")), (None, None));
}

#[test]
fn an_enrolled_member_without_a_capability_has_an_empty_list() {
    let served = capabilities(&[report(Value::Null, "UNPROVEN", json!({ "n_eff": 0 }), json!(false))]);
    let document = member_document(&member("Idle.ana@example.org", "anchor", "UNPROVEN"), &served);
    assert_eq!((&document["capabilities"], &document["portfolio_prior"]), (&json!([]), &json!(false)));
}

#[test]
fn the_member_names_the_prior_from_most_agents_then_of_most_weight() {
    let prior = |agents: u64, weight: f64| json!({ "from_agents": agents, "weight_events": weight });
    let with = |priors: &[Value]| {
        let reports: Vec<Value> = priors
            .iter()
            .enumerate()
            .map(|(i, prior)| report(json!(format!("c{i}")), "UNPROVEN", json!({ "n_eff": 1 }), prior.clone()))
            .collect();
        member_document(&member("Scout.ana@example.org", "anchor", "UNPROVEN"), &capabilities(&reports))
    };
    let document = with(&[prior(1, 10.0), prior(2, 3.5), json!(false), prior(2, 3.6)]);
    assert_eq!(document["portfolio_prior"], prior(2, 3.6));
    assert_eq!(with(&[json!(false)])["portfolio_prior"], json!(false));
}
