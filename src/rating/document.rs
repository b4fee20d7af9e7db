//! The `rating` object of a signed document (4.5), and the rating read out for a person.

use serde_json::{Map, Value, json};

use super::verdict::{Factor, Rating};
use crate::instant;

/// The method that the ratings follow.
pub const METHOD: &str = "skalor-agent-rating/v1.3";
/// The type that the method names. The document is signed as 3.2 says, and is no SD-JWT VC.
pub const VCT: &str = "https://skalor.xyz/vct/agent-rating/v1";

impl Rating {
    /// The inner object, to be signed. Its order of members is that of its canonical form.
    pub fn document(&self) -> Value {
        let mut document = json!({
            "method": METHOD,
            "vct": VCT,
            "agent_id": self.agent_id,
            "mpp_did": self.mpp_did,
            "organization_id": self.organization_id,
            "data_provenance": self.data_provenance,
            "tier": self.tier,
            "tier_letter": self.tier_letter,
            "score": self.score,
            "denominator": self.denominator,
            "uncapped_score": self.uncapped_score,
            "normalized_score": self.normalized_score,
            "factors": self.factors.iter().map(factor).collect::<Vec<_>>(),
            "unscorable_factors": self.unscorable.iter().map(|unscorable| json!({
                "key": unscorable.key,
                "weight": unscorable.weight,
                "code": unscorable.code,
                "reason": unscorable.reason,
            })).collect::<Vec<_>>(),
            "prior_held_factors": self.prior_held.iter().map(|held| json!({
                "key": held.key,
                "weight": held.weight,
                "contribution": held.contribution,
                "route": held.route,
                "reason": held.reason,
            })).collect::<Vec<_>>(),
            "caps": [{
                "code": self.ceiling.code,
                "ceiling": self.ceiling.ceiling,
                "binding": self.ceiling_binds,
                "reason": self.ceiling.reason,
            }],
            "verification": self.verification(),
            "evidence": self.evidence(),
            "summary": self.summary,
            "issued_at": instant::format(self.issued_at),
            "expires_at": instant::format(self.expires_at),
        });
        if let Value::Object(members) = &mut document {
            self.optional(members);
        }
        document
    }

    fn optional(&self, members: &mut Map<String, Value>) {
        if let Some(notice) = self.notice {
            members.insert("notice".to_owned(), Value::from(notice));
        }
        if let Some(reason) = &self.comparability {
            let comparability = json!({
                "denominator": self.denominator,
                "comparable_with_full_denominator_ratings": false,
                "reason": reason,
            });
            members.insert("comparability".to_owned(), comparability);
        }
    }

    fn verification(&self) -> Value {
        let proof = self.proof.as_ref();
        json!({
            "level": proof.map_or("none", |proof| proof.level),
            "verified_at": proof.map(|proof| instant::format(proof.verified_at)),
            "expires_at": proof.map(|proof| instant::format(proof.expires_at)),
            "grace_ends_at": proof.map(|proof| instant::format(proof.grace_ends_at)),
            "state": proof.map(|proof| proof.state.name()),
        })
    }

    fn evidence(&self) -> Value {
        let evidence = &self.evidence;
        json!({
            "window_decisions": evidence.window_decisions,
            "decisions": evidence.decisions,
            "material": evidence.material.json(),
            "material_all_time": evidence.material_all_time.json(),
            "cleared_decisions": evidence.cleared_decisions,
            "cleared_decisions_all_time": evidence.cleared_decisions_all_time,
            "attestable_decisions_all_time": evidence.attestable_decisions_all_time,
            "unauthenticated_decisions_excluded": evidence.unauthenticated_decisions_excluded,
            "parked_decisions_approved": evidence.parked_decisions_approved,
            "parked_decisions_denied": evidence.parked_decisions_denied,
            "first_decision_at": evidence.first_decision_at.map(instant::format),
        })
    }
}

fn factor(factor: &Factor) -> Value {
    let mut item = json!({
        "key": factor.key,
        "weight": factor.weight,
        "value": factor.value.map(|value| value.json()),
        "contribution": factor.contribution,
        "n": factor.n.json(),
        "detail": factor.detail,
    });
    if let (Value::Object(members), Some(assessed)) = (&mut item, factor.assessed) {
        members.insert("assessed".to_owned(), Value::from(assessed));
    }
    item
}
