//! L2 (§8.4): every figure of a subject's reports from its excerpt alone.
//!
//! The excerpt's entries go into the tables of the warehouse, and the queries and documents are those of the night. Two figures rest on
//! entries about others, which an excerpt does not hold, and take the sums that it discloses instead: a portfolio prior (§7.5), and the
//! share of refusals that a stop elsewhere corroborates (§8.2).

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::compare::Verdict;
use super::format::{EntryLine, Excerpt, PriorLine, RefusalsLine};
use super::reports::SignedReport;
use super::{ExcerptError, amount, tables};
use crate::engine::{Resources, Session};
use crate::instant;
use crate::night::NightError;
use crate::policy::Policy;
use crate::reports::number::{self, Prior};
use crate::reports::{self, Frame};

/// Recomputes the reports of the excerpt's subject and compares them with the signed ones. `faults` are those that reading the excerpt
/// found; `all` where `signed` should hold every report about the subject. Files are made in `scratch`, a folder of the caller's.
pub fn recompute(
    excerpt: &Excerpt,
    faults: Vec<String>,
    signed: &[SignedReport],
    all: bool,
    scratch: &Path,
    resources: &Resources,
) -> Result<Verdict, ExcerptError> {
    let mut faults = faults;
    let recomputed = reports_of(excerpt, &mut faults, scratch, resources)?;
    Ok(Verdict::of(excerpt, faults, signed, &recomputed, all))
}

/// The reports that an excerpt gives, inner objects, by capability.
fn reports_of(
    excerpt: &Excerpt,
    faults: &mut Vec<String>,
    scratch: &Path,
    resources: &Resources,
) -> Result<Vec<Value>, ExcerptError> {
    let strange = |what: &str| ExcerptError::Night(NightError::Input(format!("the excerpt's header: {what}")));
    let header = &excerpt.header;
    let as_of = instant::parse(&header.as_of).map_err(|_| strange("as_of is no instant"))?;
    let policy = policy_of(&header.policy).map_err(ExcerptError::Night)?;
    if policy.bureau != header.bureau || policy.formula_version != header.formula_version {
        faults.push("the excerpt's header is of another bureau or formula than its policy".to_owned());
    }
    let session = Session::open(resources, &scratch.join("spill"))?;
    for (name, batch) in tables::actions(excerpt)? {
        session.register_batch(name, batch)?;
    }
    for (name, batch) in tables::inputs(excerpt, &policy, as_of)? {
        session.register_batch(name, batch)?;
    }
    let derived = scratch.join("derived");
    std::fs::create_dir_all(&derived).map_err(|source| ExcerptError::io(&derived, source))?;
    let documents = reports::figures(&session, &policy, &Frame::of(&policy, as_of), &derived, None)?;
    let made = documents.reports.iter().filter_map(|report| serde_json::from_slice::<Value>(report).ok());
    let mut mine: Vec<Value> = made.filter(|report| report["subject"] == header.subject.as_str()).collect();
    if !excerpt.priors.is_empty() && !policy.portfolio_prior {
        faults.push("the excerpt lends a prior, which its policy does not have".to_owned());
    }
    let pools = pools(&session, &header.subject)?;
    for report in &mut mine {
        let capability = report["capability"].as_str().map(str::to_owned);
        if let Some(prior) = excerpt.priors.iter().find(|prior| Some(&prior.capability) == capability.as_ref()) {
            let pool = pools.iter().find(|pool| pool.0 == capability).map_or((0, 0), |pool| (pool.1, pool.2));
            lend(report, prior, pool, &policy).map_err(strange)?;
        }
        if let Some(refusals) = excerpt.refusals.iter().find(|line| line.capability == capability) {
            corroborate(report, refusals).map_err(strange)?;
        }
    }
    faults.extend(standing(excerpt, &session)?);
    Ok(mine)
}

/// The policy of `policy.json`, read as the file that an operator writes, with every bound of profile 2.1.
pub(super) fn policy_of(values: &Value) -> Result<Policy, NightError> {
    const WORDS: [&str; 4] = ["bureau", "formula_version", "evaluator_weighting", "court_procedure"];
    let mut text = String::new();
    for (name, value) in values.as_object().into_iter().flatten() {
        let written = match value {
            // A decimal that no double holds exactly is a text in policy.json; JSON's escapes are TOML's, but for one character.
            Value::String(number) if !WORDS.contains(&name.as_str()) => number.clone(),
            Value::String(_) => value.to_string().replace('\u{7f}', "\\u007f"),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return Err(NightError::Input(format!("the excerpt's policy: {name} is no value"))),
        };
        if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') || written.contains('\n') {
            return Err(NightError::Input(format!("the excerpt's policy: {name:?} is no name of a value")));
        }
        text.push_str(&format!("{name} = {written}\n"));
    }
    Policy::parse(&text, "the excerpt's policy").map_err(NightError::Policy)
}

/// The subject's pools: capability, Σ w in units of 1e-15, Σ w·v in units of 1e-17.
fn pools(session: &Session, subject: &str) -> Result<Vec<(Option<String>, i128, i128)>, ExcerptError> {
    let rows = session.rows("pool", "select subject, capability, sum_w, sum_wv from pool")?;
    let (of, capability) = (rows.text("subject")?, rows.text("capability")?);
    let (sum_w, sum_wv) = (rows.decimal("sum_w", 15)?, rows.decimal("sum_wv", 17)?);
    let mine = (0..rows.len()).filter(|row| of.get(*row) == Some(subject));
    let pool = |row| Some((capability.get(row).map(str::to_owned), sum_w.get(row)?, sum_wv.get(row)?));
    Ok(mine.filter_map(pool).collect())
}

/// Puts a report under the prior that other agents lend.
fn lend(report: &mut Value, prior: &PriorLine, pool: (i128, i128), policy: &Policy) -> Result<(), &'static str> {
    let (Some(sum_w), Some(sum_wv)) = (amount::read(&prior.sum_w, 15), amount::read(&prior.sum_wv, 17)) else {
        return Err("a prior's sums are no decimals of their places");
    };
    if sum_w < 0 || sum_wv < 0 || sum_wv > sum_w.saturating_mul(100) {
        return Err("a prior's sums are those of no pool");
    }
    let Some(lent) = Prior::portfolio(sum_w, sum_wv, &policy.prior_weight_events) else { return Ok(()) };
    let posterior = number::posterior(pool.0, pool.1, &lent);
    if report["quality"].get("lcb").is_some() {
        let published = |figure| json!(number::six_places_of_f64(figure).map(number::millionths_to_json));
        report["quality"]["lcb"] = published(posterior.lcb);
        report["quality"]["mean"] = published(posterior.mean);
    }
    if report.get("evidence").is_some() {
        let weight = number::millionths_to_json(lent.weight_events_millionths());
        report["evidence"]["portfolio_prior"] = json!({ "from_agents": prior.from_agents, "weight_events": weight });
    }
    Ok(())
}

/// Puts the disclosed count of corroborated refusals in the place of what the excerpt's own entries corroborate, which it contains.
fn corroborate(report: &mut Value, refusals: &RefusalsLine) -> Result<(), &'static str> {
    let Some(block) = report.get_mut("candor").and_then(|candor| candor.get_mut("refusals")) else { return Ok(()) };
    let count = block["count_90d"].as_i64().unwrap_or(0);
    let share = number::six_places_of_ratio(refusals.corroborated.into(), count.into());
    let seen = block["corroborated_share"].as_f64().unwrap_or(0.0);
    let disclosed = json!(share.map(number::millionths_to_json));
    if !(0..=count).contains(&refusals.corroborated) || disclosed.as_f64().is_some_and(|share| share < seen) {
        return Err("corroborated refusals are not between those that a screener held and all of them");
    }
    block["corroborated_share"] = disclosed;
    Ok(())
}

/// Where the corrections and exclusions that stand are not those that the entries' standing names.
fn standing(excerpt: &Excerpt, session: &Session) -> Result<Vec<String>, ExcerptError> {
    let mut faults = Vec::new();
    let rows = session.rows("correction", "select target_seq, correction_seq, kind from correction")?;
    let (target, seq, kind) = (rows.int("target_seq")?, rows.int("correction_seq")?, rows.text("kind")?);
    let by_entries = |row| Some((target.get(row)?, seq.get(row)?, kind.get(row)?.to_owned()));
    let mut by_entries: Vec<_> = (0..rows.len()).filter_map(by_entries).collect();
    let mut stated: Vec<_> = excerpt
        .entries
        .iter()
        .filter_map(|line| line.standing.corrected.as_ref().map(|by| (line.seq(), by.seq, by.kind.clone())))
        .collect();
    let known: BTreeSet<i64> = excerpt.entries.iter().map(EntryLine::seq).collect();
    by_entries.retain(|(target, ..)| known.contains(target));
    by_entries.sort();
    stated.sort();
    if by_entries != stated {
        faults.push("the corrections that stand are not those that the excerpt says".to_owned());
    }
    let rows = session.rows("standing_exclusion", "select target_seq, seq, reason from standing_exclusion")?;
    let (target, seq, reason) = (rows.int("target_seq")?, rows.int("seq")?, rows.text("reason")?);
    let by_entries = |row| Some((target.get(row)?, seq.get(row)?, reason.get(row)?.to_owned()));
    let mut by_entries: Vec<_> = (0..rows.len()).filter_map(by_entries).collect();
    let mut stated: Vec<_> = excerpt
        .entries
        .iter()
        .flat_map(|line| line.standing.excluded.iter().map(move |by| (line.seq(), by.seq, by.reason.clone())))
        .collect();
    by_entries.retain(|(target, ..)| known.contains(target));
    by_entries.sort();
    stated.sort();
    if by_entries != stated {
        faults.push("the exclusions that stand are not those that the excerpt says".to_owned());
    }
    Ok(faults)
}
