//! Entries as they come: the golden bytes of the module's page, the exports handed out, and every member's faults.

mod exports;
mod schema;

use super::json::parse;
use super::*;

#[test]
fn the_golden_entry_of_the_page() {
    let page = include_str!("../mod.rs");
    let mut blocks = page.split("//! ```").filter_map(|block| block.strip_prefix("text\n//! "));
    let mut text = || blocks.next().unwrap().trim_end();
    let (line, hashed, hex) = (text(), text(), text());
    let owned = parse(line.as_bytes()).unwrap();
    let entry = Entry::read(owned.root());
    assert_eq!(
        (entry.fault, entry.detail, entry.seq, entry.at),
        (None, Detail::Unknown, Some(1), Some(1_767_225_600_000))
    );
    let mut canonical = Vec::new();
    canonical::write_without(owned.root(), &HASH_MEMBERS, &mut canonical);
    assert_eq!([canonical.as_slice(), NO_HASH.as_bytes()].concat(), hashed.as_bytes());
    let hash = entry_hash(&canonical, entry.prev_hash.unwrap());
    assert_eq!(hash.iter().map(|b| format!("{b:02x}")).collect::<String>(), hex);
    assert_eq!(entry.entry_hash, Some(encode_hash(&hash).as_str()));
}

#[test]
fn an_entry_with_faults_still_shows_what_the_chain_needs() {
    let owned = parse(br#"{"seq":7,"at":5,"prev_hash":"p","entry_hash":"e","detail":[]}"#).unwrap();
    let entry = Entry::read(owned.root());
    assert_eq!((entry.seq, entry.at, entry.prev_hash, entry.entry_hash), (Some(7), None, Some("p"), Some("e")));
    assert_eq!(
        (entry.detail.clone(), entry.fault.as_deref()),
        (Detail::Faulty, Some("at is not an RFC 3339 instant with Z or an offset"))
    );
    assert_eq!(entry.link(b"x").computed, entry_hash(b"x", "p"));
    let owned = parse(br#"{"seq":"7","prev_hash":null,"entry_hash":0}"#).unwrap();
    let entry = Entry::read(owned.root());
    assert_eq!((entry.seq, entry.prev_hash, entry.entry_hash), (None, None, None));
    assert_eq!(entry.fault.as_deref(), Some("seq is not an integer from 1 on"));
}
