//! Profile 1.3, 1.6, 1.7 (self-dealing), 2.9 and 2.10, clause by clause, and the bundled exports.

mod exports;
mod organizations;
mod parties;
mod reading;

use serde_json::{Value, json};

use super::*;
use crate::instant;

/// An instant in November 2026, by day and hour.
pub(super) fn nov(day: u32, hour: u32) -> i64 {
    instant::parse(&format!("2026-11-{day:02}T{hour:02}:00:00Z")).unwrap()
}

pub(super) fn read_with<T>(read: impl Fn(&str, &mut dyn Iterator<Item = (u64, &[u8])>) -> T, text: &str) -> T {
    read("file.jsonl", &mut text.lines().enumerate().map(|(i, line)| (i as u64 + 1, line.as_bytes())))
}

pub(super) fn identities(text: &str) -> Result<Identities, Vec<Fault>> {
    read_with(|file, lines| Identities::read(file, lines), text)
}

pub(super) fn charters(text: &str) -> Result<Charters, Vec<Fault>> {
    read_with(|file, lines| Charters::read(file, lines), text)
}

pub(super) fn reporters(text: &str) -> Result<Reporters, Vec<Fault>> {
    read_with(|file, lines| Reporters::read(file, lines), text)
}

/// A line of identities.jsonl: handle, anchor, and whatever else.
pub(super) fn line(handle: &str, anchor: &str, more: Value) -> String {
    let mut value = json!({"handle": handle, "name_system": "pan", "anchor": anchor, "anchor_kind": if anchor.contains('@') { "email" } else { "domain" },
        "bound_at": "2026-11-01T00:00:00Z", "keys": []});
    let object = value.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    value.to_string() + "\n"
}

pub(super) fn world() -> (Identities, Charters) {
    let identities = identities(
        &[
            line("Mail.ana@org.example", "ana@org.example", json!({})),
            line("Mail2.ana@org.example", "ana@org.example", json!({})),
            line("Mail.bob@org.example", "bob@org.example", json!({"unbound_at": "2026-11-25T00:00:00Z"})),
            line("ans://agent.org.example", "org.example", json!({"name_system": "ans"})),
            line("Far.lee@far.example", "lee@far.example", json!({"owner_account": "acct:lee"})),
            line("Far2.lee@far.example", "lee@far.example", json!({})),
            line("Gone.kim@far.example", "kim@far.example", json!({"unbound_at": "2026-11-22T00:00:00Z"})),
            line("Sub.eve@sub.org.example", "eve@sub.org.example", json!({})),
            line("Old.tim@old.example", "tim@old.example", json!({"unbound_at": "2026-11-21T00:00:00Z"})),
            line("Late.zoe@org.example", "zoe@org.example", json!({"bound_at": "2026-12-01T00:00:00Z"})),
        ]
        .concat(),
    );
    let charters = charters(concat!(
        r#"{"id": "org_1", "domain": "org.example", "domain_proof": [{"from": "2026-11-03T00:00:00Z", "to": "2026-11-10T00:00:00Z"}, {"from": "2026-11-12T00:00:00Z"}], "mandates": ["#,
        r#"{"account": "acct:lee", "from": "2026-11-04T00:00:00Z", "to": "2026-11-08T00:00:00Z"}, {"account": "acct:lee", "from": "2026-11-08T00:00:00Z"}, "#,
        r#"{"account": "kim@far.example", "from": "2026-11-02T00:00:00Z", "to": "2026-11-24T00:00:00Z"}, {"account": "ana@org.example", "from": "2026-11-02T00:00:00Z", "to": "2026-11-29T00:00:00Z"}]}"#,
        "\n",
        r#"{"id": "org_2", "domain": "old.example", "domain_proof": [{"from": "2026-11-01T00:00:00Z", "to": "2026-11-15T00:00:00Z"}], "mandates": []}"#,
    ));
    (identities.unwrap(), charters.unwrap())
}
