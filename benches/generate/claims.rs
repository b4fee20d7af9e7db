//! Claims of breach, answers and resolutions (specification 4.8, profile 1.5).

use super::act::{Claim, Forum, Resolution};
use super::detail::Desk;
use super::json::{Json, object};
use super::time::stamp;
use super::words::ANSWERS;
use super::world::{World, hashed, key_at};

/// The claim as the claimant signed it.
fn body<'w>(world: &'w World, claim: &Claim) -> Json<'w> {
    let party = |agent: usize| {
        let agent = &world.agents[agent];
        let key = key_at(&agent.keys, claim.claimed_at);
        object([("agent", key.public.as_str().into()), ("handle", agent.handle.as_str().into())])
    };
    let digest =
        |what: &str, place: usize| hashed(&[what.as_bytes(), &claim.number.to_be_bytes(), &place.to_be_bytes()]);
    let disclosures = claim.disclosures.iter().enumerate().map(|(place, (kind, at))| {
        object([("kind", (*kind).into()), ("digest", digest("disclosure", place).into()), ("at", stamp(*at).into())])
    });
    object([
        (
            "nda",
            object([
                ("id", format!("nda_{:08}", claim.number).into()),
                ("version", 1.into()),
                ("digest", digest("agreement", 0).into()),
                ("ref", format!("vault:agreements/{}", claim.number).into()),
            ]),
        ),
        ("claimant", party(claim.claimant)),
        ("respondent", party(claim.respondent)),
        ("categories", Json::List(claim.categories.iter().map(|category| (*category).into()).collect())),
        ("disclosures", Json::List(disclosures.collect())),
        (
            "found",
            object([
                ("at", stamp(claim.found_at).into()),
                ("material_digest", digest("material", 0).into()),
                ("note", "The same figures, to the cent, in a rival's brochure.".into()),
            ]),
        ),
        ("breach_at", claim.breach_at.map(stamp).into()),
        ("at", stamp(claim.claimed_at).into()),
    ])
}

/// `sha256:` and the hex of the body's digest.
fn digest(body: &Json<'_>) -> String {
    let mut bytes = Vec::with_capacity(1024);
    body.canonical(&mut bytes);
    hashed(&[&bytes])
}

/// The detail of `nda_claimed`.
pub fn claimed<'w>(desk: Desk<'w>, claim: &Claim) -> Json<'w> {
    let body = body(desk.world, claim);
    let claimant = &desk.world.agents[claim.claimant];
    let key = key_at(&claimant.keys, claim.claimed_at);
    let mut agreement =
        object([("direction", claim.direction.into()), ("effective_at", stamp(claim.effective_at).into())]);
    agreement.put_some("ends_at", claim.ends_at.map(stamp));
    agreement.put_some("duties_end_at", claim.duties_end_at.map(stamp));
    let mut detail = object([
        ("claim_digest", digest(&body).into()),
        ("claimant_anchor_hash", desk.world.owner_of(claim.claimant).anchor_hash.as_str().into()),
        ("signature", desk.pen.document(&key.signing, "fdbk-nda-claim-v1", &body).into()),
        ("state", claim.state.into()),
        ("agreement", agreement),
        ("claim", body),
    ]);
    detail.put_some(
        "reject_reason",
        (claim.state == "rejected").then_some("The category is none that the agreement covers."),
    );
    let charter = claim.respondent_org.and_then(|company| desk.world.companies[company].charter.as_ref());
    detail.put_some("respondent_org", charter.map(|charter| charter.id.as_str()));
    detail
}

/// The detail of `nda_answered`, by the owner's key where there is one.
pub fn answered<'w>(desk: Desk<'w>, claim: &Claim, statement_at: i64) -> Json<'w> {
    let respondent = &desk.world.agents[claim.respondent];
    let of_owner = desk.world.owner_keys.get(&respondent.owner);
    let key = of_owner.unwrap_or_else(|| key_at(&respondent.keys, statement_at));
    let (digest, text) = (digest(&body(desk.world, claim)), ANSWERS[claim.number as usize % ANSWERS.len()]);
    let signed = object([
        ("claim", digest.as_str().into()),
        ("statement_at", stamp(statement_at).into()),
        ("text", text.into()),
    ]);
    let signature = desk.pen.document(&key.signing, "fdbk-nda-answer-v1", &signed);
    object([
        ("claim_digest", digest.into()),
        ("text", text.into()),
        ("statement_at", stamp(statement_at).into()),
        ("key", key.public.as_str().into()),
        ("signature", signature.into()),
    ])
}

/// The detail of `nda_resolved`, with what its basis carries.
pub fn resolved<'w>(desk: Desk<'w>, claim: &Claim, resolution: Resolution, statement_at: i64) -> Json<'w> {
    let digest = digest(&body(desk.world, claim));
    let word = match resolution {
        Resolution::Acknowledged | Resolution::Upheld(_) => "upheld",
        Resolution::Withdrawn => "withdrawn",
        Resolution::SetAside => "set_aside",
        Resolution::Dismissed(_) => "dismissed",
    };
    let mut detail = object([("resolution", word.into()), ("resolved_at", stamp(statement_at).into())]);
    let signer = match resolution {
        Resolution::Acknowledged => Some(("fdbk-nda-ack-v1", claim.respondent)),
        Resolution::Withdrawn => Some(("fdbk-nda-withdraw-v1", claim.claimant)),
        _ => None,
    };
    if let Some((tag, agent)) = signer {
        let key = key_at(&desk.world.agents[agent].keys, statement_at);
        let signed = object([("claim", digest.as_str().into()), ("statement_at", stamp(statement_at).into())]);
        detail.put("signature", desk.pen.document(&key.signing, tag, &signed));
        detail.put("statement_at", stamp(statement_at));
        detail.put("key", key.public.as_str());
    }
    if resolution == Resolution::Acknowledged {
        detail.put("basis", "acknowledged");
    }
    if let Resolution::Upheld(forum) | Resolution::Dismissed(forum) = resolution {
        let record = hashed(&[b"record", digest.as_bytes()]);
        let (basis, name, record) = match forum {
            Forum::Arbiter => {
                ("arbiter", "verdict", object([("digest", record.into()), ("tag", "agent-arbiter-verdict-v1".into())]))
            }
            Forum::Owners => {
                ("owners", "settlement", object([("digest", record.into()), ("posture", "escalate_to_owners".into())]))
            }
            Forum::Court => (
                "court",
                "court",
                object([
                    ("forum", "Commercial Court of Saltmarsh".into()),
                    ("citation", format!("CC {} (2026)", claim.number).into()),
                    ("found_on", stamp(statement_at)[..10].to_owned().into()),
                    ("checked_by", "Registrar Okonjo".into()),
                ]),
            ),
        };
        detail.put("basis", basis);
        detail.put(name, record);
    }
    detail.put("claim_digest", digest);
    detail
}
