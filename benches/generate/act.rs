//! What an entry is going to say: settled one after the other, written and signed in parallel.

use std::sync::Arc;

/// An entry before it is written.
#[derive(Debug)]
pub struct Act {
    pub seq: u64,
    /// Milliseconds since 1970 UTC, as all instants here.
    pub at: i64,
    /// Whom it is about: a place in the world's agents.
    pub subject: usize,
    pub capability: Option<&'static str>,
    pub kind: Kind,
}

#[derive(Debug)]
pub enum Kind {
    Declared {
        amended: bool,
        statement_at: i64,
        declaration: Arc<Declaration>,
    },
    Withdrew {
        statement_at: i64,
    },
    Fact(Box<Fact>),
    Attested(Box<Attestation>),
    Probed {
        interaction: u64,
        lone: bool,
        reporter: usize,
        passed: bool,
        ended_at: i64,
    },
    Stopped(Box<Stop>),
    Claimed(Arc<Claim>),
    Answered {
        claim: Arc<Claim>,
        statement_at: i64,
    },
    Resolved {
        claim: Arc<Claim>,
        resolution: Resolution,
        statement_at: i64,
    },
    Excluded {
        target: u64,
        reason: &'static str,
        evaluator: Option<usize>,
        interaction: u64,
    },
    Corrected {
        target: u64,
        repair: Repair,
    },
    /// An action that no profile knows.
    Noted,
}

impl Kind {
    /// The action.
    pub fn action(&self) -> &'static str {
        match self {
            Kind::Declared { amended: false, .. } => "enrolled",
            Kind::Declared { amended: true, .. } => "amended",
            Kind::Withdrew { .. } => "withdrew",
            Kind::Fact(_) => "fact",
            Kind::Attested(_) => "attested",
            Kind::Probed { .. } => "probed",
            Kind::Stopped(_) => "stopped",
            Kind::Claimed(_) => "nda_claimed",
            Kind::Answered { .. } => "nda_answered",
            Kind::Resolved { .. } => "nda_resolved",
            Kind::Excluded { .. } => "excluded",
            Kind::Corrected { .. } => "corrected",
            Kind::Noted => "plumbline.recalibrated",
        }
    }
}

/// What a subject offers.
#[derive(Debug, Default)]
pub struct Declaration {
    pub capabilities: Vec<&'static str>,
    /// Places in the list of promises.
    pub promises: Vec<usize>,
    /// Owners.
    pub competitors: Vec<usize>,
}

#[derive(Debug)]
pub struct Fact {
    pub interaction: u64,
    pub parent: Option<u64>,
    pub reporter: usize,
    pub caller: usize,
    pub started_at: i64,
    pub ended_at: i64,
    pub transport: &'static str,
    pub latency_ms: Option<i64>,
    /// Places in the list of promises, and whether they held.
    pub checks: Vec<(usize, bool)>,
    pub outcome: Option<&'static str>,
    pub from: Option<&'static str>,
    pub engagement: Option<u64>,
    pub names_sender: bool,
    pub screening: Option<(&'static str, &'static str)>,
}

impl Fact {
    /// The code that the fact alone gives its interaction (profile 2.3, steps 3 to 5).
    pub fn code(&self) -> Option<&'static str> {
        let undone = matches!(self.outcome, Some("DECLINED" | "REFUSED" | "REFUSED_UNSTATED" | "UNAVAILABLE"));
        if self.checks.iter().any(|(_, held)| !held) && !undone && !self.is_unscored() {
            return Some("CONTRACT");
        }
        self.outcome.or(matches!(self.transport, "UNREACHABLE" | "TIMEOUT").then_some("UNREACHABLE"))
    }

    /// Whether that code has a quality value.
    pub fn has_quality(&self) -> bool {
        matches!(self.code(), Some("OK" | "OK_CORRECTED" | "FAILED" | "FAILED_SILENT" | "CONTRACT"))
    }

    /// Whether a caller may judge it (profile 1.7, attest.no_work).
    pub fn may_be_judged(&self) -> bool {
        let worked = self.has_quality() || self.code().is_none();
        worked && !matches!(self.from, Some("input_required" | "terminated_for_cause" | "dispute_fallback"))
    }

    /// Whether only the spend may be judged.
    pub fn is_spending(&self) -> bool {
        matches!(self.from, Some("exhausted" | "metering"))
    }

    fn is_unscored(&self) -> bool {
        self.outcome.is_none() && self.from.is_some()
    }
}

#[derive(Debug)]
pub struct Attestation {
    pub interaction: u64,
    pub evaluator: usize,
    pub outcome: &'static str,
    pub statement_at: i64,
    pub note: Option<&'static str>,
    pub engagement: Option<u64>,
    /// Cents and units.
    pub spend: Option<(i64, i64)>,
    pub reason: Option<&'static str>,
}

#[derive(Debug)]
pub struct Stop {
    pub interaction: u64,
    pub reporter: usize,
    pub class: &'static str,
    pub stage: &'static str,
    pub ground: &'static str,
    pub decided_by: &'static str,
    pub resolution: Option<&'static str>,
    pub provider: Option<&'static str>,
    /// An owner.
    pub recipient: usize,
    pub solicited: bool,
    pub stopped_at: i64,
}

#[derive(Debug)]
pub struct Claim {
    pub number: u64,
    pub state: &'static str,
    pub claimant: usize,
    pub respondent: usize,
    pub respondent_org: Option<usize>,
    pub direction: &'static str,
    pub effective_at: i64,
    pub ends_at: Option<i64>,
    pub duties_end_at: Option<i64>,
    pub categories: Vec<&'static str>,
    pub disclosures: Vec<(&'static str, i64)>,
    pub found_at: i64,
    pub breach_at: Option<i64>,
    pub claimed_at: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    Acknowledged,
    Withdrawn,
    SetAside,
    Upheld(Forum),
    Dismissed(Forum),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forum {
    Arbiter,
    Owners,
    Court,
}

#[derive(Debug, Clone, Copy)]
pub enum Repair {
    Void(&'static str),
    Subject(usize),
    Capability(&'static str),
    Interaction(u64),
}
