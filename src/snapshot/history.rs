//! `keys.json` (3.4): the current key and every retired one, each with the time in which it may sign.
//!
//! A validity is half open: a key signs for the instants from `valid_from` up to, and without, `valid_to`; a missing end
//! bounds nothing. The operator hands retired keys over as a file in the shape of `keys.json` itself, so that the
//! `keys.json` of the last snapshot, with a `valid_to` written beside the key that goes, is the history for the next. A
//! retired key always has its end, and keeps it.
//!
//! ```json
//! {"keys":[{"crv":"Ed25519","kid":"kPrK_q…","kty":"OKP","use":"fdbk-report-signing","valid_to":"2026-11-30T00:00:00.000Z","x":"11qYAY…"}]}
//! ```

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::SnapshotError;
use super::canonical;
use super::keys::PublicKey;
use crate::export::open_regular;
use crate::instant;

/// The `use` of every key that signs reports.
pub const USE: &str = "fdbk-report-signing";

/// A history longer than this is none, in bytes.
pub(super) const MAX_KEYS_FILE: u64 = 4 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Jwks {
    keys: Vec<Jwk>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Jwk {
    kty: String,
    crv: String,
    x: String,
    kid: String,
    #[serde(rename = "use")]
    purpose: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<String>,
}

/// A key and when it may sign, in milliseconds since 1970 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTerm {
    /// The key.
    pub key: PublicKey,
    /// Its first instant, where one is stated.
    pub valid_from: Option<i64>,
    /// Its end, which is no longer within, where one is stated.
    pub valid_to: Option<i64>,
}

impl KeyTerm {
    /// Whether the key may sign what is as of `at`.
    pub fn covers(&self, at: i64) -> bool {
        self.valid_from.is_none_or(|from| from <= at) && self.valid_to.is_none_or(|to| at < to)
    }
}

/// The keys of a bureau, ordered by key id, none twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySet {
    terms: Vec<(String, KeyTerm)>,
}

impl KeySet {
    /// The current key alone.
    pub fn current(key: &PublicKey) -> Self {
        Self { terms: vec![(key.kid(), KeyTerm { key: key.clone(), valid_from: None, valid_to: None })] }
    }

    /// The current key and the keys of the history in `file`. The history may state the current key's own validity.
    pub fn with_history(current: &PublicKey, file: &Path) -> Result<Self, SnapshotError> {
        let fault = |reason: String| SnapshotError::History { path: file.to_path_buf(), reason };
        let opened = open_regular(file).map_err(SnapshotError::io("read the key history", file))?.map_err(fault)?;
        let mut text = Vec::new();
        let read = opened.take(MAX_KEYS_FILE + 1).read_to_end(&mut text);
        if read.map_err(SnapshotError::io("read the key history", file))? as u64 > MAX_KEYS_FILE {
            return Err(fault("is too long for a key history".to_owned()));
        }
        let mut set = Self::parse(&text).map_err(fault)?;
        let kid = current.kid();
        if let Some((retired, _)) = set.terms.iter().find(|(id, term)| *id != kid && term.valid_to.is_none()) {
            return Err(fault(format!(
                "key {retired} is not the current key and has no valid_to: a retired key needs its end"
            )));
        }
        if set.get(&kid).is_none() {
            set.terms.extend(Self::current(current).terms);
            set.terms.sort_by(|a, b| a.0.cmp(&b.0));
        }
        Ok(set)
    }

    /// Parses `keys.json`: every key an Ed25519 key for this use, under its thumbprint, none twice.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let jwks: Jwks = serde_json::from_slice(text).map_err(|fault| format!("not a key set: {fault}"))?;
        let mut terms = jwks.keys.into_iter().map(term).collect::<Result<Vec<_>, _>>()?;
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        match terms.windows(2).find(|pair| matches!(pair, [a, b] if a.0 == b.0)) {
            Some(pair) => Err(format!("key {} stands there twice", pair.first().map_or("", |twice| twice.0.as_str()))),
            None => Ok(Self { terms }),
        }
    }

    /// The bytes of `keys.json`: canonical JSON and one newline, ordered by key id.
    pub fn to_json(&self) -> Vec<u8> {
        let keys = self.terms.iter().map(|(kid, term)| Jwk {
            kty: "OKP".to_owned(),
            crv: "Ed25519".to_owned(),
            x: term.key.jwk_x(),
            kid: kid.clone(),
            purpose: USE.to_owned(),
            valid_from: term.valid_from.map(instant::format),
            valid_to: term.valid_to.map(instant::format),
        });
        let value = serde_json::to_value(Jwks { keys: keys.collect() }).unwrap_or_default();
        let mut bytes = canonical::to_vec(&value);
        bytes.push(b'\n');
        bytes
    }

    /// The key under a key id.
    pub fn get(&self, kid: &str) -> Option<&KeyTerm> {
        let place = self.terms.binary_search_by(|(id, _)| id.as_str().cmp(kid)).ok()?;
        self.terms.get(place).map(|(_, term)| term)
    }

    /// Every key with its key id, ordered by key id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &KeyTerm)> {
        self.terms.iter().map(|(kid, term)| (kid.as_str(), term))
    }

    /// Whether this set may follow `last`: it keeps every key, and a key that had an end keeps it or ends earlier. The error
    /// names the key.
    pub(super) fn follows(&self, last: &Self) -> Result<(), String> {
        for (kid, was) in last.iter() {
            let Some(is) = self.get(kid) else {
                return Err(format!(
                    "key {kid} has signed here and is neither the current key nor in the key history; \
                     pass a copy of this file with its valid_to as --key-history"
                ));
            };
            if let Some(end) = was.valid_to
                && is.valid_to.is_none_or(|to| to > end)
            {
                return Err(format!(
                    "key {kid} ended at {} and may not be valid for longer now; pass that end in --key-history",
                    instant::format(end)
                ));
            }
        }
        Ok(())
    }
}

fn term(jwk: Jwk) -> Result<(String, KeyTerm), String> {
    let kid = jwk.kid;
    if jwk.kty != "OKP" || jwk.crv != "Ed25519" || jwk.purpose != USE {
        return Err(format!("key {kid:?} is not an Ed25519 key (OKP) for {USE}"));
    }
    let key =
        PublicKey::from_jwk_x(&jwk.x).ok_or_else(|| format!("key {kid:?}: x is not an Ed25519 key in base64url"))?;
    if key.kid() != kid {
        return Err(format!("key {kid:?}: the key id is not the RFC 7638 thumbprint {}", key.kid()));
    }
    let read = |name: &str, text: Option<String>| match text {
        Some(text) => instant::parse(&text).map(Some).map_err(|fault| format!("key {kid}: {name} {text:?} is {fault}")),
        None => Ok(None),
    };
    let (valid_from, valid_to) = (read("valid_from", jwk.valid_from)?, read("valid_to", jwk.valid_to)?);
    if let (Some(from), Some(to)) = (valid_from, valid_to)
        && from >= to
    {
        return Err(format!("key {kid}: valid_from is not before valid_to"));
    }
    Ok((kid, KeyTerm { key, valid_from, valid_to }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::keys::BureauKey;
    use crate::snapshot::testing::key;

    fn jwk(more: &str) -> String {
        let key = key();
        let (kid, x) = (key.public().kid(), key.public().jwk_x());
        format!(r#"{{"crv":"Ed25519","kid":"{kid}","kty":"OKP","use":"fdbk-report-signing"{more},"x":"{x}"}}"#)
    }

    #[test]
    fn the_current_key_alone_is_a_key_set() {
        let set = KeySet::current(key().public());
        assert_eq!(String::from_utf8(set.to_json()).unwrap(), format!("{{\"keys\":[{}]}}\n", jwk("")));
        assert_eq!(KeySet::parse(&set.to_json()), Ok(set));
    }

    #[test]
    fn a_validity_is_half_open() {
        let text = format!(
            r#"{{"keys":[{}]}}"#,
            jwk(r#","valid_from":"2026-01-01T00:00:00Z","valid_to":"2026-02-01T00:00:00.000Z""#)
        );
        let set = KeySet::parse(text.as_bytes()).unwrap();
        let term = set.get("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k").unwrap();
        let (from, to) = (term.valid_from.unwrap(), term.valid_to.unwrap());
        assert_eq!([from - 1, from, to - 1, to].map(|at| term.covers(at)), [false, true, true, false]);
    }

    #[test]
    fn a_key_set_that_is_none_is_refused() {
        let good = jwk("");
        let cases = [
            ("{}".to_owned(), "missing field"),
            (format!(r#"{{"keys":[{good},{good}]}}"#), "twice"),
            (format!(r#"{{"keys":[{}]}}"#, good.replace("OKP", "EC")), "not an Ed25519 key"),
            (format!(r#"{{"keys":[{}]}}"#, good.replace("fdbk-report-signing", "sig")), "not an Ed25519 key"),
            (format!(r#"{{"keys":[{}]}}"#, good.replace("kPrK", "kPrL")), "thumbprint"),
            (format!(r#"{{"keys":[{}]}}"#, good.replace("HURo", "HURp")), "x is not"),
            (format!(r#"{{"keys":[{}]}}"#, jwk(r#","kty":"OKP""#)), "duplicate field"),
            (format!(r#"{{"keys":[{}]}}"#, jwk(r#","d":"secret""#)), "unknown field"),
            (format!(r#"{{"keys":[{}]}}"#, jwk(r#","valid_to":"yesterday""#)), "valid_to"),
            (
                format!(
                    r#"{{"keys":[{}]}}"#,
                    jwk(r#","valid_from":"2026-02-01T00:00:00Z","valid_to":"2026-02-01T00:00:00Z""#)
                ),
                "not before",
            ),
        ];
        for (text, message) in cases {
            let refused = KeySet::parse(text.as_bytes()).unwrap_err();
            assert!(refused.contains(message), "{text}: {refused}");
        }
    }

    #[test]
    fn the_history_may_state_the_current_keys_own_start() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.json");
        std::fs::write(&file, format!(r#"{{"keys":[{}]}}"#, jwk(r#","valid_from":"2026-01-01T00:00:00Z""#))).unwrap();
        let set = KeySet::with_history(key().public(), &file).unwrap();
        assert_eq!(set.iter().count(), 1);
        assert!(set.get(&key().public().kid()).unwrap().valid_from.is_some());
        // For any other current key it is a retired one without its end.
        assert!(KeySet::with_history(BureauKey::generate().unwrap().public(), &file).is_err());
    }
    #[test]
    fn a_history_that_is_missing_or_no_file_is_the_inputs_fault() {
        let folder = tempfile::tempdir().unwrap();
        let missing = KeySet::with_history(key().public(), &folder.path().join("none")).unwrap_err();
        let strange = KeySet::with_history(key().public(), folder.path()).unwrap_err();
        assert_eq!((missing.exit_code(), strange.exit_code()), (1, 1));
        assert!(strange.to_string().ends_with("a directory, where a regular file should be"), "{strange}");
    }
}
