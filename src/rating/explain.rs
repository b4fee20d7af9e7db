//! A published rating, read out for a person as the method tells it: verdict, factors, penalties, sum, ceiling, evidence.

use std::fmt::Write;

use serde_json::Value;

/// The members of `evidence`, in the order of reading.
const EVIDENCE: [&str; 11] = [
    "window_decisions",
    "decisions",
    "material",
    "material_all_time",
    "cleared_decisions",
    "cleared_decisions_all_time",
    "attestable_decisions_all_time",
    "unauthenticated_decisions_excluded",
    "parked_decisions_approved",
    "parked_decisions_denied",
    "first_decision_at",
];

/// The text of a `rating` object (4.5), the inner one of a signed document. A member that is not there is left out.
pub fn explain(rating: &Value) -> String {
    let mut page = Page { text: String::new() };
    page.line(&format!("{} · {}", text(rating, "agent_id"), text(rating, "mpp_did")));
    page.line(&format!("controller {} · {} data", text(rating, "organization_id"), text(rating, "data_provenance")));
    page.line(&format!(
        "{}, as of {}, valid until {}",
        text(rating, "method"),
        text(rating, "issued_at"),
        text(rating, "expires_at")
    ));
    page.gap();
    page.wrapped("", text(rating, "summary"));
    scored(&mut page, rating);
    page.list(rating, "unscorable_factors", "Not scored: the weight is out of the denominator", |item| {
        format!("{}, {} points ({})", text(item, "key"), number(item, "weight"), text(item, "code"))
    });
    page.list(rating, "prior_held_factors", "Scored over no evidence: held at half the weight", |item| {
        let route = item.get("route").and_then(Value::as_str).map_or(String::new(), |route| format!(" on {route}"));
        format!("{}, {} of {} points{route}", text(item, "key"), number(item, "contribution"), number(item, "weight"))
    });
    page.list(rating, "caps", "Ceiling", |item| {
        let binds = if item.get("binding") == Some(&Value::Bool(true)) { "binding" } else { "not binding" };
        format!("{} {}, {binds}", text(item, "code"), number(item, "ceiling"))
    });
    if let Some(comparability) = rating.get("comparability") {
        page.gap();
        page.line("Comparability");
        page.wrapped("  ", text(comparability, "reason"));
    }
    if let Some(Value::Object(evidence)) = rating.get("evidence") {
        page.gap();
        page.line("Evidence");
        for name in EVIDENCE {
            if let Some(value) = evidence.get(name) {
                page.line(&format!("  {name:<36} {}", plain(value)));
            }
        }
    }
    page.text
}

fn scored(page: &mut Page, rating: &Value) {
    let factors = rating.get("factors").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if factors.is_empty() {
        return;
    }
    for (title, penalties) in [("Factors", false), ("Penalties", true)] {
        page.gap();
        page.line(title);
        for factor in factors.iter().filter(|factor| factor.get("assessed").is_some() == penalties) {
            let of = if penalties { String::new() } else { format!(" of {}", number(factor, "weight")) };
            page.line(&format!("  {:<26} {:>5}{of}", text(factor, "key"), number(factor, "contribution")));
            page.wrapped("      ", text(factor, "detail"));
        }
    }
    page.gap();
    page.wrapped(
        "",
        &format!(
            "Score {} of {}, the sum of the contributions; {} of 1000 before the ceiling, {} after it: tier {}.",
            number(rating, "score"),
            number(rating, "denominator"),
            number(rating, "uncapped_score"),
            number(rating, "normalized_score"),
            text(rating, "tier")
        ),
    );
}

struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{line}");
    }

    fn gap(&mut self) {
        self.line("");
    }

    fn list(&mut self, rating: &Value, member: &str, title: &str, head: impl Fn(&Value) -> String) {
        let items = rating.get(member).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if items.is_empty() {
            return;
        }
        self.gap();
        self.line(title);
        for item in items {
            self.line(&format!("  {}", head(item)));
            self.wrapped("      ", text(item, "reason"));
        }
    }

    /// Breaks a text at 100 columns.
    fn wrapped(&mut self, indent: &str, words: &str) {
        let mut line = String::from(indent);
        for word in words.split_whitespace() {
            if line.len() > indent.len() && line.chars().count() + 1 + word.chars().count() > 100 {
                self.line(line.trim_end());
                line = String::from(indent);
            }
            if line.len() > indent.len() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.line(line.trim_end());
    }
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or("")
}

fn number(value: &Value, member: &str) -> String {
    value.get(member).map_or_else(String::new, plain)
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_there_is_left_out() {
        assert!(explain(&json!({})).contains('\n'));
        let page = explain(&json!({
            "agent_id": "a", "tier": "REVOKED", "summary": "word ".repeat(60), "factors": [], "evidence": {"decisions": 3},
            "caps": [{"code": "controller_none", "ceiling": 700, "binding": false, "reason": "r"}],
        }));
        assert!(page.lines().all(|line| line.chars().count() <= 100));
        assert!(page.contains("controller_none 700, not binding") && page.contains("decisions"));
        assert!(!page.contains("Factors") && !page.contains("Penalties") && !page.contains("material"));
    }
}
