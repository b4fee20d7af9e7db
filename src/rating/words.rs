//! What a rating says in words. Each text holds the numbers from which a reader gets the figure beside it by hand:
//! the exact sums in dollars, what one full observation is, and every step between.

use super::exact::{Millionths, Ratio, decimal};
use super::factors::{Rated, STANDING_MATERIAL, Scored, Standing, TENURE_DAYS, TENURE_MATERIAL, Tenure};
use super::figures::{Agent, AllTime, Controller, Slashes};
use super::penalties::{
    Assessed, BREACH_CAP, BREACH_FLOOR, BUDGET_TARIFF, Breaches, CONFIRMED, SANCTIONS, SCOPE_TARIFF, SLASH_EXECUTED,
    SLASH_UNADJUDICATED, Source,
};
use super::standing;
use super::verdict::Rating;
use crate::instant;

/// The notice of rows that are not observations of anything.
pub fn notice(data_provenance: &str) -> Option<&'static str> {
    match data_provenance {
        "synthetic_fixture" => Some(
            "SYNTHETIC FIXTURE: this agent and its history were generated to fill the public registry; nothing here was observed.",
        ),
        "test_harness" => Some(
            "TEST HARNESS: this agent is a throwaway provisioned by a smoke test; nothing here was observed of a working agent.",
        ),
        _ => None,
    }
}

/// A sum of ten-millionths of a dollar, or of twenty-millionths.
fn dollars(sum: i128, scale: i128) -> String {
    if scale == 2 { decimal(sum * 5, 8) } else { decimal(sum, 7) }
}

fn counted(count: i64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn decisions(count: i64) -> String {
    counted(count, "decision", "decisions")
}

fn observations(sum: i128, unit: i128) -> Millionths {
    Ratio::new(sum, unit).millionths()
}

/// A factor that is a smoothed rate.
pub fn rated(factor: Rated, scored: &Scored, agent: &Agent) -> String {
    let (sums, unit, scale) = (&scored.sums, scored.unit, factor.scale);
    let (for_words, against_words) = match factor.key {
        "mandate_compliance" => ("cleared, or parked and approved", "denied for scope, budget, sanctions or the gate"),
        "attestation_coverage" => (
            "cleared with a matching attestation and a signed receipt",
            "cleared with a receipt available and without both",
        ),
        "anomaly_history" => ("safe", "watch ×0.5, warn ×1, critical ×2"),
        "operator_review" => ("labelled false_positive or benign, or parked and approved", "labelled true_positive"),
        _ => ("confirmed", "failed"),
    };
    let tiers = match factor.key {
        "anomaly_history" => format!(
            " (watch {}, warn {}, critical {} dollars before they are multiplied; n is every decision with a tier, {} dollars)",
            dollars(agent.tiers.watch, 1),
            dollars(agent.tiers.warn, 1),
            dollars(agent.tiers.critical, 1),
            dollars(sums.n, scale)
        ),
        _ => String::new(),
    };
    format!(
        "For, {for_words}: {}, {} dollars, {} of full observations. Against, {against_words}: {}, {} dollars, {} of full \
         observations{tiers}. Out of {} observed; each weighs its amount up to {} dollars, one full observation. \
         Rate (for + 1) / (for + against + 2) = {}; confidence min(1, n / {}) = {} at n {}; value 0.5 + (rate − 0.5) × confidence = \
         {}; times {} is {} points.",
        decisions(sums.good_decisions),
        dollars(sums.good, scale),
        observations(sums.good, unit),
        decisions(sums.bad_decisions),
        dollars(sums.bad, scale),
        observations(sums.bad, unit),
        decisions(agent.observed.decisions),
        dollars(agent.observation, 1),
        scored.rate,
        factor.full_confidence,
        scored.confidence,
        scored.n,
        scored.value,
        factor.weight,
        scored.contribution,
    )
}

/// controller_standing.
pub fn standing(standing: &Standing, controller: &Controller) -> String {
    let raw = decimal(i128::from(standing.raw_hundredths), 2);
    let value = if standing.scaled {
        format!(
            "at or above 0.5 it is scaled by the controller's record, 0.5 + (raw − 0.5) × min(1, {} / {STANDING_MATERIAL}) = {}",
            standing.n, standing.value
        )
    } else {
        format!("below 0.5 it is not scaled by the controller's {} material decisions", standing.n)
    };
    format!(
        "Over the controller's {}: {}, {} pending or disputed, {} for fraud, compromise or policy violation. \
         Raw 1 − min(1, 0.5 × {}) − min(0.5, 0.25 × {}) − {}, at least 0, = {raw}; {value}; times 100 is {} points.",
        counted(controller.agents, "agent", "agents"),
        counted(controller.slashes.executed, "executed slash", "executed slashes"),
        controller.slashes.unadjudicated,
        counted(controller.active_grave_revocations, "active revocation", "active revocations"),
        controller.slashes.executed,
        controller.slashes.unadjudicated,
        if controller.active_grave_revocations > 0 { "0.3" } else { "0" },
        standing.contribution,
    )
}

/// tenure.
pub fn tenure(tenure: &Tenure, agent: &Agent) -> String {
    let since = agent.all_time.first_decision_at.map_or_else(|| "none".to_owned(), instant::format);
    format!(
        "{} days ({} ms) since the first eligible decision, {since}, and {} material among {} observed ({} dollars, {} being a \
         full one): min(1, days / {TENURE_DAYS}) × min(1, material / {TENURE_MATERIAL}) = {}; times 50 is {} points.",
        tenure.days,
        tenure.age_ms,
        tenure.n,
        decisions(agent.observed.decisions),
        dollars(agent.observed.material, 1),
        dollars(agent.observation, 1),
        tenure.value,
        tenure.contribution,
    )
}

/// mandate_breach_incidence, but for what was charged.
pub fn breaches(breaches: &Breaches, agent: &Agent) -> String {
    let (all_time, compliance) = (&agent.all_time, agent.factors.first().copied().unwrap_or_default());
    let (bad, all) = (compliance.bad, compliance.good + compliance.bad);
    let sums = format!(
        "{} breached of {} cleared or breached, by materiality over {} observed ({} of {} dollars)",
        observations(bad, agent.observation),
        observations(all, agent.observation),
        decisions(agent.observed.decisions),
        dollars(bad, 1),
        dollars(all, 1),
    );
    let rate = match breaches.rate {
        Some(rate) => format!("Breach rate {rate}: {sums}; multiplier min(1, rate / 0.10) = {}", breaches.multiplier),
        None => format!("No breach rate, {sums}; multiplier {}", breaches.multiplier),
    };
    format!(
        "Breaches among {} of all time: scope {} × {SCOPE_TARIFF} + budget {} × {BUDGET_TARIFF} = tariff {}. {rate}; \
         scaled tariff {}, floor {BREACH_FLOOR} × {} = {}, cap {BREACH_CAP}.",
        decisions(all_time.decisions),
        all_time.scope_breaches,
        all_time.budget_breaches,
        breaches.tariff,
        breaches.scaled,
        all_time.scope_breaches + all_time.budget_breaches,
        breaches.floor,
    )
}

/// confirmed_true_positives, but for what was charged.
pub fn confirmed(all_time: &AllTime, assessed: Assessed) -> String {
    let (price, cap) = CONFIRMED;
    format!(
        "Confirmed as true positives by a human, among {} of all time: {} × {price}, at most {cap}, = {}.",
        decisions(all_time.decisions),
        all_time.confirmed_true_positives,
        assessed.points
    )
}

/// ofac_matches, but for what was charged.
pub fn sanctions(all_time: &AllTime, assessed: Assessed) -> String {
    let (price, cap) = SANCTIONS;
    format!(
        "Denied for a sanctions match, among {} of all time: {} × {price}, at most {cap}, = {}.",
        decisions(all_time.decisions),
        all_time.sanctions_matches,
        assessed.points
    )
}

/// slash_events, but for what was charged.
pub fn slashes(own: &Slashes, assessed: Assessed) -> String {
    format!(
        "Slashes of this agent's own stake: executed {} × {}, at most {}, + pending or disputed {} × {}, at most {}, = {}; a slash \
         is drawn from no decisions, so there is no denominator.",
        own.executed,
        SLASH_EXECUTED.0,
        SLASH_EXECUTED.1,
        own.unadjudicated,
        SLASH_UNADJUDICATED.0,
        SLASH_UNADJUDICATED.1,
        assessed.points
    )
}

/// How a penalty's number came about, and where the stop at zero cut it.
pub fn charged(assessed: Assessed, charged: i64, left: i64) -> String {
    let source = match assessed.source {
        Source::Nothing => return "Nothing to charge.".to_owned(),
        Source::ScaledTariff => "the scaled tariff",
        Source::Floor => "the floor",
        Source::Count => "the count",
        Source::Cap => "the cap",
    };
    if charged < assessed.points {
        format!(
            "Assessed −{}, by {source}; {left} points were left, so the stop at zero produced −{charged}.",
            assessed.points
        )
    } else {
        format!("Assessed and charged −{charged}: {source} produced the number.")
    }
}

/// Why attestation_coverage left the denominator.
pub fn unscorable(agent: &Agent, weight: i64) -> String {
    match agent.all_time.cleared {
        0 => format!(
            "The agent has no cleared decision at all, so there is none on which a receipt could have been issued; the {weight} \
             points are out of the denominator until there is."
        ),
        cleared => format!(
            "Of all time, none of the agent's cleared decisions ({cleared}) was decided where a clearance receipt could be issued, as \
             the rail recorded at the time; the {weight} points are out of the denominator."
        ),
    }
}

/// Why a factor holds half its weight.
pub fn prior_held(route: Option<&str>, agent: &Agent) -> String {
    let cleared = agent.observed.cleared;
    match route {
        Some("/authorize-intent") => format!(
            "Every cleared observed decision ({cleared}) is of /authorize-intent, which leaves every settlement at pending and learns no \
             more: the factor holds half its weight on that route."
        ),
        Some(_) => format!(
            "Every cleared observed decision ({cleared}) is of /x402-pay before 2026-09-01, when that rail ran no Gate 6: the factor holds \
             half its weight until the agent's next decision there."
        ),
        None => format!(
            "No weight for this factor among {} observed: it holds half its own.",
            decisions(agent.observed.decisions)
        ),
    }
}

/// Why a letter over another denominator is another claim.
pub fn comparability(denominator: i64) -> Option<String> {
    match denominator {
        1000 => None,
        0 => Some("Nothing was scored, so there is no verdict to compare.".to_owned()),
        points => Some(format!(
            "Scored over {points} of 1000 points: the same letter over 1000 covers a factor that this one does not, and the two do not \
             rank together."
        )),
    }
}

/// The line for a person: the notice first, then the verdict, the ceiling, and the verification's life.
pub fn summary(rating: &Rating, agent: &Agent) -> String {
    let mut parts: Vec<String> = rating.notice.iter().map(|notice| (*notice).to_owned()).collect();
    parts.push(match (rating.tier_letter, rating.uncapped_score, rating.normalized_score) {
        ("REVOKED", ..) => {
            format!(
                "REVOKED: {} against this agent, and nothing is scored.",
                counted(agent.active_revocations, "active revocation stands", "active revocations stand")
            )
        }
        ("UNRATED", ..) => format!(
            "UNRATED: {} of the one full material observation that a rating needs, over {} of all time.",
            rating.evidence.material_all_time,
            decisions(agent.all_time.decisions)
        ),
        (_, uncapped, normalized) => format!(
            "Tier {}: {} of {} points, {} on the scale of 1000 before the ceiling and {} after it.",
            rating.tier,
            rating.score,
            rating.denominator,
            uncapped.unwrap_or_default(),
            normalized.unwrap_or_default()
        ),
    });
    let binds = if rating.ceiling_binds { "it binds" } else { "it does not bind" };
    if rating.denominator > 0 {
        parts.push(format!("Ceiling {} ({}): {binds}.", rating.ceiling.ceiling, rating.ceiling.code));
    }
    parts.extend(rating.proof.as_ref().and_then(standing::life));
    if rating.denominator > 0 {
        parts.extend(rating.comparability.clone());
    }
    parts.join(" ")
}
