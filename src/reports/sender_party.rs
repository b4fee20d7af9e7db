//! Who counts as one refusing party (§4.7 rule 1; profile 1.6, last paragraph on parties).
//!
//! Stops name their recipients by hash. A hash that an identity explains belongs to that identity's party. One that none explains is
//! a party of its own, until a stop ties it to an operator: then it joins whoever shares that operator, be it another unexplained hash,
//! a recipient with a known party, or the party that the operator's own hash names. These are connected components, which SQL
//! does not say plainly; the result is the input table `refusing_party`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

use crate::engine::{EngineError, Rows};

/// A recipient that a stop names, and the operator that the reporter gave for it (a row of `stop_link`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopLink {
    /// The recipient's hashed anchor.
    pub recipient: String,
    /// Its operator's hash, where one is named.
    pub operator: Option<String>,
}

/// Reads the rows of `stop_link`.
pub fn links(rows: &Rows) -> Result<Vec<StopLink>, EngineError> {
    let (recipient, operator) = (rows.text("recipient_anchor_hash")?, rows.text("recipient_operator_hash")?);
    let link = |row| {
        let recipient = recipient.get(row)?.to_owned();
        Some(StopLink { recipient, operator: operator.get(row).map(str::to_owned) })
    };
    Ok((0..rows.len()).filter_map(link).collect())
}

/// The party key of every known anchor hash and of every recipient of a stop. Keys are numbered from 1 in the order of the hashes, so
/// the table's bytes depend on nothing else.
///
/// `anchors` has the party of each hashed anchor of the identities, `operators` that of each hashed operator (profile 1.6). Both are
/// hashes of one kind: an operator that is somebody's anchor has that anchor's hash.
pub fn refusing_parties(
    links: &[StopLink],
    anchors: &BTreeMap<String, i64>,
    operators: &BTreeMap<String, i64>,
) -> BTreeMap<String, i64> {
    let mut sets = Sets::default();
    let mut first_of: BTreeMap<i64, usize> = BTreeMap::new();
    for (hash, party) in anchors.iter().chain(operators) {
        let index = sets.index(hash);
        let first = *first_of.entry(*party).or_insert(index);
        sets.unite(first, index);
    }
    for link in links {
        let recipient = sets.index(&link.recipient);
        if let Some(operator) = &link.operator {
            let operator = sets.index(operator);
            sets.unite(recipient, operator);
        }
    }
    let mut hashes: Vec<&str> = anchors.keys().map(String::as_str).collect();
    hashes.extend(links.iter().map(|link| link.recipient.as_str()));
    hashes.sort_unstable();
    hashes.dedup();
    let mut keys: BTreeMap<usize, i64> = BTreeMap::new();
    let mut next = 1;
    let mut parties = BTreeMap::new();
    for hash in hashes {
        let index = sets.index(hash);
        let key = *keys.entry(sets.root(index)).or_insert_with(|| {
            let key = next;
            next += 1;
            key
        });
        parties.insert(hash.to_owned(), key);
    }
    parties
}

/// The input table `refusing_party (anchor_hash, party_key)`, in the order of the hashes.
pub fn table(parties: &BTreeMap<String, i64>) -> Result<RecordBatch, ArrowError> {
    let schema = Schema::new(vec![
        Field::new("anchor_hash", DataType::Utf8, false),
        Field::new("party_key", DataType::Int64, false),
    ]);
    let hashes: ArrayRef = Arc::new(StringArray::from_iter_values(parties.keys()));
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(parties.values().copied()));
    RecordBatch::try_new(Arc::new(schema), vec![hashes, keys])
}

/// Disjoint sets of hashes, with path halving.
#[derive(Default)]
struct Sets<'a> {
    numbers: BTreeMap<&'a str, usize>,
    parents: Vec<usize>,
}

impl<'a> Sets<'a> {
    fn index(&mut self, hash: &'a str) -> usize {
        let next = self.parents.len();
        let index = *self.numbers.entry(hash).or_insert(next);
        if index == next {
            self.parents.push(next);
        }
        index
    }

    fn parent(&self, index: usize) -> usize {
        self.parents.get(index).copied().unwrap_or(index)
    }

    fn root(&mut self, mut index: usize) -> usize {
        while self.parent(index) != index {
            let above = self.parent(self.parent(index));
            if let Some(slot) = self.parents.get_mut(index) {
                *slot = above;
            }
            index = above;
        }
        index
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.parents.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(recipient: &str, operator: Option<&str>) -> StopLink {
        StopLink { recipient: recipient.to_owned(), operator: operator.map(str::to_owned) }
    }

    fn parties(of: &[(&str, i64)]) -> BTreeMap<String, i64> {
        of.iter().map(|(hash, party)| ((*hash).to_owned(), *party)).collect()
    }

    /// The groups of hashes that share a key.
    fn groups(parties: &BTreeMap<String, i64>) -> Vec<Vec<&str>> {
        let mut groups: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
        for (hash, key) in parties {
            groups.entry(*key).or_default().push(hash);
        }
        groups.into_values().collect()
    }

    #[test]
    fn an_unexplained_hash_is_a_party_of_its_own() {
        let found =
            refusing_parties(&[link("u1", None), link("u2", None)], &parties(&[("a", 7), ("b", 7)]), &parties(&[]));
        assert_eq!(groups(&found), [vec!["a", "b"], vec!["u1"], vec!["u2"]]);
    }

    #[test]
    fn unexplained_hashes_join_through_their_operator() {
        let links = [link("u1", Some("op")), link("u2", Some("op")), link("u3", Some("other")), link("u4", None)];
        let found = refusing_parties(&links, &parties(&[]), &parties(&[]));
        assert_eq!(groups(&found), [vec!["u1", "u2"], vec!["u3"], vec!["u4"]]);
    }

    #[test]
    fn an_operator_that_an_identity_names_brings_its_party() {
        let anchors = parties(&[("a", 1), ("b", 2), ("c", 3)]);
        let operators = parties(&[("op", 1), ("b", 2)]);
        let links = [link("u1", Some("op")), link("u2", Some("b")), link("u3", Some("c"))];
        let found = refusing_parties(&links, &anchors, &operators);
        assert_eq!(groups(&found), [vec!["a", "u1"], vec!["b", "u2"], vec!["c", "u3"]]);
    }

    #[test]
    fn an_operator_that_only_stops_name_joins_a_known_recipient_too() {
        let links = [link("a", Some("op")), link("u1", Some("op"))];
        let found = refusing_parties(&links, &parties(&[("a", 1), ("b", 2)]), &parties(&[("a", 1), ("b", 2)]));
        assert_eq!(groups(&found), [vec!["a", "u1"], vec!["b"]]);
    }

    #[test]
    fn chains_join_and_the_order_of_the_stops_does_not_matter() {
        let mut links = vec![
            link("u1", Some("x")),
            link("u2", Some("x")),
            link("u2", Some("y")),
            link("u3", Some("y")),
            link("u4", Some("u3")),
        ];
        let forth = refusing_parties(&links, &parties(&[]), &parties(&[]));
        links.reverse();
        let back = refusing_parties(&links, &parties(&[]), &parties(&[]));
        assert_eq!(groups(&forth), [vec!["u1", "u2", "u3", "u4"]]);
        assert_eq!(forth, back);
    }
}
