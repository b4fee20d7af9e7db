//! The `report`: what a bureau says about one subject and one of its capabilities (§8.1, §8.3; profile 2.4 to 2.6).
//!
//! A report takes its counts and sums from rows (`subject_rows`), its blocks from `subject_blocks`, its posterior from `number`.
//! An unenrolled subject has its facts and nothing else: no quality, no candor, no evidence.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::number::{self, Posterior, Prior};
use super::subject_blocks::{Candor, Enrollment, Facts, Lent, Pool, Promise};

/// The enrollment state that a report states (§3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Never opted in.
    Unenrolled,
    /// Enrolled, with less evidence than the threshold.
    Unproven,
    /// Enrolled, with enough.
    Rated,
    /// Opted out, in effect.
    Withdrawn,
}

impl State {
    /// As queries and documents spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Unenrolled => "UNENROLLED",
            State::Unproven => "UNPROVEN",
            State::Rated => "RATED",
            State::Withdrawn => "WITHDRAWN",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<State> {
        [State::Unenrolled, State::Unproven, State::Rated, State::Withdrawn]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

/// What the policy says beside every report.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportTerms {
    /// The half-life, in days, as it is published.
    pub half_life_days: Value,
    /// Σ w from which on a capability is rated, in units of 1e-15.
    pub unproven_threshold: i128,
}

/// What an enrolled or withdrawn subject has beside its facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enrolled {
    /// Every enrollment, oldest first.
    pub enrollments: Vec<Enrollment>,
    /// The pool of the capability.
    pub pool: Pool,
    /// The prior that the portfolio lends; none for the uniform one.
    pub lent: Option<Lent>,
    /// What it chose and admitted.
    pub candor: Candor,
    /// The promises of its latest declaration, in their order.
    pub promises: Vec<Promise>,
}

impl Enrolled {
    /// The posterior of the pool under the prior it has.
    pub fn posterior(&self) -> Posterior {
        posterior(&self.pool, self.lent.as_ref())
    }
}

/// The posterior of a pool, also where no report serves it (profile 2.5).
pub fn posterior(pool: &Pool, lent: Option<&Lent>) -> Posterior {
    match lent {
        Some(lent) => number::posterior(pool.sum_w, pool.sum_wv, &lent.prior),
        None => number::posterior(pool.sum_w, pool.sum_wv, &Prior::uniform()),
    }
}

/// One report, before it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The handle or ANS name.
    pub subject: String,
    /// None for an unenrolled subject, and for one without any.
    pub capability: Option<String>,
    /// At T.
    pub state: State,
    /// Of the subject, enrolled or not.
    pub facts: Facts,
    /// None for an unenrolled subject.
    pub enrolled: Option<Enrolled>,
}

impl Report {
    /// The inner object of the document. `frame` holds what every document carries (`formula_version`, `bureau`, `issued_at`,
    /// `expires_at`); `sender` and `nda` are the subject's records, where it has them.
    pub fn document(
        &self,
        frame: &Map<String, Value>,
        terms: &ReportTerms,
        sender: Option<&Value>,
        nda: Option<&Value>,
    ) -> Value {
        let mut document = frame.clone();
        if let Some(enrolled) = &self.enrolled {
            document.extend(enrolled.enrollments.last().map(Enrollment::members).unwrap_or_default());
        }
        let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
        put("subject", self.subject.as_str().into());
        put("capability", self.capability.as_deref().into());
        put("enrollment", self.state.as_str().into());
        put("facts", self.facts.block());
        if let Some(enrolled) = &self.enrolled {
            let all = enrolled.enrollments.iter().map(|one| Value::Object(one.members()));
            put("enrollments", all.collect());
            put("quality", self.quality(enrolled, terms));
            put("candor", enrolled.candor.block());
            put("evidence", enrolled.pool.evidence(&terms.half_life_days, enrolled.lent.as_ref()));
            put("promises", enrolled.promises.iter().map(Promise::block).collect());
        }
        for (name, record) in [("sender", sender), ("nda", nda)] {
            if let Some(record) = record {
                put(name, record.clone());
            }
        }
        Value::Object(document)
    }

    /// Whether the report serves mean and bound, or the sample size alone (§7.4).
    pub fn serves_quality(&self, terms: &ReportTerms) -> bool {
        let enough = |enrolled: &Enrolled| enrolled.pool.sum_w >= terms.unproven_threshold;
        match self.state {
            State::Rated => true,
            State::Withdrawn => self.enrolled.as_ref().is_some_and(enough),
            State::Unenrolled | State::Unproven => false,
        }
    }

    fn quality(&self, enrolled: &Enrolled, terms: &ReportTerms) -> Value {
        let published = |millionths: Option<i64>| json!(millionths.map(number::millionths_to_json));
        let n_eff = published(number::six_places_of_decimal(enrolled.pool.sum_w, 15));
        if !self.serves_quality(terms) {
            return json!({ "n_eff": n_eff });
        }
        let posterior = enrolled.posterior();
        json!({
            "lcb": published(number::six_places_of_f64(posterior.lcb)),
            "mean": published(number::six_places_of_f64(posterior.mean)),
            "n_eff": n_eff,
        })
    }

    /// The order of `reports.jsonl`: by subject, then capability, none first.
    pub fn order(&self, other: &Report) -> Ordering {
        (&self.subject, &self.capability).cmp(&(&other.subject, &other.capability))
    }
}

#[cfg(test)]
#[path = "subject_tests.rs"]
mod tests;
