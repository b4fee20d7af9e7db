//! A subject's own excerpt of the ledger, and what can be done with it alone (§4.1, §8.4 L2, §10 obligation 7).
//!
//! # The file
//!
//! JSON lines, each in canonical form (RFC 8785), each with one member that says what it is:
//!
//! | line | what it holds | how often |
//! | --- | --- | --- |
//! | `header` | format, subject, *T*, bureau, formula version, policy, the ledger's head | first, once |
//! | `entry` | an entry as the ledger has it, but for what `withheld` names; its hashes; its standing at *T* | in `seq` order |
//! | `prior` | the pools of the anchor's other agents together, which a portfolio prior rests on (§7.5) | one a capability |
//! | `refusals` | how many refusals something corroborates that is no entry about the subject (§8.2) | one a capability |
//! | `party` | which hashed anchors count as one (profile 1.6), under numbers that mean nothing elsewhere | one a hash |
//! | `witnessed` | instants of the facts that name the subject as their sender (§4.7) | one a fact |
//! | `excerpt` | closes the file: counts, and the SHA-256 of every byte before it; signed where a key was given | last, once |
//!
//! The closing line is a signed document of tag [`CLOSING_TAG`] where the bureau gave its key to the command, and a bare object otherwise.
//!
//! # What a subject sees
//!
//! Every entry about it, as recorded or as corrected: stops below the threshold (§4.7 rule 7), rejected claims with every record that
//! they cite (§4.9 rule 8), value judgments with amount and units (§8.2), and the corrections and exclusions that touch any of them. As a
//! claimant, its own claims with their answers and resolutions. A note, a reason, a stop's ground and an answer's text are shown: they
//! are for the subject's remediation (§6.1), and nobody can correct a stop whose ground it may not read.
//!
//! # What it does not see
//!
//! - Who judged it (§12.1): an evaluator stands as the hash of its anchor, without handle, key or signature, in exclusions too, and a fact
//!   does not name its `sender`. A name that a text spells out is replaced by the hash.
//! - Who claims a breach: the hash of its anchor alone (§4.1). The agreement, the note and the records are the respondent's to see (§4.9
//!   rule 4).
//! - The content of a request (§4.6), and whatever else profile 1.5 does not list: a member that it does not list may hold anything.
//! - Other subjects: an entry that was moved from or to another says so, under a number instead of a handle.
//!
//! An entry that withholds anything withholds its signature too: 64 bytes that nobody guesses, so that the entry's hash confirms no guess
//! of the rest. Where there is no signature to withhold, the hash is withheld, and the following entry's `prev_hash` with it.
//!
//! # What it proves
//!
//! [`recompute`] puts the entries into the tables of the warehouse, runs the same queries over them, and compares every figure with the
//! signed report. A dropped or altered event moves a figure of the report or, where it moves none, breaks the entry's hash or the
//! closing line. The closing line of an unsigned excerpt can be made anew by whoever alters the file; what holds then is the
//! report's own signature. Findings of the audit, priors, corroborations and parties are the bureau's word: only an audit (L3) judges them.

mod amount;
mod closing;
mod collect;
mod compare;
mod error;
mod explain;
mod explain_text;
mod format;
mod read;
mod recompute;
mod redact;
mod reports;
mod shapes;
mod source;
mod tables;

pub use collect::collect;
pub use compare::{Difference, Verdict};
pub use error::ExcerptError;
pub use explain::{Explanation, explain};
pub use format::{CLOSING_TAG, Excerpt, FORMAT, Signer};
pub use recompute::recompute;
pub use reports::SignedReport;

#[cfg(test)]
mod privacy_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
