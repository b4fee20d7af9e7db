//! One agent's rating, put together from its figures (4.5).

use super::exact::{Millionths, Ratio};
use super::factors::{self, RATED};
use super::figures::{Agent, Controller};
use super::penalties;
use super::standing::{self, Ceiling, Proof};
use super::{Parameters, words};

/// A rating as it is published, but for its JSON form ([`Rating::document`]).
#[derive(Debug, Clone)]
pub struct Rating {
    /// The agent, its identifier, its controller and what its rows are.
    pub agent_id: String,
    /// See `agent_id`.
    pub mpp_did: String,
    /// See `agent_id`.
    pub organization_id: String,
    /// `live`, `synthetic_fixture` or `test_harness`.
    pub data_provenance: String,
    /// What a reader must know first where the rows are not live.
    pub notice: Option<&'static str>,
    /// The letter, with `*` where the denominator is reduced; or UNRATED, or REVOKED.
    pub tier: String,
    /// The bare letter or word.
    pub tier_letter: &'static str,
    /// Points: the sum of the contributions.
    pub score: i64,
    /// Points that the rating was scored over.
    pub denominator: i64,
    /// The score on the scale of 0 to 1000; none where nothing was scored.
    pub uncapped_score: Option<i64>,
    /// The same after the ceiling.
    pub normalized_score: Option<i64>,
    /// Scorable factors, then the four penalties.
    pub factors: Vec<Factor>,
    /// Factors whose weight left the denominator.
    pub unscorable: Vec<Unscorable>,
    /// Rated factors that were scored over nothing.
    pub prior_held: Vec<PriorHeld>,
    /// The one ceiling that applies.
    pub ceiling: Ceiling,
    /// True where it holds the score down.
    pub ceiling_binds: bool,
    /// The controller's verification.
    pub proof: Option<Proof>,
    /// Why the letter stands apart, where the denominator is not 1000.
    pub comparability: Option<String>,
    /// The counts that the rating rests on.
    pub evidence: Evidence,
    /// A line for a person.
    pub summary: String,
    /// Milliseconds since 1970 UTC: `as_of`.
    pub issued_at: i64,
    /// Milliseconds since 1970 UTC.
    pub expires_at: i64,
}

/// An item of `factors[]`. A penalty has weight 0, no value, and `assessed`.
#[derive(Debug, Clone)]
pub struct Factor {
    /// Its key.
    pub key: &'static str,
    /// Points it can earn.
    pub weight: i64,
    /// 0 to 1.
    pub value: Option<Millionths>,
    /// Points it earned or cost.
    pub contribution: i64,
    /// Full observations, or events charged.
    pub n: Millionths,
    /// What was measured, over what, and how it became the number.
    pub detail: String,
    /// A penalty before the stop at zero: not positive.
    pub assessed: Option<i64>,
}

/// An item of `unscorable_factors[]`.
#[derive(Debug, Clone)]
pub struct Unscorable {
    /// The factor.
    pub key: &'static str,
    /// Points that left the denominator.
    pub weight: i64,
    /// The method's code.
    pub code: &'static str,
    /// Why.
    pub reason: String,
}

/// An item of `prior_held_factors[]`.
#[derive(Debug, Clone)]
pub struct PriorHeld {
    /// The factor.
    pub key: &'static str,
    /// Its points.
    pub weight: i64,
    /// What the prior gave.
    pub contribution: i64,
    /// The route on which the evidence never arrives.
    pub route: Option<&'static str>,
    /// Why.
    pub reason: String,
}

/// The `evidence` block.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The policy's `rating_window_decisions`.
    pub window_decisions: i64,
    /// Observed decisions.
    pub decisions: i64,
    /// Full observations among them, cut to six places.
    pub material: Millionths,
    /// Full observations of all time, cut to six places.
    pub material_all_time: Millionths,
    /// Cleared, among the observed.
    pub cleared_decisions: i64,
    /// Cleared, of all time.
    pub cleared_decisions_all_time: i64,
    /// Cleared where a receipt was available, of all time.
    pub attestable_decisions_all_time: i64,
    /// Marked as sent by a caller that was not authenticated.
    pub unauthenticated_decisions_excluded: i64,
    /// Parked and approved, among the observed.
    pub parked_decisions_approved: i64,
    /// Parked and denied, among the observed.
    pub parked_decisions_denied: i64,
    /// The first eligible decision, in milliseconds since 1970 UTC.
    pub first_decision_at: Option<i64>,
}

/// Why attestation_coverage cannot be scored.
pub const UNSCORABLE_CODE: &str = "no_clearance_receipt_issuer_on_route";

/// Rates one agent.
pub fn rate(agent: &Agent, controller: &Controller, parameters: &Parameters) -> Rating {
    let proof = standing::proof(agent, parameters.as_of);
    let ceiling = standing::ceiling(proof.as_ref());
    let mut rating = Rating {
        agent_id: agent.agent_id.clone(),
        mpp_did: agent.mpp_did.clone(),
        organization_id: agent.organization_id.clone(),
        data_provenance: agent.data_provenance.clone(),
        notice: words::notice(&agent.data_provenance),
        tier: String::new(),
        tier_letter: "",
        score: 0,
        denominator: 0,
        uncapped_score: None,
        normalized_score: None,
        factors: Vec::new(),
        unscorable: Vec::new(),
        prior_held: Vec::new(),
        ceiling,
        ceiling_binds: false,
        proof,
        comparability: None,
        evidence: evidence(agent, parameters),
        summary: String::new(),
        issued_at: parameters.as_of,
        expires_at: parameters.expires_at,
    };
    // A revocation goes before the want of evidence.
    if agent.active_revocations > 0 {
        rating.tier_letter = "REVOKED";
    } else if agent.all_time.material < agent.observation {
        rating.tier_letter = "UNRATED";
    } else {
        score(&mut rating, agent, controller);
    }
    rating.tier = match rating.denominator {
        0 | 1000 => rating.tier_letter.to_owned(),
        _ => format!("{}*", rating.tier_letter),
    };
    rating.comparability = words::comparability(rating.denominator);
    rating.summary = words::summary(&rating, agent);
    rating
}

fn score(rating: &mut Rating, agent: &Agent, controller: &Controller) {
    rating.denominator = 1000;
    for (factor, sums) in RATED.into_iter().zip(agent.factors) {
        if factor.key == "attestation_coverage" && agent.all_time.attestable == 0 {
            rating.denominator -= factor.weight;
            rating.unscorable.push(Unscorable {
                key: factor.key,
                weight: factor.weight,
                code: UNSCORABLE_CODE,
                reason: words::unscorable(agent, factor.weight),
            });
            continue;
        }
        let scored = factors::rated(factor, sums, agent.observation);
        if sums.n == 0 {
            let route = route(factor.key, agent);
            rating.prior_held.push(PriorHeld {
                key: factor.key,
                weight: factor.weight,
                contribution: scored.contribution,
                route,
                reason: words::prior_held(route, agent),
            });
        }
        rating.factors.push(Factor {
            key: factor.key,
            weight: factor.weight,
            value: Some(scored.value),
            contribution: scored.contribution,
            n: scored.n,
            detail: words::rated(factor, &scored, agent),
            assessed: None,
        });
    }
    let standing = factors::standing(controller);
    rating.factors.push(Factor {
        key: "controller_standing",
        weight: factors::STANDING_WEIGHT,
        value: Some(standing.value),
        contribution: standing.contribution,
        n: standing.n,
        detail: words::standing(&standing, controller),
        assessed: None,
    });
    let tenure = factors::tenure(agent, rating.issued_at);
    rating.factors.push(Factor {
        key: "tenure",
        weight: factors::TENURE_WEIGHT,
        value: Some(tenure.value),
        contribution: tenure.contribution,
        n: tenure.n,
        detail: words::tenure(&tenure, agent),
        assessed: None,
    });
    charge(rating, agent);
    let uncapped = Ratio::new(1000 * i128::from(rating.score), i128::from(rating.denominator)).rounded();
    let normalized = uncapped.min(rating.ceiling.ceiling);
    rating.uncapped_score = Some(uncapped);
    rating.normalized_score = Some(normalized);
    rating.ceiling_binds = uncapped > normalized;
    rating.tier_letter = match normalized {
        800.. => "A",
        600.. => "B",
        400.. => "C",
        _ => "D",
    };
}

/// Charges the penalties in the order of 4.4, each down to zero and no further, and leaves the score.
fn charge(rating: &mut Rating, agent: &Agent) {
    let mut left: i64 = rating.factors.iter().map(|factor| factor.contribution).sum();
    let all_time = &agent.all_time;
    let compliance = agent.factors.first().copied().unwrap_or_default();
    let breaches = penalties::breaches(all_time, &compliance);
    let confirmed = penalties::flat(all_time.confirmed_true_positives, penalties::CONFIRMED);
    let sanctions = penalties::flat(all_time.sanctions_matches, penalties::SANCTIONS);
    let slashes = penalties::slashes(&agent.slashes);
    let four = [
        (
            "mandate_breach_incidence",
            all_time.scope_breaches + all_time.budget_breaches,
            breaches.assessed,
            words::breaches(&breaches, agent),
        ),
        (
            "confirmed_true_positives",
            all_time.confirmed_true_positives,
            confirmed,
            words::confirmed(all_time, confirmed),
        ),
        ("ofac_matches", all_time.sanctions_matches, sanctions, words::sanctions(all_time, sanctions)),
        (
            "slash_events",
            agent.slashes.executed + agent.slashes.unadjudicated,
            slashes,
            words::slashes(&agent.slashes, slashes),
        ),
    ];
    for (key, events, assessed, measured) in four {
        let charged = penalties::charged(assessed, left);
        rating.factors.push(Factor {
            key,
            weight: 0,
            value: None,
            contribution: -charged,
            n: Millionths::whole(events),
            detail: format!("{measured} {}", words::charged(assessed, charged, left)),
            assessed: Some(-assessed.points),
        });
        left -= charged;
    }
    rating.score = left;
}

/// The route on which a factor's evidence never arrives, where every cleared observed decision is of it.
fn route(key: &str, agent: &Agent) -> Option<&'static str> {
    let observed = &agent.observed;
    match key {
        "settlement_reliability" if observed.cleared > 0 && observed.cleared_authorize_intent == observed.cleared => {
            Some("/authorize-intent")
        }
        "anomaly_history" if observed.cleared > 0 && observed.cleared_x402_pay_ungated == observed.cleared => {
            Some("/x402-pay")
        }
        _ => None,
    }
}

fn evidence(agent: &Agent, parameters: &Parameters) -> Evidence {
    Evidence {
        window_decisions: parameters.window_decisions,
        decisions: agent.observed.decisions,
        material: agent.material().millionths_down(),
        material_all_time: agent.material_all_time().millionths_down(),
        cleared_decisions: agent.observed.cleared,
        cleared_decisions_all_time: agent.all_time.cleared,
        attestable_decisions_all_time: agent.all_time.attestable,
        unauthenticated_decisions_excluded: agent.unauthenticated,
        parked_decisions_approved: agent.observed.parked_approved,
        parked_decisions_denied: agent.observed.parked_denied,
        first_decision_at: agent.all_time.first_decision_at,
    }
}
