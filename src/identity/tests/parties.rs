//! Parties at every instant (1.6), and who is too close to vouch for whom (1.7).

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn parties_are_joined_by_operators_from_the_binding_on() {
    let read = identities(
        &[
            line("A", "a@x.example", json!({"operator": "op.example"})),
            line("B", "b@x.example", json!({"operator": "op.example", "bound_at": "2026-11-05T00:00:00Z", "unbound_at": "2026-11-06T00:00:00Z"})),
            line("C", "c@x.example", json!({"operator": "b@x.example", "bound_at": "2026-11-07T00:00:00Z"})),
            line("D", "d@x.example", json!({})),
            line("D2", "d@x.example", json!({"operator": "a@x.example", "bound_at": "2026-11-09T00:00:00Z"})),
        ]
        .concat(),
    )
    .unwrap();
    let parties = Parties::new(&read);
    let same = |a: &str, b: &str, at| parties.same_party_at(&format!("{a}@x.example"), &format!("{b}@x.example"), at);
    assert!(!same("a", "b", nov(5, 0) - 1) && same("a", "b", nov(5, 0)), "one operator named by both");
    assert!(same("a", "b", nov(30, 0)), "a line that was unbound still joins");
    assert!(
        !same("b", "c", nov(6, 0)) && same("a", "c", nov(7, 0)),
        "an operator that is the other's anchor, and through it"
    );
    assert!(!same("a", "d", nov(9, 0) - 1) && same("c", "d", nov(9, 0)));
    assert!(same("z", "z", nov(1, 0)) && !same("z", "a", nov(30, 0)));
    assert!(parties.same_party_at("op.example", "a@x.example", nov(1, 0)));
    let numbered = parties.numbered_at(nov(8, 0));
    assert_eq!(
        numbered,
        [("a@x.example", 1), ("b@x.example", 1), ("c@x.example", 1), ("d@x.example", 2), ("op.example", 1)].into()
    );
    assert_eq!(parties.numbered_at(nov(1, 0)), [("a@x.example", 1), ("d@x.example", 2), ("op.example", 1)].into());
    assert!(parties.numbered_at(0).is_empty());
}

#[test]
fn membership_is_that_of_the_entrys_instant() {
    let (identities, charters) = world();
    let relations = Relations::new(
        &identities,
        &charters,
        &AnchorHashes::of(&identities, &Salt::of_bytes(b"salt".to_vec())),
        nov(30, 0),
    );
    let ana = "Mail.ana@org.example";
    assert_eq!(relations.handles_related_at(ana, "Mail2.ana@org.example", nov(2, 0)), Some(Ground::Anchor));
    for (other, at, ground) in [
        ("Mail.bob@org.example", nov(2, 0), None),
        ("Mail.bob@org.example", nov(3, 0), Some(Ground::Organization)),
        ("Mail.bob@org.example", nov(10, 0), None),
        ("Mail.bob@org.example", nov(25, 0), None),
        ("Far.lee@far.example", nov(4, 0) - 1, None),
        ("Far.lee@far.example", nov(4, 0), Some(Ground::Organization)),
        ("Far2.lee@far.example", nov(4, 0), None),
        ("Gone.kim@far.example", nov(22, 0) - 1, Some(Ground::Organization)),
        ("Gone.kim@far.example", nov(22, 0), None),
        ("Nobody", nov(5, 0), None),
    ] {
        assert_eq!(relations.handles_related_at(ana, other, at), ground, "{other} {}", instant::format(at));
        assert_eq!(relations.handles_related_at(other, ana, at), ground);
        if let Some(hash) = relations.anchor_hash_of(other).filter(|_| other != "Far2.lee@far.example") {
            assert_eq!(relations.hash_related_at(hash, ana, at), ground, "through its hash: {other}");
        }
    }
    let hash = |anchor: &str| anchor_hash(b"salt", anchor);
    assert_eq!(relations.hash_related_at(&hash("ana@org.example"), ana, 0), Some(Ground::Anchor));
    assert_eq!(
        relations.hash_related_at(&hash("lee@far.example"), ana, nov(5, 0)),
        Some(Ground::Organization),
        "some handle of that anchor"
    );
    assert_eq!(relations.hash_related_at("sha256:00", ana, nov(5, 0)), None);
    assert_eq!(relations.hash_related_at(&hash("ana@org.example"), "Nobody", nov(5, 0)), None);
    assert_eq!(relations.handles_related_at("Nobody", "Nobody", 0), Some(Ground::Anchor));
    assert_eq!(relations.organizations_of(ana, nov(5, 0)), ["ana@org.example", "org.example"]);
}

#[test]
fn a_caller_may_be_the_operator_of_the_subject() {
    let lines = [
        line("A", "a@x.example", json!({"operator": "op.example"})),
        line("B", "b@y.example", json!({"operator": "op.example", "bound_at": "2026-11-05T00:00:00Z"})),
    ];
    let (read, none) = (identities(&lines.concat()).unwrap(), Charters::empty());
    let hashes = AnchorHashes::of(&read, &Salt::of_bytes(b"salt".to_vec()));
    let at_t = |as_of| Relations::new(&read, &none, &hashes, as_of);
    let relations = at_t(nov(5, 0));
    assert_eq!(relations.hash_related_at(&anchor_hash(b"salt", "op.example"), "A", nov(2, 0)), Some(Ground::Party));
    // A party is that of the run's T (1.6), whatever the entry's instant.
    assert_eq!(relations.handles_related_at("A", "B", nov(4, 0)), Some(Ground::Party));
    assert_eq!(at_t(nov(5, 0) - 1).handles_related_at("A", "B", nov(4, 0)), None);
    assert_eq!(relations.hash_related_at(&anchor_hash(b"salt", "b@y.example"), "A", nov(5, 0)), Some(Ground::Party));
}

proptest! {
    /// Against parties grown from nothing for each instant by repeated relabelling.
    #[test]
    fn parties_equal_components_at_every_instant(edges in prop::collection::vec((0u8..12, 0u8..12, 0u8..6), 1..30)) {
        let text: String = edges.iter().enumerate().map(|(i, (anchor, operator, day))| {
            line(&format!("H{i}"), &format!("{anchor}.example"), json!({"operator": format!("{operator}.example"), "bound_at": format!("2026-11-0{}T00:00:00Z", day + 1)}))
        }).collect();
        let parties = Parties::new(&identities(&text).unwrap());
        for day in 0..7 {
            let at = nov(1, 0) + (day - 1) * instant::DAY_MS;
            let mut label: Vec<u8> = (0..12).collect();
            for _ in 0..12 {
                for (a, o, _) in edges.iter().filter(|(_, _, bound)| i64::from(*bound) < day) {
                    let least = label[*a as usize].min(label[*o as usize]);
                    (label[*a as usize], label[*o as usize]) = (least, least);
                }
            }
            let numbered = parties.numbered_at(at);
            for (a, party) in label.iter().enumerate() {
                for (b, other) in label.iter().enumerate() {
                    let (x, y) = (format!("{a}.example"), format!("{b}.example"));
                    prop_assert_eq!(parties.same_party_at(&x, &y, at), party == other, "{} {} day {}", x, y, day);
                    if let (Some(m), Some(n)) = (numbered.get(x.as_str()), numbered.get(y.as_str())) {
                        prop_assert_eq!(m == n, party == other);
                    }
                }
            }
            let numbers: BTreeSet<i64> = numbered.values().copied().collect();
            prop_assert_eq!(numbers.iter().copied().collect::<Vec<_>>(), (1..=numbers.len() as i64).collect::<Vec<_>>());
        }
    }
}
