//! Stage 1, from columns: the rules that look at one entry and at what the bureau knows beside the ledger.

use crate::engine::Session;
use crate::identity::{Relations, Reporters};

use super::error::AuditError;
use super::finding::{Findings, Rule};
use super::queries::{CLOCK, CORRECTION_TARGET, FACT_ENTRY, PROBE_ENTRY, STOP_ENTRY};
use super::rules;

/// chain.clock, over the whole file; findings are those of entries that exist at `as_of`.
pub(super) fn clock(session: &Session, as_of: i64, findings: &mut Findings) -> Result<(), AuditError> {
    session.for_each(CLOCK.name, CLOCK.text, |rows| {
        let (seq, at, before_at) = (rows.int("seq")?, rows.instant("at")?, rows.instant("before_at")?);
        for row in 0..rows.len() {
            let at = at.get(row).filter(|at| *at <= as_of);
            findings.judge(need(seq.get(row), "seq")?, Rule::ChainClock, rules::clock(at, before_at.get(row)));
        }
        Ok(())
    })
}

/// fact.times and fact.sender. An entry of an unknown reporter has one finding, and it is not one of these.
pub(super) fn facts(
    session: &Session,
    reporters: &Reporters,
    relations: &Relations<'_>,
    findings: &mut Findings,
) -> Result<(), AuditError> {
    session.for_each(FACT_ENTRY.name, FACT_ENTRY.text, |rows| {
        let (seq, at, reporter) = (rows.int("seq")?, rows.instant("at")?, rows.text("reporter")?);
        let (caller, sender) = (rows.text("caller_anchor_hash")?, rows.text("sender")?);
        let (started_at, ended_at) = (rows.instant("started_at")?, rows.instant("ended_at")?);
        for row in 0..rows.len() {
            if !is_known(reporters, reporter.get(row)) {
                continue;
            }
            let seq = need(seq.get(row), "seq")?;
            let at = need(at.get(row), "at")?;
            let ended_at = need(ended_at.get(row), "ended_at")?;
            let times = rules::fact::times(need(started_at.get(row), "started_at")?, ended_at, at);
            findings.judge(seq, Rule::FactTimes, times);
            let sender = sender.get(row);
            let own = sender.and_then(|sender| relations.anchor_hash_of(sender));
            let caller = need(caller.get(row), "caller_anchor_hash")?;
            findings.judge(seq, Rule::FactSender, rules::fact::sender(sender, own, caller));
        }
        Ok(())
    })
}

/// fact.times of probes.
pub(super) fn probes(session: &Session, reporters: &Reporters, findings: &mut Findings) -> Result<(), AuditError> {
    session.for_each(PROBE_ENTRY.name, PROBE_ENTRY.text, |rows| {
        let (seq, at) = (rows.int("seq")?, rows.instant("at")?);
        let (reporter, ended_at) = (rows.text("reporter")?, rows.instant("ended_at")?);
        for row in 0..rows.len() {
            if is_known(reporters, reporter.get(row)) {
                let (at, ended_at) = (need(at.get(row), "at")?, need(ended_at.get(row), "ended_at")?);
                findings.judge(need(seq.get(row), "seq")?, Rule::FactTimes, rules::fact::ended(ended_at, at));
            }
        }
        Ok(())
    })
}

/// stop.forbidden.
pub(super) fn stops(session: &Session, reporters: &Reporters, findings: &mut Findings) -> Result<(), AuditError> {
    session.for_each(STOP_ENTRY.name, STOP_ENTRY.text, |rows| {
        let (seq, reporter) = (rows.int("seq")?, rows.text("reporter")?);
        let (class, ground, resolution) = (rows.text("class")?, rows.text("ground")?, rows.text("resolution")?);
        for row in 0..rows.len() {
            if is_known(reporters, reporter.get(row)) {
                let found = rules::stop::forbidden(class.get(row), ground.get(row), resolution.get(row));
                findings.judge(need(seq.get(row), "seq")?, Rule::StopForbidden, found);
            }
        }
        Ok(())
    })
}

/// correct.target.
pub(super) fn corrections(session: &Session, findings: &mut Findings) -> Result<(), AuditError> {
    session.for_each(CORRECTION_TARGET.name, CORRECTION_TARGET.text, |rows| {
        let (seq, target) = (rows.int("seq")?, rows.int("target_seq")?);
        let action = rows.text("target_action")?;
        for row in 0..rows.len() {
            let seq = need(seq.get(row), "seq")?;
            let found = rules::correction::target(seq, need(target.get(row), "target_seq")?, action.get(row));
            findings.judge(seq, Rule::CorrectTarget, found);
        }
        Ok(())
    })
}

/// Whether the bureau ever configured the reporter.
pub(super) fn is_known(reporters: &Reporters, reporter: Option<&str>) -> bool {
    reporter.is_some_and(|reporter| reporters.get(reporter).is_some())
}

/// A value that its table always has.
pub(super) fn need<T>(value: Option<T>, column: &'static str) -> Result<T, AuditError> {
    value.ok_or(AuditError::Row { query: "audit", column })
}
