//! sig.invalid, sig.key and sig.date of one entry: who must have signed it, with which keys, and when.

use std::collections::HashMap;
use std::sync::Arc;

use crate::identity::{Identities, Reporter, Reporters};
use crate::instant;

use super::finding::{Finding, Message, Rule};
use super::rules;
use super::signature::{AnyItem, Demand, Key, KeyFault, Keys, Part, SignedAt, Signer, signature_bytes, verify_any};

/// The entry that a signature stands in.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Its place in the ledger.
    pub seq: i64,
    /// Its instant.
    pub at: i64,
    /// Its action.
    pub action: &'a str,
}

/// Everybody's keys. Shared by the threads of an audit.
pub struct Signers<'a> {
    identities: &'a Identities,
    reporters: HashMap<&'a str, Reporting<'a>>,
    keys: Keys,
}

/// A reporter with its keys decoded, each once.
struct Reporting<'a> {
    reporter: &'a Reporter,
    keys: Vec<(&'a str, Arc<Key>)>,
}

/// A signature whose verdict is still out.
pub struct Check {
    seq: i64,
    keys: Vec<Arc<Key>>,
    /// How many of the keys, from the first, were the reporter's at the entry's `at`.
    bound: usize,
    signature: [u8; 64],
    message: Vec<u8>,
}

impl<'a> Signers<'a> {
    /// Decodes the reporters' keys; a key that is none verifies nothing.
    pub fn new(identities: &'a Identities, reporters: &'a Reporters) -> Signers<'a> {
        let keys = Keys::new();
        let reporting = reporters.iter().map(|reporter| {
            let mut decoded: Vec<(&str, Arc<Key>)> = Vec::new();
            for line in &reporter.keys {
                if !decoded.iter().any(|(text, _)| *text == line.key)
                    && let Ok(key) = keys.get(&line.key)
                {
                    decoded.push((&line.key, key));
                }
            }
            (reporter.reporter.as_str(), Reporting { reporter, keys: decoded })
        });
        Signers { identities, reporters: reporting.collect(), keys }
    }

    /// Judges what needs no arithmetic, and adds the signatures that do to `checks`. An unknown reporter leaves nothing else to
    /// judge (reporter.unconfigured).
    pub fn judge(&self, place: Place<'_>, demands: &[Demand], checks: &mut Vec<Check>, found: &mut Vec<Finding>) {
        if let Some(message) = self.unconfigured(place, demands) {
            let (message, known) = message;
            found.push(Finding::new(place.seq, Rule::ReporterUnconfigured, message));
            if !known {
                return;
            }
        }
        for demand in demands {
            self.judge_one(place, demand, checks, found);
        }
    }

    /// reporter.unconfigured, and whether the reporter is known at all.
    fn unconfigured(&self, place: Place<'_>, demands: &[Demand]) -> Option<(Message, bool)> {
        let reporter = demands.iter().find_map(|demand| match &demand.signer {
            Signer::Reporter { reporter } => Some(reporter.as_str()),
            _ => None,
        })?;
        match self.reporters.get(reporter) {
            None => Some(("nobody knows the reporter".into(), false)),
            Some(known) if !known.reporter.configured.contains(place.at) => {
                Some(("the reporter was not configured at the entry's at".into(), true))
            }
            Some(_) => None,
        }
    }

    fn judge_one(&self, place: Place<'_>, demand: &Demand, checks: &mut Vec<Check>, found: &mut Vec<Finding>) {
        let (keys, bound) = match &demand.signer {
            Signer::Reporter { reporter } => self.reporter_keys(reporter, place.at),
            Signer::Agent { key, .. } | Signer::AgentOrOwner { key, .. } | Signer::Claimant { key, .. } => {
                let decoded = self.keys.get(key);
                let spelt = !matches!(decoded, Err(KeyFault::Spelling));
                let signed_at = instant_of(&demand.signed_at, place.at);
                if !(spelt && self.is_bound(&demand.signer, signed_at)) {
                    let message = match demand.part {
                        Part::Entry => "the key was not bound to the signer at the signed instant",
                        Part::Sender => "the key was not bound to the sender at the entry's at",
                    };
                    found.push(Finding::new(place.seq, Rule::SigKey, message));
                }
                let keys: Vec<Arc<Key>> = decoded.into_iter().collect();
                let bound = keys.len();
                (keys, bound)
            }
        };
        if let (Part::Entry, SignedAt::Instant(_), false) =
            (demand.part, &demand.signed_at, place.action == "nda_claimed")
            && let Some(statement_at) = instant_of(&demand.signed_at, place.at)
            && let Some(message) = rules::date(statement_at, place.at)
        {
            found.push(Finding::new(place.seq, Rule::SigDate, message));
        }
        let signature = signature_bytes(&demand.signature);
        match (signature, &demand.message, keys.is_empty()) {
            (Some(signature), Some(message), false) => {
                checks.push(Check { seq: place.seq, keys, bound, signature, message: message.clone() });
            }
            _ => found.push(Finding::new(place.seq, Rule::SigInvalid, "a key, signature or digest is malformed")),
        }
    }

    /// The reporter's keys, those of the instant first, and how many they are.
    fn reporter_keys(&self, reporter: &str, at: i64) -> (Vec<Arc<Key>>, usize) {
        let Some(reporting) = self.reporters.get(reporter) else {
            return (Vec::new(), 0);
        };
        let of_the_instant =
            |text: &str| reporting.reporter.keys.iter().any(|line| line.key == text && line.period.contains(at));
        let (mut first, rest): (Vec<_>, Vec<_>) = reporting.keys.iter().partition(|(text, _)| of_the_instant(text));
        let bound = first.len();
        first.extend(rest);
        (first.into_iter().map(|(_, key)| Arc::clone(key)).collect(), bound)
    }

    /// sig.key. A claimant is known by its claim, which is looked up where claims are (claim.basis).
    fn is_bound(&self, signer: &Signer, signed_at: Option<i64>) -> bool {
        let Some(at) = signed_at else { return false };
        match signer {
            Signer::Agent { handle, key } => self.identities.key_bound_at(handle, key, at),
            Signer::AgentOrOwner { handle, key } => {
                self.identities.key_bound_at(handle, key, at) || self.identities.owner_key_bound_at(handle, key, at)
            }
            Signer::Claimant { .. } | Signer::Reporter { .. } => true,
        }
    }
}

/// Decides the signatures: under none of its keys is sig.invalid, under a key of another time sig.key.
pub fn decide(checks: &[Check], found: &mut Vec<Finding>) {
    let items: Vec<AnyItem<'_>> = checks
        .iter()
        .map(|check| AnyItem { keys: &check.keys, signature: &check.signature, message: &check.message })
        .collect();
    for (check, verdict) in checks.iter().zip(verify_any(&items)) {
        match verdict {
            None => {
                found.push(Finding::new(check.seq, Rule::SigInvalid, "the signature does not verify"));
            }
            Some(key) if key >= check.bound => {
                let message = "the reporter's key was not its key at the entry's at";
                found.push(Finding::new(check.seq, Rule::SigKey, message));
            }
            Some(_) => {}
        }
    }
}

fn instant_of(signed_at: &SignedAt, at: i64) -> Option<i64> {
    match signed_at {
        SignedAt::EntryAt => Some(at),
        SignedAt::Instant(text) => instant::parse(text).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine, engine::general_purpose::STANDARD};
    use ed25519_dalek::{Signer as _, SigningKey};

    const BOUND: &str = "2026-01-01T00:00:00Z";
    const ROTATED: &str = "2026-06-01T00:00:00Z";

    fn signer(seed: u8) -> (SigningKey, String) {
        let key = SigningKey::from_bytes(&[seed; 32]);
        let text = STANDARD.encode(key.verifying_key().as_bytes());
        (key, text)
    }

    fn known() -> (Identities, Reporters) {
        let (one, two, owner) = (signer(1).1, signer(2).1, signer(3).1);
        let identity = format!(
            r#"{{"handle":"A.b@c.example","name_system":"pan","anchor":"b@c.example","anchor_kind":"email","bound_at":"{BOUND}",
            "keys":[{{"key":"{one}","from":"{BOUND}","to":"{ROTATED}"}},{{"key":"{two}","from":"{ROTATED}"}}],
            "owner_keys":[{{"key":"{owner}","from":"{BOUND}"}}]}}"#
        );
        let reporter = format!(
            r#"{{"reporter":"https://r.example","configured_from":"{BOUND}","configured_to":"2026-09-01T00:00:00Z",
            "keys":[{{"key":"{one}","from":"{BOUND}","to":"{ROTATED}"}},{{"key":"{two}","from":"{ROTATED}"}}]}}"#
        );
        let identities = Identities::read("i", [(1, identity.as_bytes())].into_iter());
        let reporters = Reporters::read("r", [(1, reporter.as_bytes())].into_iter());
        (identities.unwrap(), reporters.unwrap())
    }

    /// The rules that an entry of this instant breaks, by name.
    fn broken(at: &str, action: &str, demands: &[Demand]) -> Vec<&'static str> {
        let (identities, reporters) = known();
        let signers = Signers::new(&identities, &reporters);
        let (mut checks, mut found) = (Vec::new(), Vec::new());
        let place = Place { seq: 7, at: instant::parse(at).unwrap(), action };
        signers.judge(place, demands, &mut checks, &mut found);
        decide(&checks, &mut found);
        let mut names: Vec<_> = found.iter().map(|finding| finding.rule.name()).collect();
        names.sort_unstable();
        names
    }

    fn demand(seed: u8, signer_of: impl FnOnce(String) -> Signer, signed_at: SignedAt) -> Demand {
        let (key, text) = signer(seed);
        let message = b"what was signed".to_vec();
        let signature = STANDARD.encode(key.sign(&message).to_bytes());
        Demand { part: Part::Entry, signer: signer_of(text), signature, signed_at, message: Some(message) }
    }

    fn agent(key: String) -> Signer {
        Signer::Agent { handle: "A.b@c.example".to_owned(), key }
    }

    fn owner(key: String) -> Signer {
        Signer::AgentOrOwner { handle: "A.b@c.example".to_owned(), key }
    }

    fn reporter(_: String) -> Signer {
        Signer::Reporter { reporter: "https://r.example".to_owned() }
    }

    fn signed(at: &str) -> SignedAt {
        SignedAt::Instant(at.to_owned())
    }

    #[test]
    fn a_key_is_its_handle_s_from_the_first_instant_to_before_the_last() {
        for (seed, at, wrong) in [
            (1, BOUND, &[][..]),
            (1, "2026-05-31T23:59:59.999Z", &[]),
            (1, ROTATED, &["sig.key"]),
            (2, ROTATED, &[]),
            (2, "2026-05-31T23:59:59.999Z", &["sig.key"]),
            (3, BOUND, &["sig.key"]),
            (9, BOUND, &["sig.key"]),
        ] {
            assert_eq!(broken(at, "attested", &[demand(seed, agent, signed(at))]), wrong, "{seed} at {at}");
        }
        assert_eq!(broken(BOUND, "nda_answered", &[demand(3, owner, signed(BOUND))]), [""; 0]);
        assert_eq!(broken(BOUND, "nda_answered", &[demand(1, owner, signed(BOUND))]), [""; 0]);
    }

    #[test]
    fn a_statement_is_dated_by_its_entry_and_a_claim_is_not() {
        let stale = demand(1, agent, signed(BOUND));
        assert_eq!(broken("2026-01-02T00:00:00Z", "withdrew", std::slice::from_ref(&stale)), [""; 0]);
        assert_eq!(broken("2026-01-02T00:00:00.001Z", "withdrew", std::slice::from_ref(&stale)), ["sig.date"]);
        assert_eq!(broken("2025-12-31T23:59:59Z", "attested", std::slice::from_ref(&stale)), ["sig.date"]);
        assert_eq!(broken("2026-03-01T00:00:00Z", "nda_claimed", &[stale]), [""; 0]);
    }

    #[test]
    fn what_is_malformed_is_invalid_and_a_malformed_key_is_nobody_s() {
        let good = || demand(1, agent, signed(BOUND));
        let flipped = Demand { message: Some(b"what was signeD".to_vec()), ..good() };
        assert_eq!(broken(BOUND, "attested", &[flipped]), ["sig.invalid"]);
        assert_eq!(broken(BOUND, "attested", &[Demand { signature: "AAAA".to_owned(), ..good() }]), ["sig.invalid"]);
        assert_eq!(broken(BOUND, "stopped", &[Demand { message: None, ..good() }]), ["sig.invalid"]);
        let nobody = Demand { signer: agent("no key".to_owned()), ..good() };
        assert_eq!(broken(BOUND, "attested", &[nobody]), ["sig.invalid", "sig.key"]);
    }

    #[test]
    fn a_reporter_signs_with_a_key_of_the_instant_while_configured() {
        let of = |seed| [demand(seed, reporter, SignedAt::EntryAt)];
        assert_eq!(broken("2026-03-01T00:00:00Z", "fact", &of(1)), [""; 0]);
        assert_eq!(broken("2026-03-01T00:00:00Z", "fact", &of(2)), ["sig.key"]);
        assert_eq!(broken("2026-03-01T00:00:00Z", "fact", &of(3)), ["sig.invalid"]);
        assert_eq!(broken("2026-08-31T23:59:59.999Z", "fact", &of(2)), [""; 0]);
        assert_eq!(broken("2026-09-01T00:00:00Z", "fact", &of(2)), ["reporter.unconfigured"]);
        assert_eq!(broken("2026-09-01T00:00:00Z", "fact", &of(1)), ["reporter.unconfigured", "sig.key"]);
    }

    #[test]
    fn an_unknown_reporter_is_the_one_finding() {
        let unknown = |_| Signer::Reporter { reporter: "https://nobody.example".to_owned() };
        let sender = Demand { part: Part::Sender, ..demand(9, agent, SignedAt::EntryAt) };
        let stop = [demand(9, unknown, SignedAt::EntryAt), sender];
        assert_eq!(broken(BOUND, "stopped", &stop), ["reporter.unconfigured"]);
    }
}
