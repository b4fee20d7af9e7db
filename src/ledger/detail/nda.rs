//! `nda_claimed`, `nda_answered`, `nda_resolved`: claims of breach of an agreement (§4.8).

use sha2::{Digest, Sha256};

use crate::hex::hex;
use crate::ledger::canonical;
use crate::ledger::members::{Object, SchemaFault};
use crate::ledger::node::Node;

/// A claim. `claim.state` judges whether it may be open: digest, parties, categories, kinds of disclosures, dates.
///
/// A rejected claim is recorded as it was filed, so its agreement and members of its body may be missing; those that
/// are there have the types of 1.5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NdaClaim<'a> {
    /// The digest that names the claim, as it stands.
    pub claim_digest: &'a str,
    /// The digest that the claim has, in the form of the one that names it.
    pub body_digest: String,
    /// The hash of the claimant's anchor.
    pub claimant_anchor_hash: &'a str,
    /// The claimant's signature over the claim body, base64 as it stands.
    pub signature: &'a str,
    /// `open`, `rejected` or `uncounted`.
    pub state: &'a str,
    /// Why it was rejected.
    pub reject_reason: Option<&'a str>,
    /// The agreement's direction and dates.
    pub agreement: Option<Agreement<'a>>,
    /// The organization that the respondent acts for.
    pub respondent_org: Option<&'a str>,
    /// `claim.nda.digest`: the agreement signed.
    pub nda_digest: Option<&'a str>,
    /// `claim.claimant.agent`: the claimant's agent key, base64 as it stands.
    pub claimant_key: Option<&'a str>,
    /// `claim.claimant.handle`.
    pub claimant: Option<&'a str>,
    /// `claim.respondent.agent`: the respondent's agent key, base64 as it stands.
    pub respondent_key: Option<&'a str>,
    /// `claim.respondent.handle`.
    pub respondent: Option<&'a str>,
    /// `claim.categories`.
    pub categories: Option<Vec<&'a str>>,
    /// `claim.disclosures`, the first first.
    pub disclosures: Option<Vec<Disclosure<'a>>>,
    /// `claim.breach_at`, ms.
    pub breach_at: Option<i64>,
    /// `claim.at`, ms.
    pub claimed_at: Option<i64>,
}

/// What the bureau read in the agreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement<'a> {
    /// `mutual` or `one_way`, for example.
    pub direction: &'a str,
    /// When it takes effect, ms.
    pub effective_at: i64,
    /// When it ends, ms; null bounds nothing.
    pub ends_at: Option<i64>,
    /// When its duties end, ms; null bounds nothing.
    pub duties_end_at: Option<i64>,
}

/// A record that shows that material reached the respondent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosure<'a> {
    /// The kind of record.
    pub kind: Option<&'a str>,
    /// The record's digest.
    pub digest: Option<&'a str>,
    /// The instant that the record states, ms.
    pub at: Option<i64>,
}

/// A respondent's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NdaAnswer<'a> {
    /// The claim answered.
    pub claim_digest: &'a str,
    /// The answer.
    pub text: &'a str,
    /// The signed instant, ms.
    pub statement_at: i64,
    /// The respondent's agent or owner key, base64 as it stands.
    pub key: &'a str,
    /// Its signature, base64 as it stands.
    pub signature: &'a str,
}

/// How a claim was resolved. `claim.basis` judges the basis and what it must carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NdaResolution<'a> {
    /// The claim resolved.
    pub claim_digest: &'a str,
    /// `upheld`, `dismissed`, `withdrawn` or `set_aside`.
    pub resolution: &'a str,
    /// On what it rests, any string.
    pub basis: Option<&'a str>,
    /// When, ms.
    pub resolved_at: i64,
    /// The signed instant of an acknowledgment or a withdrawal, ms.
    pub statement_at: Option<i64>,
    /// The key of that statement, base64 as it stands.
    pub key: Option<&'a str>,
    /// Its signature, base64 as it stands.
    pub signature: Option<&'a str>,
    /// Whether an arbiter's verdict, an object, is there.
    pub has_verdict: bool,
    /// Whether the owners' settlement, an object, is there.
    pub has_settlement: bool,
    /// What a court found.
    pub court: Option<Court<'a>>,
}

/// A court's finding, as the bureau checked it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Court<'a> {
    /// The court.
    pub forum: Option<&'a str>,
    /// Where to find it.
    pub citation: Option<&'a str>,
    /// Its date as it stands.
    pub found_on: Option<&'a str>,
    /// Who at the bureau checked the record.
    pub checked_by: Option<&'a str>,
}

impl<'a> NdaClaim<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        let state = detail.one_of("state", &["open", "rejected", "uncounted"])?;
        let rejected = state == "rejected";
        let reject_reason = detail.text_opt("reject_reason")?;
        if rejected && reject_reason.is_none_or(|reason| reason.trim().is_empty()) {
            return Err(SchemaFault::Rule("a rejected claim carries its reason"));
        }
        let agreement = match detail.object_opt("agreement", |agreement| Agreement::read(agreement, rejected))? {
            None if !rejected => return Err(SchemaFault::Missing("detail.agreement".to_owned())),
            agreement => agreement.flatten(),
        };
        let claim = NdaClaim {
            claim_digest: detail.text("claim_digest")?,
            body_digest: String::new(),
            claimant_anchor_hash: detail.hash("claimant_anchor_hash")?,
            signature: detail.text("signature")?,
            state,
            reject_reason,
            agreement,
            respondent_org: detail.text_opt("respondent_org")?,
            nda_digest: None,
            claimant_key: None,
            claimant: None,
            respondent_key: None,
            respondent: None,
            categories: None,
            disclosures: None,
            breach_at: None,
            claimed_at: None,
        };
        detail.object("claim", |body| claim.with_body(body, rejected))
    }

    /// Adds the members of the claim body; `rejected` ones may be missing.
    fn with_body(self, body: &Object<'a, '_>, rejected: bool) -> Result<Self, SchemaFault> {
        let claim = NdaClaim {
            body_digest: digest_of(body.node()),
            nda_digest: body.object_opt("nda", |nda| nda.text_opt("digest"))?.flatten(),
            claimant_key: body.object_opt("claimant", |party| party.text_opt("agent"))?.flatten(),
            claimant: body.object_opt("claimant", |party| party.text_opt("handle"))?.flatten(),
            respondent_key: body.object_opt("respondent", |party| party.text_opt("agent"))?.flatten(),
            respondent: body.object_opt("respondent", |party| party.text_opt("handle"))?.flatten(),
            categories: body.texts_opt("categories")?,
            disclosures: body.objects_opt("disclosures", |record| {
                Ok(Disclosure {
                    kind: record.text_opt("kind")?,
                    digest: record.text_opt("digest")?,
                    at: record.instant_opt("at")?,
                })
            })?,
            breach_at: body.instant_opt("breach_at")?,
            claimed_at: body.instant_opt("at")?,
            ..self
        };
        let found = body.object_opt("found", |found| {
            Ok((found.instant_opt("at")?, found.text_opt("material_digest")?, found.text_opt("note")?))
        })?;
        if rejected {
            return Ok(claim);
        }
        let disclosed = claim.disclosures.iter().flatten().all(|d| d.digest.is_some() && d.at.is_some());
        let required = [
            ("detail.claim.nda.digest", claim.nda_digest.is_some()),
            ("detail.claim.claimant.agent", claim.claimant_key.is_some()),
            ("detail.claim.claimant.handle", claim.claimant.is_some()),
            ("detail.claim.respondent.agent", claim.respondent_key.is_some()),
            ("detail.claim.respondent.handle", claim.respondent.is_some()),
            ("detail.claim.categories", claim.categories.is_some()),
            ("detail.claim.disclosures", claim.disclosures.is_some()),
            ("a digest or instant of detail.claim.disclosures", disclosed),
            ("detail.claim.found", found.is_some()),
            ("detail.claim.at", claim.claimed_at.is_some()),
        ];
        match required.into_iter().find(|(_, there)| !there) {
            Some((name, _)) => Err(SchemaFault::Missing(name.to_owned())),
            None => Ok(claim),
        }
    }
}

/// `sha256:` and the hex of SHA-256 of an object in canonical form (profile 1.4).
fn digest_of(body: Node<'_>) -> String {
    let mut bytes = Vec::new();
    canonical::write(body, &mut bytes);
    format!("sha256:{}", hex(&Sha256::digest(&bytes)))
}

impl<'a> Agreement<'a> {
    /// None where a rejected claim's agreement lacks what it should have.
    fn read(agreement: &Object<'a, '_>, rejected: bool) -> Result<Option<Self>, SchemaFault> {
        let (direction, effective_at) = match rejected {
            true => (agreement.text_opt("direction")?, agreement.instant_opt("effective_at")?),
            false => (Some(agreement.text("direction")?), Some(agreement.instant("effective_at")?)),
        };
        let (ends_at, duties_end_at) = (agreement.instant_opt("ends_at")?, agreement.instant_opt("duties_end_at")?);
        let whole = direction.zip(effective_at);
        Ok(whole.map(|(direction, effective_at)| Agreement { direction, effective_at, ends_at, duties_end_at }))
    }
}

impl<'a> NdaAnswer<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        Ok(NdaAnswer {
            claim_digest: detail.text("claim_digest")?,
            text: detail.text("text")?,
            statement_at: detail.instant("statement_at")?,
            key: detail.text("key")?,
            signature: detail.text("signature")?,
        })
    }
}

impl<'a> NdaResolution<'a> {
    pub(super) fn read(detail: &Object<'a, '_>) -> Result<Self, SchemaFault> {
        let carries = |name: &str| detail.some(name).is_some_and(Node::is_object);
        Ok(NdaResolution {
            claim_digest: detail.text("claim_digest")?,
            resolution: detail.one_of("resolution", &["upheld", "dismissed", "withdrawn", "set_aside"])?,
            basis: detail.text_opt("basis")?,
            resolved_at: detail.instant("resolved_at")?,
            statement_at: detail.instant_opt("statement_at")?,
            key: detail.text_opt("key")?,
            signature: detail.text_opt("signature")?,
            has_verdict: carries("verdict"),
            has_settlement: carries("settlement"),
            court: detail.object_opt("court", |court| {
                Ok(Court {
                    forum: court.text_opt("forum")?,
                    citation: court.text_opt("citation")?,
                    found_on: court.text_opt("found_on")?,
                    checked_by: court.text_opt("checked_by")?,
                })
            })?,
        })
    }
}
