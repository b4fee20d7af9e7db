//! Members, former members and organizations (2.9, 2.10), on a small world of two domains.

use super::*;

fn members(at: i64) -> Vec<(String, String, &'static str, i64)> {
    let (identities, charters) = world();
    let organizations = Organizations::at(&identities, &charters, at, at - 90 * instant::DAY_MS);
    organizations
        .members
        .into_iter()
        .filter(|m| m.organization == "org.example")
        .map(|m| (m.organization, m.subject, m.basis.as_str(), m.member_since))
        .collect()
}

#[test]
fn a_domain_has_its_names_its_addresses_while_proven_and_its_mandates() {
    let row = |subject: &str, basis, since| ("org.example".to_owned(), subject.to_owned(), basis, since);
    assert_eq!(
        members(nov(5, 0)),
        [
            row("Far.lee@far.example", "mandate", nov(4, 0)),
            row("Gone.kim@far.example", "mandate", nov(2, 0)),
            row("Mail.ana@org.example", "anchor", nov(1, 0)),
            row("Mail.bob@org.example", "anchor", nov(1, 0)),
            row("Mail2.ana@org.example", "anchor", nov(1, 0)),
            row("ans://agent.org.example", "anchor", nov(1, 0)),
        ],
        "both bases: once, as anchor; an account where none is named is the anchor; a subdomain is another domain"
    );
    assert_eq!(
        members(nov(11, 0)),
        [
            row("Far.lee@far.example", "mandate", nov(8, 0)),
            row("Gone.kim@far.example", "mandate", nov(2, 0)),
            row("Mail.ana@org.example", "mandate", nov(2, 0)),
            row("Mail2.ana@org.example", "mandate", nov(2, 0)),
            row("ans://agent.org.example", "anchor", nov(1, 0)),
        ],
        "the proof has a gap, and a mandate was renewed"
    );
    assert_eq!(
        members(nov(30, 0)).iter().map(|m| m.1.as_str()).collect::<Vec<_>>(),
        ["Far.lee@far.example", "Mail.ana@org.example", "Mail2.ana@org.example", "ans://agent.org.example"]
    );
}

#[test]
fn who_left_in_the_window_is_a_former_member() {
    let (identities, charters) = world();
    let former = |window_from| -> Vec<(String, String, &'static str, i64)> {
        let organizations = Organizations::at(&identities, &charters, nov(30, 0), window_from);
        organizations.former.into_iter().map(|m| (m.organization, m.subject, m.basis.as_str(), m.left_at)).collect()
    };
    let row = |organization: &str, subject: &str, basis, at| (organization.to_owned(), subject.to_owned(), basis, at);
    assert_eq!(
        former(nov(1, 0)),
        [
            row("bob@org.example", "Mail.bob@org.example", "anchor", nov(25, 0)),
            row("kim@far.example", "Gone.kim@far.example", "anchor", nov(22, 0)),
            row("org.example", "Gone.kim@far.example", "mandate", nov(22, 0)),
            row("org.example", "Mail.bob@org.example", "anchor", nov(25, 0)),
            row("tim@old.example", "Old.tim@old.example", "anchor", nov(21, 0)),
        ],
        "unbound before the mandate's end; still a member by anchor; a lapsed proof makes none"
    );
    assert_eq!(former(nov(22, 0)).len(), 2, "the window is open at its start");
}

#[test]
fn every_anchor_and_every_charter_is_an_organization() {
    let (identities, charters) = world();
    let organizations = Organizations::at(&identities, &charters, nov(30, 0), nov(1, 0)).organizations;
    let found = |anchor: &str| {
        organizations
            .iter()
            .find(|o| o.anchor == anchor)
            .map(|o| (o.kind, o.charter.as_ref().map(|(id, proof)| (id.as_str(), proof.as_str()))))
    };
    assert_eq!(found("org.example"), Some((AnchorKind::Domain, Some(("org_1", "current")))));
    assert_eq!(found("old.example"), Some((AnchorKind::Domain, Some(("org_2", "lapsed")))));
    assert_eq!(found("zoe@org.example"), Some((AnchorKind::Email, None)), "one bound after T may have a report");
    assert_eq!(organizations.len(), 9);
    assert!(organizations.is_sorted_by(|a, b| a.anchor < b.anchor));
}
