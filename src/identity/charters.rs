//! `charters.jsonl`: Agent Mandate charters with their mandates (profile 1.6).

use std::collections::HashSet;

use super::Period;
use super::lines::{self, Fault};

/// A mandate from a charter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mandate {
    /// The account that holds it.
    pub account: String,
    /// When it is in force.
    pub period: Period,
}

/// A domain's charter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charter {
    /// The organization's id.
    pub id: String,
    /// Its domain.
    pub domain: String,
    /// When the domain proof was current.
    pub domain_proof: Vec<Period>,
    /// Its mandates.
    pub mandates: Vec<Mandate>,
}

impl Charter {
    /// Whether the domain proof covers an instant.
    pub fn proven_at(&self, at: i64) -> bool {
        self.domain_proof.iter().any(|period| period.contains(at))
    }
}

/// All charters, by domain in code point order.
#[derive(Clone, Debug, Default)]
pub struct Charters {
    sorted: Vec<Charter>,
}

impl Charters {
    /// Reads the lines of a file, each with its number. All faults come together. A report names one charter (2.9), so a domain
    /// has one.
    pub fn read<'a>(file: &str, lines: impl Iterator<Item = (u64, &'a [u8])>) -> Result<Charters, Vec<Fault>> {
        let (mut ids, mut domains) = (HashSet::new(), HashSet::new());
        let mut sorted = lines::read(file, lines, |record| {
            let (id, domain) = (record.text("id"), record.lower("domain"));
            let domain_proof = record.each("domain_proof", false, |item| item.period("from", "to"));
            let mandates = record.each("mandates", false, |item| {
                let (account, period) = (item.lower("account"), item.period("from", "to"));
                Some(Mandate { account: account?.to_owned(), period: period? })
            });
            let (id, domain) = (id?, domain?);
            for (name, value, new) in
                [("id", id, ids.insert(id.to_owned())), ("domain", domain, domains.insert(domain.to_owned()))]
            {
                if !new {
                    record.repeated(name, value);
                }
            }
            Some(Charter {
                id: id.to_owned(),
                domain: domain.to_owned(),
                domain_proof: domain_proof?,
                mandates: mandates?,
            })
        })?;
        sorted.sort_by(|a, b| a.domain.cmp(&b.domain));
        Ok(Charters { sorted })
    }

    /// None: the file is optional.
    pub fn empty() -> Charters {
        Charters::default()
    }

    /// All of them, by domain.
    pub fn iter(&self) -> std::slice::Iter<'_, Charter> {
        self.sorted.iter()
    }

    /// The charter of an id.
    pub fn get(&self, id: &str) -> Option<&Charter> {
        self.sorted.iter().find(|charter| charter.id == id)
    }

    /// The charter of a domain.
    pub fn of_domain(&self, domain: &str) -> Option<&Charter> {
        let position = self.sorted.binary_search_by(|charter| charter.domain.as_str().cmp(domain)).ok()?;
        self.sorted.get(position)
    }
}
