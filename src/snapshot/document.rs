//! The signed document (3.2): one line of canonical JSON around one inner object.
//!
//! ```text
//! {"bureau_key":"<44>","bureau_kid":"<43>","bureau_sig":"<88>","report":{…}}
//! ```
//!
//! The signature is over the tag, one newline and the canonical inner object, so the very bytes that stand in the line
//! are what is signed. Every inner member sorts after `bureau_sig`, and the three others have a fixed length: a line is taken apart
//! by position, and a line that is spelt in any other way is no signed document.

use rayon::prelude::*;
use serde_json::Value;

use super::canonical;
use super::keys::{self, BureauKey};
use crate::instant;
use crate::ledger::Node;

/// The kinds of documents, each with a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// One a subject and capability (§8.1).
    Report,
    /// One an organization (§8.5).
    Organization,
    /// One an evaluator (2.7).
    Evaluator,
    /// One a screening provider (2.8).
    ScreeningProvider,
    /// One an agent (4.5).
    Rating,
}

/// Which document it is among those of its kind: the members that 3.3 sorts by. A null capability comes first.
pub type Identity = (String, Option<String>);

impl Kind {
    /// Every kind, in the order of 3.2.
    pub const ALL: [Self; 5] =
        [Self::Report, Self::Organization, Self::Evaluator, Self::ScreeningProvider, Self::Rating];

    /// The file of the snapshot that holds the documents of this kind.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Report => "reports.jsonl.zst",
            Self::Organization => "organizations.jsonl.zst",
            Self::Evaluator => "evaluators.jsonl.zst",
            Self::ScreeningProvider => "screening-providers.jsonl.zst",
            Self::Rating => "ratings.jsonl.zst",
        }
    }

    /// The file's name without its endings.
    pub fn name(self) -> &'static str {
        self.file_name().trim_end_matches(".jsonl.zst")
    }

    /// The inner member.
    pub fn member(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Organization => "organization_report",
            Self::Evaluator => "evaluator_report",
            Self::ScreeningProvider => "screening_provider",
            Self::Rating => "rating",
        }
    }

    /// The signature tag.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Report => "fdbk-report-v1",
            Self::Organization => "fdbk-org-report-v1",
            Self::Evaluator => "fdbk-evaluator-report-v1",
            Self::ScreeningProvider => "fdbk-screening-provider-v1",
            Self::Rating => "skalor-agent-rating-v1",
        }
    }

    /// The members that identify an inner object of this kind.
    pub fn identity(self, inner: Node<'_>) -> Result<Identity, String> {
        let text = |name: &str| match inner.get(name).and_then(Node::as_str) {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("{name} is not a text")),
        };
        match self {
            Self::Report => match inner.get("capability") {
                Some(capability) if capability.is_null() => Ok((text("subject")?, None)),
                _ => Ok((text("subject")?, Some(text("capability")?))),
            },
            Self::Organization => Ok((text("anchor")?, None)),
            Self::Evaluator => Ok((text("evaluator")?, None)),
            Self::ScreeningProvider => Ok((text("id")?, None)),
            Self::Rating => Ok((text("agent_id")?, None)),
        }
    }

    /// What is wrong with an inner object of a run as of `as_of` (its published spelling) by `bureau`; gives when it expires.
    pub(super) fn of_run(self, inner: Node<'_>, as_of: &str, bureau: &str) -> Result<Option<i64>, String> {
        // 3.3 gives a screening provider's document neither instant.
        if self != Self::ScreeningProvider && inner.get("issued_at").and_then(Node::as_str) != Some(as_of) {
            return Err(format!("issued_at is not {as_of}"));
        }
        if inner.get("bureau").is_some_and(|stated| stated.as_str() != Some(bureau)) {
            return Err("bureau is not the manifest's".to_owned());
        }
        match inner.get("expires_at") {
            None => Ok(None),
            Some(expires) => match expires.as_str().map(instant::parse) {
                Some(Ok(expires)) => Ok(Some(expires)),
                _ => Err("expires_at is not an instant".to_owned()),
            },
        }
    }
}

const KEY: &str = r#"{"bureau_key":""#;
const KID: &str = r#"","bureau_kid":""#;
const SIG: &str = r#"","bureau_sig":""#;

/// What stands before the inner object, without the signature's own 88 characters.
fn head(key: &BureauKey, member: &str) -> (String, String) {
    (format!("{KEY}{}{KID}{}{SIG}", key.public().base64(), key.public().kid()), format!(r#"","{member}":"#))
}

/// The bytes that a signed line has beyond its inner object, the newline not counted.
pub(super) fn overhead(key: &BureauKey, member: &str) -> usize {
    let (before, after) = head(key, member);
    before.len() + 88 + after.len() + 1
}

/// The signed document around a canonical inner object, as one line without its newline.
pub fn sign_line(key: &BureauKey, tag: &str, member: &str, inner: &[u8]) -> Vec<u8> {
    let (before, after) = head(key, member);
    let mut line = Vec::with_capacity(before.len() + 88 + after.len() + inner.len() + 2);
    line.extend_from_slice(before.as_bytes());
    line.extend_from_slice(keys::encode(&key.sign(tag, inner)).as_bytes());
    line.extend_from_slice(after.as_bytes());
    line.extend_from_slice(inner);
    line.push(b'}');
    line
}

/// The signed document around an inner object.
pub fn signed_document(key: &BureauKey, kind: Kind, inner: &Value) -> Vec<u8> {
    sign_line(key, kind.tag(), kind.member(), &canonical::to_vec(inner))
}

/// A line that was signed: which document it is, and its bytes without the newline.
pub(super) type Signed = (Identity, Vec<u8>);

/// Signs a block of canonical inner objects on all threads, in their order. A line that is not canonical, has no identity or is
/// not of this run is an error in its place.
pub(super) fn sign_block(
    key: &BureauKey,
    kind: Kind,
    as_of: &str,
    bureau: &str,
    block: &[Vec<u8>],
) -> Vec<Result<Signed, String>> {
    let sign = |inner: &Vec<u8>| {
        let identity = canonical::read(inner, |inner| {
            kind.of_run(inner, as_of, bureau)?;
            kind.identity(inner)
        })?;
        Ok((identity, sign_line(key, kind.tag(), kind.member(), inner)))
    };
    block.par_iter().map(sign).collect()
}

/// A signed line in its parts; nothing is verified yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) key: &'a str,
    pub(super) kid: &'a str,
    pub(super) signature: &'a str,
    pub(super) inner: &'a [u8],
}

/// Takes a signed line apart; none where it is not spelt as [`sign_line`] spells it.
pub(super) fn split<'a>(line: &'a [u8], member: &str) -> Option<Parts<'a>> {
    let rest = line.strip_prefix(KEY.as_bytes())?;
    let (key, rest) = fixed(rest, 44)?;
    let (kid, rest) = fixed(rest.strip_prefix(KID.as_bytes())?, 43)?;
    let (signature, rest) = fixed(rest.strip_prefix(SIG.as_bytes())?, 88)?;
    let rest = rest.strip_prefix(br#"",""#)?.strip_prefix(member.as_bytes())?.strip_prefix(br#"":"#)?;
    Some(Parts { key, kid, signature, inner: rest.strip_suffix(b"}")? })
}

fn fixed(bytes: &[u8], length: usize) -> Option<(&str, &[u8])> {
    let (text, rest) = bytes.split_at_checked(length)?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_inner_member_comes_last_in_canonical_order() {
        for member in Kind::ALL.map(Kind::member).into_iter().chain(["manifest"]) {
            assert!(member > "bureau_sig", "{member}");
        }
    }

    #[test]
    fn a_signed_line_is_canonical_and_comes_apart_again() {
        let key = BureauKey::generate().unwrap();
        let inner = json!({"subject": "a", "capability": null, "issued_at": "2026-11-30T00:00:00.000Z", "é": 0.5});
        let line = signed_document(&key, Kind::Report, &inner);
        canonical::read(&line, |_| Ok(())).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&line).unwrap()["report"], inner);
        let parts = split(&line, "report").unwrap();
        assert_eq!(parts.inner, canonical::to_vec(&inner));
        assert_eq!((parts.key.to_owned(), parts.kid.to_owned()), (key.public().base64(), key.public().kid()));
        let signature = keys::decode::<64>(parts.signature).unwrap();
        assert!(key.public().verify("fdbk-report-v1", parts.inner, &signature));
        // A report cannot be presented as another kind, nor under another member.
        for other in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Report) {
            assert!(!key.public().verify(other.tag(), parts.inner, &signature));
            assert_eq!(split(&line, other.member()), None);
        }
        assert_eq!(overhead(&key, "report") + parts.inner.len(), line.len());
    }

    #[test]
    fn a_block_is_signed_in_its_order_and_faults_keep_their_place() {
        let key = BureauKey::generate().unwrap();
        let at = "2026-11-30T00:00:00.000Z";
        let line = |id: usize| format!(r#"{{"anchor":"{id}","issued_at":"{at}"}}"#).into_bytes();
        let mut block: Vec<_> = (0..500).map(line).collect();
        block[7] = br#"{"issued_at":"2026-11-30T00:00:00.000Z","anchor":"7"}"#.to_vec();
        block[8] = br#"{"anchor":"8","issued_at":"2026-11-29T00:00:00.000Z"}"#.to_vec();
        block[9] = br#"{"anchor":9,"issued_at":"2026-11-30T00:00:00.000Z"}"#.to_vec();
        let signed = sign_block(&key, Kind::Organization, at, "b", &block);
        assert_eq!(signed[7].clone().unwrap_err(), "not in canonical form (RFC 8785)");
        assert_eq!(signed[8].clone().unwrap_err(), "issued_at is not 2026-11-30T00:00:00.000Z");
        assert_eq!(signed[9].clone().unwrap_err(), "anchor is not a text");
        assert!((10..500).all(|n| signed[n].as_ref().unwrap().0.0 == n.to_string()));
    }
}
