//! What of two nights' identities differs, as far as the relations between the sides of an entry rest on it: what a verdict of the
//! earlier night may be carried past, and what it may not.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{AnchorHashes, Identities, Identity, Parties};

/// One night's view.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// What the resolver knew.
    pub identities: &'a Identities,
    /// The salted hashes.
    pub hashes: &'a AnchorHashes,
    /// *T*, in milliseconds, of which parties are.
    pub as_of: i64,
}

/// Whom to look at again. Relations between any others, at any instant, are what they were, as long as the charters are the same.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Handles whose line changed in more than its keys, came or went, or whose anchor's party changed.
    pub handles: BTreeSet<String>,
    /// Hashes of anchors and operators of which the same holds.
    pub hashes: BTreeSet<String>,
}

/// What changed from one view to a later one; none where the hashes are of another salt, so that nothing can be compared.
pub fn changes(before: View<'_>, now: View<'_>) -> Option<Changes> {
    let (then_names, now_names) = (names(before.identities), names(now.identities));
    if then_names.intersection(&now_names).any(|name| before.hashes.hash(name) != now.hashes.hash(name)) {
        return None;
    }
    let mut changed_names: BTreeSet<&str> = then_names.symmetric_difference(&now_names).copied().collect();
    let mut handles: BTreeSet<&str> = BTreeSet::new();
    for line in before.identities.iter().chain(now.identities.iter()) {
        let (then, new) = (before.identities.get(&line.handle), now.identities.get(&line.handle));
        if !then.zip(new).is_some_and(|(then, new)| is_same(then, new)) {
            handles.insert(&line.handle);
            changed_names.insert(&line.anchor);
        }
    }
    let (then_parties, now_parties) = (Parties::new(before.identities), Parties::new(now.identities));
    let moved = moved(&then_parties.numbered_at(before.as_of), &now_parties.numbered_at(now.as_of));
    for line in before.identities.iter().chain(now.identities.iter()) {
        if moved.contains(line.anchor.as_str()) {
            handles.insert(&line.handle);
        }
    }
    changed_names.extend(moved);
    let hashes = changed_names.iter().flat_map(|name| [before.hashes.hash(name), now.hashes.hash(name)]);
    Some(Changes {
        hashes: hashes.filter(|hash| !hash.is_empty()).map(str::to_owned).collect(),
        handles: handles.into_iter().map(str::to_owned).collect(),
    })
}

fn names(identities: &Identities) -> BTreeSet<&str> {
    identities.iter().flat_map(|line| [line.anchor.as_str(), line.operator.as_str()]).collect()
}

/// The same but for its keys, which make no relation.
fn is_same(a: &Identity, b: &Identity) -> bool {
    let of = |line: &Identity| (line.name_system, line.anchor_kind, line.bound);
    let owner = |line: &Identity| [line.anchor.clone(), line.operator.clone(), line.owner_account.clone()];
    of(a) == of(b) && owner(a) == owner(b)
}

/// The names whose party has lost a name or won one, but for those that only stood by themselves or were known to no earlier entry: a name that
/// joins a party changes its own relations, not those between the others.
fn moved<'a>(then: &BTreeMap<&'a str, i64>, now: &BTreeMap<&'a str, i64>) -> HashSet<&'a str> {
    let mut now_of: HashMap<i64, HashSet<Option<i64>>> = HashMap::new();
    let mut then_of: HashMap<i64, HashSet<i64>> = HashMap::new();
    let mut size: HashMap<i64, usize> = HashMap::new();
    for (name, party) in then {
        let new = now.get(name);
        now_of.entry(*party).or_default().insert(new.copied());
        if let Some(new) = new {
            then_of.entry(*new).or_default().insert(*party);
        }
    }
    for party in now.values() {
        *size.entry(*party).or_default() += 1;
    }
    let split = |party: &i64| now_of.get(party).is_some_and(|parts| parts.len() > 1 || parts.contains(&None));
    let merged = |party: &i64| then_of.get(party).is_some_and(|parts| parts.len() > 1);
    let old = then.iter().filter(|(name, party)| split(party) || now.get(*name).is_some_and(merged));
    let new =
        now.iter().filter(|(name, party)| !then.contains_key(*name) && size.get(party).is_some_and(|size| *size > 1));
    old.chain(new).map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::identity::{Charters, Relations, Salt};

    fn identities(lines: &[(u8, u8, u8, i64)]) -> Identities {
        let mut seen = BTreeSet::new();
        let lines: Vec<String> = lines
            .iter()
            .filter(|(handle, ..)| seen.insert(*handle))
            .map(|(handle, anchor, operator, day)| {
                format!(
                    r#"{{"handle":"h{handle}@m.example","name_system":"pan","anchor":"a{anchor}@m.example","anchor_kind":"email","operator":"a{operator}@m.example","bound_at":"2026-01-{:02}T00:00:00Z","unbound_at":null,"keys":[]}}"#,
                    day
                )
            })
            .collect();
        Identities::read("identities.jsonl", lines.iter().zip(1..).map(|(line, number)| (number, line.as_bytes())))
            .unwrap()
    }

    fn lines() -> impl Strategy<Value = Vec<(u8, u8, u8, i64)>> {
        proptest::collection::vec((0..8u8, 0..6u8, 0..9u8, 1..28i64), 0..10)
    }

    proptest! {
        #[test]
        fn whom_it_does_not_name_is_related_as_before(
            then in lines(), added in lines(), dropped in 0..3usize, t in 1..28i64, later in 0..20i64,
        ) {
            let mut both = then.clone();
            both.drain(..dropped.min(both.len()));
            both.extend(added);
            let (then, now) = (identities(&then), identities(&both));
            let salt = Salt::of_bytes(b"salt".to_vec());
            let (then_hashes, now_hashes) = (AnchorHashes::of(&then, &salt), AnchorHashes::of(&now, &salt));
            let instant = |day: i64| 1_767_225_600_000 + (day - 1) * 86_400_000;
            let before = View { identities: &then, hashes: &then_hashes, as_of: instant(t) };
            let after = View { identities: &now, hashes: &now_hashes, as_of: instant(t + later) };
            let changes = changes(before, after).unwrap();
            let charters = Charters::empty();
            let old = Relations::new(&then, &charters, &then_hashes, before.as_of);
            let new = Relations::new(&now, &charters, &now_hashes, after.as_of);
            let handles: Vec<String> = (0..9).map(|n| format!("h{n}@m.example")).collect();
            let unchanged = || handles.iter().filter(|handle| !changes.handles.contains(*handle));
            for a in unchanged() {
                prop_assert_eq!(old.anchor_hash_of(a), new.anchor_hash_of(a));
                for b in unchanged() {
                    prop_assert_eq!(old.handles_related_at(a, b, before.as_of), new.handles_related_at(a, b, before.as_of));
                }
                for n in 0..10 {
                    let hash = crate::identity::anchor_hash(b"salt", &format!("a{n}@m.example"));
                    if !changes.hashes.contains(&hash) {
                        prop_assert_eq!(old.hash_related_at(&hash, a, before.as_of), new.hash_related_at(&hash, a, before.as_of));
                    }
                }
            }
        }
    }

    #[test]
    fn the_same_view_later_changes_nobody_and_another_salt_everybody() {
        let view = identities(&[(0, 0, 1, 1), (1, 1, 1, 2), (2, 3, 3, 9)]);
        let hashes = AnchorHashes::of(&view, &Salt::of_bytes(b"a".to_vec()));
        let others = AnchorHashes::of(&view, &Salt::of_bytes(b"b".to_vec()));
        let at = |as_of| View { identities: &view, hashes: &hashes, as_of };
        assert_eq!(changes(at(1_770_000_000_000), at(1_780_000_000_000)), Some(Changes::default()));
        assert_eq!(changes(at(0), View { hashes: &others, ..at(1) }), None);
    }
}
