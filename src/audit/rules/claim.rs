//! claim.*: claims of breach, answers and resolutions (spec 4.8; profile 1.7, 2.10).

use crate::audit::finding::Message;
use crate::policy::Spans;

/// A claim that the bureau recorded as open or uncounted.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// The entry's instant.
    pub at: i64,
    /// Whom the entry is about.
    pub subject: &'a str,
    /// `open` or `uncounted`.
    pub state: &'a str,
    /// As the entry names it.
    pub claim_digest: &'a str,
    /// The digest of the claim in the entry, or none where it has none.
    pub own_digest: Option<&'a str>,
    /// As the entry names it.
    pub claimant_anchor_hash: &'a str,
    /// The hash of the claimant's anchor, or none where nobody knows the claimant.
    pub own_anchor_hash: Option<&'a str>,
    /// The respondent that the claim names.
    pub respondent: Option<&'a str>,
    /// Whether claimant and subject are of one anchor, party or organization at `at` (check 5).
    pub related: bool,
    /// When the agreement took effect.
    pub effective_at: Option<i64>,
    /// When it ended; none bounds nothing.
    pub ends_at: Option<i64>,
    /// When the duties ended; none bounds nothing.
    pub duties_end_at: Option<i64>,
    /// How many categories of material it names.
    pub categories: usize,
    /// The records that it cites.
    pub disclosures: Vec<Disclosure<'a>>,
    /// The breach, where the claimant knows it.
    pub breach_at: Option<i64>,
}

/// A record that material reached the respondent.
#[derive(Debug, Clone, Copy)]
pub struct Disclosure<'a> {
    /// Its kind.
    pub kind: Option<&'a str>,
    /// The instant it states.
    pub at: Option<i64>,
}

/// claim.state: open only with checks 5, 7 and 8 of 4.8 and all that 2.10 asks of an open claim; uncounted only where check 5
/// fails.
pub fn state(claim: &Claim<'_>, spans: &Spans) -> Option<Message> {
    match claim.state {
        "open" => parties(claim).or_else(|| body(claim)).or_else(|| periods(claim, spans)),
        "uncounted" => {
            (!claim.related).then_some("claimant and respondent are not related, so the claim counts".into())
        }
        _ => None,
    }
}

fn parties(claim: &Claim<'_>) -> Option<Message> {
    if claim.respondent != Some(claim.subject) {
        return Some("the entry's subject is not the claim's respondent".into());
    }
    match claim.own_anchor_hash {
        None => return Some("nobody knows the claimant".into()),
        Some(own) if own != claim.claimant_anchor_hash => {
            return Some("claimant_anchor_hash is not the claimant's".into());
        }
        Some(_) => {}
    }
    claim.related.then_some("claimant and respondent are related, so the claim is uncounted".into())
}

fn body(claim: &Claim<'_>) -> Option<Message> {
    const KINDS: [&str; 3] = ["rfp_release", "sow_task", "delivery"];
    if claim.own_digest != Some(claim.claim_digest) {
        return Some("claim_digest is not the digest of the claim".into());
    }
    if claim.categories == 0 {
        return Some("the claim names no category".into());
    }
    if claim.disclosures.is_empty() {
        return Some("the claim cites no disclosure".into());
    }
    let known = |disclosure: &Disclosure<'_>| disclosure.kind.is_some_and(|kind| KINDS.contains(&kind));
    (!claim.disclosures.iter().all(known)).then_some("a disclosure is of no kind that 4.8 names".into())
}

/// Checks 7 and 8. Both ends of a period are inside it.
fn periods(claim: &Claim<'_>, spans: &Spans) -> Option<Message> {
    let covered =
        |at: i64| claim.effective_at.is_some_and(|from| from <= at) && claim.ends_at.is_none_or(|to| at <= to);
    let mut instants = claim.disclosures.iter().filter_map(|disclosure| disclosure.at);
    if !instants.clone().any(covered) {
        return Some("no disclosure lies within effective_at to ends_at".into());
    }
    if !instants.any(|at| at <= claim.at) {
        return Some("the claim was filed before its first disclosure".into());
    }
    let duties_end_at = claim.duties_end_at?;
    if !spans.filed_in_time(claim.at, duties_end_at) {
        return Some("the claim was filed after the claim window".into());
    }
    (claim.breach_at? > duties_end_at).then_some("breach_at does not fall before the duties ended".into())
}

/// An answer to a claim, or a resolution of one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Act<'a> {
    /// Whether it names an earlier claim of its digest about its subject.
    pub known: bool,
    /// `upheld`, `dismissed`, `withdrawn` or `set_aside`; none for an answer.
    pub resolution: Option<&'a str>,
    /// On what it rests.
    pub basis: Option<&'a str>,
    /// Whether it carries key, signature and statement_at.
    pub signed: bool,
    /// Whether it carries an arbiter's verdict.
    pub verdict: bool,
    /// Whether it carries the owners' settlement.
    pub settlement: bool,
    /// Whether it carries a court's forum, citation, date and who checked it.
    pub court: bool,
}

/// claim.basis: a known claim about the subject, a basis where one is due, and what that basis, or a withdrawal, carries.
pub fn basis(act: &Act<'_>) -> Option<Message> {
    if !act.known {
        return Some("there is no earlier claim of this digest about this subject".into());
    }
    match (act.resolution, act.basis) {
        (Some("withdrawn"), _) => {
            (!act.signed).then_some("a withdrawal carries key, signature and statement_at".into())
        }
        (Some("upheld"), Some("acknowledged")) => {
            (!act.signed).then_some("an acknowledgment carries key, signature and statement_at".into())
        }
        (Some("upheld" | "dismissed"), Some("arbiter")) => {
            (!act.verdict).then_some("the basis arbiter needs a verdict".into())
        }
        (Some("upheld" | "dismissed"), Some("owners")) => {
            (!act.settlement).then_some("the basis owners needs a settlement".into())
        }
        (Some("upheld" | "dismissed"), Some("court")) => {
            (!act.court).then_some("the basis court needs forum, citation, found_on and checked_by".into())
        }
        (Some("upheld"), _) => Some("the resolution carries no basis".into()),
        (Some("dismissed"), _) => Some("a dismissal rests on an arbiter, the owners or a court".into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instant::DAY_MS;
    use crate::policy::Policy;

    fn open() -> Claim<'static> {
        Claim {
            at: 500,
            subject: "Sable.audit@calderafreight.example",
            state: "open",
            claim_digest: "sha256:dd",
            own_digest: Some("sha256:dd"),
            claimant_anchor_hash: "sha256:aa",
            own_anchor_hash: Some("sha256:aa"),
            respondent: Some("Sable.audit@calderafreight.example"),
            related: false,
            effective_at: Some(100),
            ends_at: Some(200),
            duties_end_at: Some(300),
            categories: 1,
            disclosures: vec![Disclosure { kind: Some("delivery"), at: Some(150) }],
            breach_at: Some(250),
        }
    }

    fn judged(change: impl FnOnce(&mut Claim<'static>)) -> bool {
        let mut claim = open();
        change(&mut claim);
        state(&claim, &Policy::with_defaults("https://bureau.example").spans()).is_none()
    }

    #[test]
    fn an_open_claim_has_all_that_is_asked_of_it() {
        assert!(judged(|_| ()));
        assert!(!judged(|claim| claim.related = true));
        assert!(!judged(|claim| claim.own_digest = Some("sha256:ee")));
        assert!(!judged(|claim| claim.own_digest = None));
        assert!(!judged(|claim| claim.respondent = Some("Other.one@example.net")));
        assert!(!judged(|claim| claim.own_anchor_hash = Some("sha256:bb")));
        assert!(!judged(|claim| claim.own_anchor_hash = None));
        assert!(!judged(|claim| claim.categories = 0));
        assert!(!judged(|claim| claim.disclosures.clear()));
        assert!(!judged(|claim| claim.disclosures.push(Disclosure { kind: Some("rumour"), at: Some(150) })));
        assert!(!judged(|claim| claim.disclosures.push(Disclosure { kind: None, at: Some(150) })));
    }

    #[test]
    fn both_ends_of_its_periods_are_inside_and_a_missing_end_bounds_nothing() {
        let disclosed = |at| vec![Disclosure { kind: Some("sow_task"), at: Some(at) }];
        for (at, good) in [(99, false), (100, true), (200, true), (201, false)] {
            assert_eq!(judged(|claim| claim.disclosures = disclosed(at)), good, "disclosed at {at}");
        }
        assert!(judged(|claim| (claim.ends_at, claim.disclosures) = (None, disclosed(400))));
        assert!(!judged(|claim| claim.effective_at = None));
        assert!(judged(|claim| claim.breach_at = Some(300)));
        assert!(!judged(|claim| claim.breach_at = Some(301)));
        assert!(judged(|claim| claim.breach_at = None));
        assert!(judged(|claim| (claim.breach_at, claim.duties_end_at) = (Some(i64::MAX), None)));
    }

    #[test]
    fn it_is_filed_from_the_first_disclosure_to_the_end_of_the_claim_window() {
        assert!(judged(|claim| claim.at = 150));
        assert!(!judged(|claim| claim.at = 149));
        assert!(judged(|claim| claim.at = 300 + 365 * DAY_MS));
        assert!(!judged(|claim| claim.at = 301 + 365 * DAY_MS));
        assert!(judged(|claim| (claim.at, claim.duties_end_at) = (i64::MAX, None)));
    }

    #[test]
    fn an_uncounted_claim_is_one_between_related_parties_and_nothing_else_is_asked() {
        assert!(!judged(|claim| claim.state = "uncounted"));
        assert!(judged(|claim| (claim.state, claim.related, claim.own_digest) = ("uncounted", true, None)));
        assert!(judged(|claim| (claim.state, claim.related) = ("rejected", true)));
    }

    #[test]
    fn a_resolution_carries_what_it_rests_on() {
        let act = |resolution, basis| Act { known: true, resolution: Some(resolution), basis, ..Act::default() };
        assert_eq!(basis(&Act { known: true, ..Act::default() }), None, "an answer");
        assert!(basis(&Act::default()).is_some());
        for resolution in ["upheld", "dismissed"] {
            assert!(basis(&act(resolution, None)).is_some());
            assert!(basis(&act(resolution, Some("rumour"))).is_some());
            for (name, given) in [
                ("arbiter", Act { verdict: true, ..act(resolution, Some("arbiter")) }),
                ("owners", Act { settlement: true, ..act(resolution, Some("owners")) }),
                ("court", Act { court: true, ..act(resolution, Some("court")) }),
            ] {
                assert!(basis(&act(resolution, Some(name))).is_some(), "{name}");
                assert_eq!(basis(&given), None, "{name}");
                assert!(basis(&Act { known: false, ..given }).is_some(), "{name}");
            }
        }
        assert!(basis(&act("upheld", Some("acknowledged"))).is_some());
        assert_eq!(basis(&Act { signed: true, ..act("upheld", Some("acknowledged")) }), None);
        assert!(basis(&Act { signed: true, ..act("dismissed", Some("acknowledged")) }).is_some());
        assert!(basis(&act("withdrawn", None)).is_some());
        assert_eq!(basis(&Act { signed: true, ..act("withdrawn", None) }), None);
        assert_eq!(basis(&act("set_aside", None)), None);
    }
}
