//! The sender record: how often other parties' protections stopped a subject's requests (§4.7, §8.2; profile 2.8).
//!
//! Counts only. A class is served where enough distinct parties stand behind it, each class by itself, and never together with
//! another class or another figure. Rows of `sender_class`, `sender_seen` and `organization_sender` come in, the `sender` member of
//! a report or of an organization report goes out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::number;
use crate::engine::{EngineError, Rows};
use crate::policy::Policy;

/// What a bureau publishes beside every sender record.
#[derive(Debug, Clone, PartialEq)]
pub struct SenderTerms {
    /// The window, in days.
    pub window_days: Value,
    /// Distinct refusing parties from which on a class is served.
    pub threshold_refusers: u64,
}

impl SenderTerms {
    /// The terms of a policy.
    pub fn of(policy: &Policy) -> SenderTerms {
        SenderTerms {
            window_days: policy.to_json()["window_days"].clone(),
            threshold_refusers: policy.sender_threshold,
        }
    }
}

/// The stops of one class that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassCounts {
    /// One of the five classes of §4.6.
    pub class: String,
    /// Stops that count.
    pub stops: i64,
    /// Distinct parties that refused.
    pub refusers: i64,
    /// The stops of the party that refused most.
    pub top_count: i64,
}

/// One sender's record, the classes below the threshold included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SenderRecord {
    /// Its witnessed requests in the window.
    pub witnessed: i64,
    /// Its classes with a stop that counts.
    pub classes: Vec<ClassCounts>,
}

impl SenderRecord {
    /// The `sender` member. An empty `classes` says only that no class reached the threshold.
    pub fn block(&self, terms: &SenderTerms) -> Value {
        let mut classes = Map::new();
        for class in &self.classes {
            if u64::try_from(class.refusers).is_ok_and(|refusers| refusers >= terms.threshold_refusers) {
                let share = number::six_places_of_ratio(class.top_count.into(), class.stops.into());
                let served = json!({
                    "count": class.stops,
                    "refusers": class.refusers,
                    "top_refuser_share": share.map(number::millionths_to_json),
                });
                classes.insert(class.class.clone(), served);
            }
        }
        let mut block = Map::new();
        block.insert("window_days".to_owned(), terms.window_days.clone());
        block.insert("threshold_refusers".to_owned(), terms.threshold_refusers.into());
        if self.witnessed > 0 {
            block.insert("witnessed_requests".to_owned(), self.witnessed.into());
        }
        block.insert("classes".to_owned(), Value::Object(classes));
        Value::Object(block)
    }
}

/// The records of all senders, by subject: one for every row of `sender_seen`.
pub fn records(seen: &Rows, classes: &Rows) -> Result<BTreeMap<String, SenderRecord>, EngineError> {
    let mut records = BTreeMap::new();
    let (subject, witnessed) = (seen.text("subject")?, seen.int("witnessed")?);
    for row in 0..seen.len() {
        if let (Some(subject), Some(witnessed)) = (subject.get(row), witnessed.get(row)) {
            records.insert(subject.to_owned(), SenderRecord { witnessed, classes: Vec::new() });
        }
    }
    for (subject, counts) in class_counts(classes, "subject")? {
        records.entry(subject).or_default().classes = counts;
    }
    Ok(records)
}

/// The class counts of `sender_class` (key `subject`) or `organization_sender` (key `organization`), by key.
pub fn class_counts(rows: &Rows, key: &str) -> Result<BTreeMap<String, Vec<ClassCounts>>, EngineError> {
    let (key, class) = (rows.text(key)?, rows.text("class")?);
    let (stops, refusers, top_count) = (rows.int("stops")?, rows.int("refusers")?, rows.int("top_count")?);
    let mut counts: BTreeMap<String, Vec<ClassCounts>> = BTreeMap::new();
    for row in 0..rows.len() {
        if let (Some(key), Some(class), Some(stops), Some(refusers), Some(top_count)) =
            (key.get(row), class.get(row), stops.get(row), refusers.get(row), top_count.get(row))
        {
            let counted = ClassCounts { class: class.to_owned(), stops, refusers, top_count };
            counts.entry(key.to_owned()).or_default().push(counted);
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(class: &str, stops: i64, refusers: i64, top_count: i64) -> ClassCounts {
        ClassCounts { class: class.to_owned(), stops, refusers, top_count }
    }

    fn terms() -> SenderTerms {
        SenderTerms { window_days: json!(90), threshold_refusers: 3 }
    }

    #[test]
    fn a_class_below_the_threshold_is_left_out() {
        let record =
            SenderRecord { witnessed: 5120, classes: vec![class("scope", 6, 4, 3), class("screening", 40, 2, 39)] };
        let expected = json!({
            "window_days": 90, "threshold_refusers": 3, "witnessed_requests": 5120,
            "classes": { "scope": { "count": 6, "refusers": 4, "top_refuser_share": 0.5 } },
        });
        assert_eq!(record.block(&terms()), expected);
    }

    #[test]
    fn the_threshold_itself_is_served_and_its_share_has_six_places() {
        let record = SenderRecord { witnessed: 0, classes: vec![class("mandate", 6, 3, 4)] };
        let block = record.block(&terms());
        assert_eq!(block["classes"]["mandate"]["top_refuser_share"].to_string(), "0.666667");
        assert_eq!(block.get("witnessed_requests"), None);
    }

    #[test]
    fn no_class_at_all_is_an_empty_object_beside_its_terms() {
        let expected = json!({ "window_days": 90, "threshold_refusers": 3, "classes": {} });
        assert_eq!(SenderRecord::default().block(&terms()), expected);
    }

    #[test]
    fn two_classes_stay_two() {
        let record = SenderRecord { witnessed: 9, classes: vec![class("scope", 3, 3, 1), class("volume", 4, 4, 1)] };
        let block = record.block(&terms());
        let names: Vec<_> = block["classes"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["scope", "volume"]);
        assert_eq!(block.as_object().map(Map::len), Some(4), "no figure stands beside the classes that joins them");
    }
}
