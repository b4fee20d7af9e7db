//! The ledger: an entry, its canonical form, its hash, its typed detail by action, and the chain (profile 1.2, 1.5).
//!
//! # The format of an entry
//!
//! One JSON object a line. Members: `seq`, `at`, `action`, `subject`, `capability` (may be null or absent), `detail`,
//! `prev_hash`, `entry_hash`; any other is kept and hashed. The hash is SHA-256 over the canonical form (RFC 8785) of
//! the entry without its two hash members, followed by the characters of `prev_hash` as they stand. The first entry's
//! `prev_hash` is [`NO_HASH`], the base64 of 32 zero bytes. For this line
//!
//! ```text
//! {"seq": 1, "at": "2026-01-01T00:00:00Z", "action": "noted", "subject": "Ada.l@example.net", "detail": {"n": 1.50}, "prev_hash": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "entry_hash": "trvqB2gD+siC91C9qhNSxMo7wWudIiv8eT7VBsCPOSk="}
//! ```
//!
//! the hashed bytes are
//!
//! ```text
//! {"action":"noted","at":"2026-01-01T00:00:00Z","detail":{"n":1.5},"seq":1,"subject":"Ada.l@example.net"}AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
//! ```
//!
//! (one line, no newline), so that `sha256sum` gives
//!
//! ```text
//! b6bbea076803fac882f750bdaa1352c4ca3bc16b9d222bfc793ed506c08f3929
//! ```
//!
//! whose base64 is the `entry_hash` above.
//!
//! # From a line to an entry
//!
//! [`json::Parser`] refuses a line that is none and otherwise gives its values as a tape; [`canonical`] writes them;
//! [`Entry::read`] types them. A fault of the line stops a load; a fault of an entry's members is
//! kept as [`Entry::fault`], the message of the audit's `entry.schema`, and the entry still stands in the chain.
//! [`Segment`] and [`Chain`] compare hashes, links and `seq` of any number of blocks.

pub mod canonical;
mod chain;
mod cursor;
pub mod detail;
mod entry;
mod fault;
pub mod json;
mod members;
mod node;
mod tape;

pub use chain::{BrokenChain, Chain, ChainBreak, Head, Link, REPORTED_BREAKS, Segment};
pub use detail::Detail;
pub use entry::{Entry, HASH_MEMBERS, NO_HASH, encode_hash, entry_hash};
pub use members::SchemaFault;
pub use node::{Items, Kind, Members, Node};

#[cfg(test)]
mod tests;
