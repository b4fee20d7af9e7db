//! Parties (profile 1.6): connected components of anchors, over the lines bound by an instant.
//!
//! A line joins its anchor and its operator at its `bound_at`, for good: parties only ever grow. So one union-find answers for every
//! instant. Lines join in the order of `bound_at`; a root that gets a parent keeps the instant with the link; and a search at an
//! instant follows the links of that instant or before. A root joins the larger tree, so a search takes logarithmically many steps, and
//! the instants along its path never fall.
//!
//! Operators are nodes too: two anchors whose agents name one operator are joined through it, whether or not it is an anchor itself. An
//! anchor that a fact or a stop knows by its hash alone may be such an operator; it is then of that party.

use std::collections::{BTreeMap, HashMap};

use super::Identities;

#[derive(Debug, Clone, Copy)]
struct Node {
    /// The node joined to, or itself.
    parent: usize,
    /// From when on; never, for a root.
    since: i64,
    /// When a line first names the node.
    known: i64,
    /// How many nodes are below a root, itself included.
    size: usize,
    /// Whether a line has it as its anchor, and from when on.
    anchor_since: Option<i64>,
}

/// The parties of all anchors and operators at any instant.
#[derive(Debug, Clone)]
pub struct Parties {
    names: HashMap<String, usize>,
    nodes: Vec<Node>,
}

impl Parties {
    /// Joins the anchors and operators of all identities.
    pub fn new(identities: &Identities) -> Parties {
        let mut lines: Vec<_> = identities.iter().collect();
        lines.sort_by_key(|identity| identity.bound.from);
        let mut parties = Parties { names: HashMap::new(), nodes: Vec::new() };
        for line in lines {
            let since = line.bound.from;
            let anchor = parties.node(&line.anchor, since);
            let operator = parties.node(&line.operator, since);
            if let Some(node) = parties.nodes.get_mut(anchor) {
                node.anchor_since.get_or_insert(since);
            }
            parties.join(anchor, operator, since);
        }
        parties
    }

    fn node(&mut self, name: &str, known: i64) -> usize {
        if let Some(&node) = self.names.get(name) {
            return node;
        }
        let node = self.nodes.len();
        self.names.insert(name.to_owned(), node);
        self.nodes.push(Node { parent: node, since: i64::MAX, known, size: 1, anchor_since: None });
        node
    }

    fn join(&mut self, a: usize, b: usize, since: i64) {
        let (a, b) = (self.root(a, since), self.root(b, since));
        let size = |node: usize| self.nodes.get(node).map_or(0, |n| n.size);
        let (small, large) = if size(a) < size(b) { (a, b) } else { (b, a) };
        let total = size(a) + size(b);
        if small == large {
            return;
        }
        if let Some(node) = self.nodes.get_mut(small) {
            (node.parent, node.since) = (large, since);
        }
        if let Some(node) = self.nodes.get_mut(large) {
            node.size = total;
        }
    }

    /// The root of a node at an instant.
    fn root(&self, mut node: usize, at: i64) -> usize {
        while let Some(step) = self.nodes.get(node).filter(|step| step.since <= at && step.parent != node) {
            node = step.parent;
        }
        node
    }

    /// Whether two anchors (or operators) belong to one party, by the lines bound at or before an instant. What no line names is a
    /// party of its own.
    pub fn same_party_at(&self, a: &str, b: &str, at: i64) -> bool {
        a == b
            || matches!((self.names.get(a), self.names.get(b)), (Some(&a), Some(&b)) if self.root(a, at) == self.root(b, at))
    }

    /// The parties by number, from 1 in the order of their smallest anchor, for every anchor and operator of a line bound at or before
    /// an instant.
    pub fn numbered_at(&self, at: i64) -> BTreeMap<&str, i64> {
        let known: BTreeMap<&str, usize> = self
            .names
            .iter()
            .map(|(name, node)| (name.as_str(), *node))
            .filter(|(_, node)| self.known(*node, at))
            .collect();
        let mut numbers = HashMap::new();
        for node in known.values().filter(|node| self.is_anchor(**node, at)) {
            let next = numbers.len() as i64 + 1;
            numbers.entry(self.root(*node, at)).or_insert(next);
        }
        known.into_iter().filter_map(|(name, node)| Some((name, *numbers.get(&self.root(node, at))?))).collect()
    }

    fn known(&self, node: usize, at: i64) -> bool {
        self.nodes.get(node).is_some_and(|node| node.known <= at)
    }

    fn is_anchor(&self, node: usize, at: i64) -> bool {
        self.nodes.get(node).and_then(|node| node.anchor_since).is_some_and(|since| since <= at)
    }
}
