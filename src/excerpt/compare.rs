//! Figure by figure: what a bureau signed beside what its excerpt gives.

use serde::Serialize;
use serde_json::Value;

use super::closing::spelt;
use super::format::Excerpt;
use super::reports::{SignedReport, name_of};

/// One figure that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The report's capability, in words.
    pub report: String,
    /// The member, such as `quality.lcb`.
    pub member: String,
    /// As signed; none where the report does not have it.
    pub signed: Option<Value>,
    /// As the excerpt gives it; none where it gives no such member.
    pub recomputed: Option<Value>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "absent".to_owned(), spelt);
        let (signed, recomputed) = (shown(&self.signed), shown(&self.recomputed));
        write!(f, "{}: {}: signed {signed}, recomputed {recomputed}", self.report, self.member)
    }
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Whom it is about.
    pub subject: String,
    /// *T*, RFC 3339.
    pub as_of: String,
    /// Reports compared.
    pub reports: usize,
    /// Figures compared: values that are no object and no list.
    pub figures: usize,
    /// Entries of the excerpt.
    pub entries: usize,
    /// Entries of which something is withheld, so that their hash cannot be checked.
    pub redacted: usize,
    /// The key that closed the excerpt, where one did.
    pub excerpt_signed_by: Option<String>,
    /// The key that signed the reports.
    pub report_signed_by: Option<String>,
    /// Figures that differ.
    pub differences: Vec<Difference>,
    /// What is wrong with the excerpt or with a signature.
    pub faults: Vec<String>,
}

impl Verdict {
    /// Whether every signed figure is the one that the excerpt gives.
    pub fn confirmed(&self) -> bool {
        self.reports > 0 && self.differences.is_empty() && self.faults.is_empty()
    }

    /// Compares the signed reports about a subject with those recomputed. `all` where the signed ones should be all there are.
    pub(super) fn of(
        excerpt: &Excerpt,
        faults: Vec<String>,
        signed: &[SignedReport],
        recomputed: &[Value],
        all: bool,
    ) -> Verdict {
        let mut verdict = Verdict {
            subject: excerpt.header.subject.clone(),
            as_of: excerpt.header.as_of.clone(),
            reports: 0,
            figures: 0,
            entries: excerpt.entries.len(),
            redacted: excerpt.redacted(),
            excerpt_signed_by: excerpt.signer.as_ref().map(|signer| signer.kid.clone()),
            report_signed_by: signed.iter().find_map(|report| report.kid.as_ref().ok().cloned()),
            differences: Vec::new(),
            faults,
        };
        if signed.is_empty() {
            verdict.faults.push(format!("there is no signed report about {}", verdict.subject));
        }
        for (at, report) in signed.iter().enumerate() {
            verdict.report(report, recomputed);
            if signed.iter().take(at).any(|other| other.name() == report.name()) {
                verdict.faults.push(format!("{}: there are two signed reports", report.name()));
            }
        }
        for other in recomputed.iter().filter(|_| all) {
            if signed.iter().all(|report| report.inner["capability"] != other["capability"]) {
                verdict.faults.push(format!("{}: the excerpt gives a report, and none is signed", name_of(other)));
            }
        }
        verdict
    }

    fn report(&mut self, report: &SignedReport, recomputed: &[Value]) {
        let name = report.name();
        match &report.kid {
            Err(what) => self.faults.push(format!("{name}: {what}")),
            Ok(kid) => {
                if self.excerpt_signed_by.as_ref().is_some_and(|other| other != kid) {
                    self.faults.push(format!("{name}: another key signed the report than the excerpt"));
                }
            }
        }
        let Some(other) = recomputed.iter().find(|other| other["capability"] == report.inner["capability"]) else {
            self.faults.push(format!("{name}: the excerpt gives no such report"));
            return;
        };
        self.reports += 1;
        self.figures += differences(&name, "", Some(&report.inner), Some(other), &mut self.differences);
    }
}

/// Adds every difference below a member. Returns how many figures were compared.
fn differences(
    report: &str,
    member: &str,
    signed: Option<&Value>,
    recomputed: Option<&Value>,
    into: &mut Vec<Difference>,
) -> usize {
    let below = |name: &str| if member.is_empty() { name.to_owned() } else { format!("{member}.{name}") };
    match (signed, recomputed) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            let mut names: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
            names.sort();
            names.dedup();
            names.iter().map(|name| differences(report, &below(name), ours.get(*name), theirs.get(*name), into)).sum()
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => (0..ours.len().max(theirs.len()))
            .map(|at| differences(report, &format!("{member}[{at}]"), ours.get(at), theirs.get(at), into))
            .sum(),
        _ => {
            if signed.map(spelt) != recomputed.map(spelt) {
                into.push(Difference {
                    report: report.to_owned(),
                    member: member.to_owned(),
                    signed: signed.cloned(),
                    recomputed: recomputed.cloned(),
                });
            }
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(signed: Value, recomputed: Value) -> Vec<String> {
        let mut into = Vec::new();
        differences("r", "", Some(&signed), Some(&recomputed), &mut into);
        into.iter().map(|difference| difference.to_string()).collect()
    }

    #[test]
    fn one_number_has_one_spelling_and_a_millionth_is_a_difference() {
        assert_eq!(found(json!({"q": {"lcb": 1.0, "n": null}}), json!({"q": {"lcb": 1, "n": null}})), [""; 0]);
        assert_eq!(
            found(json!({"q": {"lcb": 0.902001}}), json!({"q": {"lcb": 0.902}})),
            ["r: q.lcb: signed 0.902001, recomputed 0.902"]
        );
    }

    #[test]
    fn a_member_too_many_or_too_few_is_a_difference() {
        assert_eq!(
            found(json!({"a": 1, "list": [1, 2]}), json!({"b": 2, "list": [1]})),
            [
                "r: a: signed 1, recomputed absent",
                "r: b: signed absent, recomputed 2",
                "r: list[1]: signed 2, recomputed absent"
            ]
        );
    }
}
