//! One entry as its subject may see it. A pure function of the entry and of who is who.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::shapes::{self, Member, Shape};

/// Numbers instead of the handles of other subjects: the same number for the same handle within one excerpt.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms(BTreeMap<String, usize>);

impl Pseudonyms {
    fn of(&mut self, handle: &str) -> String {
        let next = self.0.len() + 1;
        format!("(another subject {})", self.0.entry(handle.to_owned()).or_insert(next))
    }
}

/// What the resolver knows of a handle: the names to look for in texts, and the hash that stands for them.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The salted hash of its anchor.
    pub anchor_hash: String,
    /// That of its operator.
    pub operator_hash: String,
    /// Its anchor, operator and owner account.
    pub names: Vec<String>,
}

/// Who is who, for one excerpt.
pub(super) struct Redactor<'a> {
    /// Whose excerpt it is.
    pub subject: &'a str,
    /// Every handle of the identities.
    pub known: &'a BTreeMap<String, Known>,
    /// The claimant of each claim, by its digest.
    pub claimants: &'a BTreeMap<String, String>,
    /// Numbers given so far.
    pub pseudonyms: Pseudonyms,
}

/// An entry as it may be shown.
#[derive(Debug, PartialEq)]
pub(super) struct Redacted {
    /// What is left of it.
    pub entry: Value,
    /// What is not as it stands in the ledger, by path.
    pub withheld: Vec<String>,
    /// True where the entry's hash confirms no guess of what is withheld.
    pub hash_is_safe: bool,
}

/// The length of a signature's base64: what makes a hash unguessable.
const SIGNATURE_LENGTH: usize = 88;
/// A name shorter than this is not looked for in texts.
const SHORTEST_NAME: usize = 4;

impl Redactor<'_> {
    /// Redacts an entry; `own` where it belongs to a claim that the subject filed, whose respondent it names itself.
    pub fn redact(&mut self, entry: Value, own: bool) -> Redacted {
        let action = entry["action"].as_str().unwrap_or_default().to_owned();
        let signed = entry["detail"]["signature"].as_str().is_some_and(|text| text.len() >= SIGNATURE_LENGTH);
        let mut withheld = Vec::new();
        let mut entry = show(entry, &action, &mut withheld);
        if let Value::Object(members) = &mut entry {
            self.hide_subject(members, own, &mut withheld);
            if let Some(Value::Object(detail)) = members.get_mut("detail") {
                let hidden = self.hide_names(&action, detail, &mut withheld);
                for (name, value) in detail.iter_mut().filter(|(name, _)| shapes::WORDS.contains(&name.as_str())) {
                    self.sweep(value, &hidden, &format!("detail.{name}"), &mut withheld);
                }
                if let Some(Value::Object(found)) = detail.get_mut("claim").and_then(|claim| claim.get_mut("found"))
                    && let Some(note) = found.get_mut("note")
                {
                    self.sweep(note, &hidden, "detail.claim.found.note", &mut withheld);
                }
                if !withheld.is_empty() {
                    take(detail, "signature", "detail.signature", &mut withheld);
                }
            }
        }
        withheld.sort();
        withheld.dedup();
        let sealed = signed && withheld.iter().any(|path| path == "detail.signature" || path == "detail");
        Redacted { entry, hash_is_safe: withheld.is_empty() || sealed, withheld }
    }

    /// An entry that was moved from another subject does not name it.
    fn hide_subject(&mut self, members: &mut Map<String, Value>, own: bool, withheld: &mut Vec<String>) {
        if let Some(Value::String(handle)) = members.get_mut("subject")
            && handle != self.subject
            && !own
        {
            *handle = self.pseudonyms.of(handle);
            withheld.push("subject".to_owned());
        }
    }

    /// Takes out who judged, called or claimed. Returns the names that no text may spell, and the hash that stands for them.
    fn hide_names(&mut self, action: &str, detail: &mut Map<String, Value>, withheld: &mut Vec<String>) -> Hidden {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        match action {
            "attested" => {
                let mut hidden = self.hidden(text(detail.get("evaluator")), text(detail.get("evaluator_anchor_hash")));
                hidden.names.extend(text(detail.get("key")));
                stand_in(detail, "evaluator", &hidden.hash, withheld);
                take(detail, "key", "detail.key", withheld);
                take(detail, "signature", "detail.signature", withheld);
                hidden
            }
            "fact" => {
                let hidden = self.hidden(text(detail.get("sender")), text(detail.get("caller_anchor_hash")));
                if !hidden.names.is_empty() {
                    take(detail, "sender", "detail.sender", withheld);
                }
                hidden
            }
            "excluded" => {
                let hidden = self.hidden(text(detail.get("evaluator")), None);
                if !hidden.names.is_empty() {
                    stand_in(detail, "evaluator", &hidden.hash, withheld);
                }
                hidden
            }
            "corrected" => {
                if let Some(Value::String(handle)) = detail.get_mut("set").and_then(|set| set.get_mut("subject"))
                    && handle != self.subject
                {
                    *handle = self.pseudonyms.of(handle);
                    withheld.push("detail.set.subject".to_owned());
                }
                Hidden::default()
            }
            "nda_claimed" => {
                let claimant = detail.get("claim").map(|claim| &claim["claimant"]);
                let handle = claimant.and_then(|claimant| text(claimant.get("handle")));
                let key = claimant.and_then(|claimant| text(claimant.get("agent")));
                if handle.as_deref() == Some(self.subject) {
                    return Hidden::default();
                }
                let mut hidden = self.hidden(handle, text(detail.get("claimant_anchor_hash")));
                hidden.names.extend(key);
                if let Some(Value::Object(claim)) = detail.get_mut("claim") {
                    take(claim, "claimant", "detail.claim.claimant", withheld);
                }
                hidden
            }
            "nda_answered" | "nda_resolved" => {
                let claimant = text(detail.get("claim_digest")).and_then(|digest| self.claimants.get(&digest).cloned());
                let own = claimant.as_deref() == Some(self.subject);
                let mut hidden = self.hidden(claimant, None);
                // What acknowledges is the respondent's key; any other signer of a resolution is the claimant.
                let acknowledged = detail.get("basis").and_then(Value::as_str) == Some("acknowledged");
                if action == "nda_resolved" && !acknowledged && !own {
                    hidden.names.extend(text(detail.get("key")));
                    take(detail, "key", "detail.key", withheld);
                }
                hidden
            }
            _ => Hidden::default(),
        }
    }

    /// The names behind a handle that is not the subject's; none where there is no handle to hide.
    fn hidden(&self, handle: Option<String>, stated_hash: Option<String>) -> Hidden {
        let Some(handle) = handle.filter(|handle| handle != self.subject) else {
            return Hidden { names: Vec::new(), hash: stated_hash };
        };
        let known = self.known.get(&handle);
        let mut names: Vec<String> = known.map(|known| known.names.clone()).unwrap_or_default();
        let own: Vec<&str> = self.known.get(self.subject).iter().flat_map(|me| &me.names).map(String::as_str).collect();
        names.retain(|name| !own.contains(&name.as_str()));
        names.push(handle);
        // An anchor may be a part of the handle.
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        Hidden { names, hash: stated_hash.or_else(|| known.map(|known| known.anchor_hash.clone())) }
    }

    /// Replaces hidden names in every text of a value.
    fn sweep(&self, value: &mut Value, hidden: &Hidden, path: &str, withheld: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                let swept = hidden.names.iter().fold(text.clone(), |text, name| {
                    replaced(&text, name, hidden.hash.as_deref().unwrap_or("(withheld)"))
                });
                if swept != *text {
                    *text = swept;
                    withheld.push(path.to_owned());
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    self.sweep(item, hidden, &format!("{path}[{at}]"), withheld);
                }
            }
            Value::Object(members) => {
                for (name, value) in members.iter_mut() {
                    self.sweep(value, hidden, &format!("{path}.{name}"), withheld);
                }
            }
            _ => {}
        }
    }
}

/// Names that are hidden, and the hash that stands for them.
#[derive(Debug, Default)]
struct Hidden {
    names: Vec<String>,
    hash: Option<String>,
}

/// The members that may be shown, of the entry and of its detail.
fn show(entry: Value, action: &str, withheld: &mut Vec<String>) -> Value {
    const ENTRY: [Member; 5] = [
        ("seq", Shape::Scalar),
        ("at", Shape::Scalar),
        ("action", Shape::Scalar),
        ("subject", Shape::Scalar),
        ("capability", Shape::Scalar),
    ];
    let Value::Object(members) = entry else { return Value::Object(Map::new()) };
    let mut shown = Map::new();
    for (name, value) in members {
        let shape = match ENTRY.iter().find(|(known, _)| *known == name) {
            Some((_, shape)) => Some(*shape),
            None if name == "detail" => shapes::detail_of(action),
            None => None,
        };
        pick(&mut shown, name.clone(), value, shape, name, withheld);
    }
    Value::Object(shown)
}

/// Keeps a member in so far as its shape allows.
fn pick(
    into: &mut Map<String, Value>,
    name: String,
    value: Value,
    shape: Option<Shape>,
    path: String,
    withheld: &mut Vec<String>,
) {
    let scalar = |value: &Value| !value.is_array() && !value.is_object();
    let shown = match (shape, value) {
        (Some(Shape::Whole), value) => value,
        (Some(_), value) if scalar(&value) => value,
        (Some(Shape::Scalars), Value::Array(items)) if items.iter().all(scalar) => Value::Array(items),
        (Some(Shape::Object(members)), Value::Object(found)) => object(found, members, &path, withheld),
        (Some(Shape::Objects(members)), Value::Array(items)) => {
            let mut list = Vec::new();
            for (at, item) in items.into_iter().enumerate() {
                let path = format!("{path}[{at}]");
                match item {
                    Value::Object(found) => list.push(object(found, members, &path, withheld)),
                    _ => withheld.push(path),
                }
            }
            Value::Array(list)
        }
        _ => return withheld.push(path),
    };
    into.insert(name, shown);
}

fn object(found: Map<String, Value>, members: &[Member], path: &str, withheld: &mut Vec<String>) -> Value {
    let mut shown = Map::new();
    for (name, value) in found {
        let shape = members.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape);
        let path = format!("{path}.{name}");
        pick(&mut shown, name, value, shape, path, withheld);
    }
    Value::Object(shown)
}

fn take(members: &mut Map<String, Value>, name: &str, path: &str, withheld: &mut Vec<String>) {
    if members.remove(name).is_some() {
        withheld.push(path.to_owned());
    }
}

/// Puts the hash where a handle stood, or takes the handle out where there is no hash.
fn stand_in(members: &mut Map<String, Value>, name: &str, hash: &Option<String>, withheld: &mut Vec<String>) {
    if let Some(value) = members.get_mut(name) {
        withheld.push(format!("detail.{name}"));
        match hash {
            Some(hash) => *value = Value::from(hash.as_str()),
            None => {
                members.remove(name);
            }
        }
    }
}

/// `text` with `name` replaced wherever it stands, in any case of its ASCII letters.
fn replaced(text: &str, name: &str, by: &str) -> String {
    if name.len() < SHORTEST_NAME {
        return text.to_owned();
    }
    // Lowering ASCII letters moves no byte.
    let (folded, name) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, found) in folded.match_indices(&name) {
        out.push_str(text.get(from..at).unwrap_or_default());
        out.push_str(by);
        from = at + found.len();
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
