//! Organizations: the records of one publisher's or one company's agents, side by side (§8.5; profile 2.9).
//!
//! A view over its members' records that adds no evidence of its own. Every member is listed, with what its own report serves.
//! No figure of quality is pooled, ever: a strong agent must not hide a weak one. Rows of the `organization_*` queries come in
//! (`organization_rows`), and the members' capabilities from their own reports; the inner object of an `organization_report` goes out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::nda::ClosedClaims;
use super::sender::{SenderRecord, SenderTerms};
use crate::instant;

/// The charter of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charter {
    /// Its id.
    pub id: String,
    /// `current` or `lapsed` at T.
    pub domain_proof: String,
}

/// A member at T (a row of `organization_member`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its handle.
    pub subject: String,
    /// `anchor` or `mandate`.
    pub basis: String,
    /// Since when, in milliseconds since 1970 UTC.
    pub member_since: i64,
    /// Its own state (profile 2.4).
    pub enrollment: String,
}

/// A subject that left in the window (a row of `organization_former`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerMember {
    /// Its handle.
    pub subject: String,
    /// `anchor` or `mandate`, as it was.
    pub basis: String,
    /// When, in milliseconds since 1970 UTC.
    pub left_at: i64,
    /// Its own state.
    pub enrollment: String,
}

/// Members by state, and those that joined in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// RATED for some capability.
    pub rated: i64,
    /// Enrolled, RATED for none.
    pub unproven: i64,
    /// Not enrolled.
    pub unenrolled: i64,
    /// Withdrawn, in effect.
    pub withdrawn: i64,
    /// Members since the window began.
    pub joined: i64,
}

/// Claims about the members, and about the seat that the charter holds (a row of `organization_nda`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrganizationNda {
    /// Upheld entries.
    pub upheld: i64,
    /// Members with one.
    pub members_with_upheld: i64,
    /// Open claims.
    pub open: i64,
    /// Distinct parties behind them.
    pub claimants: i64,
    /// Closed claims.
    pub closed: ClosedClaims,
}

/// What a member's own report serves for one capability.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberCapability {
    capability: String,
    state: Value,
    n_eff: Value,
    lcb: Option<Value>,
    prior: Value,
}

impl MemberCapability {
    /// Takes it from the inner object of a report. None where the report is not about a capability, or about an UNENROLLED subject.
    pub fn of_report(report: &Value) -> Option<MemberCapability> {
        let quality = report.get("quality")?;
        Some(MemberCapability {
            capability: report.get("capability")?.as_str()?.to_owned(),
            state: report.get("enrollment")?.clone(),
            n_eff: quality.get("n_eff")?.clone(),
            lcb: quality.get("lcb").cloned(),
            prior: report.get("evidence")?.get("portfolio_prior")?.clone(),
        })
    }

    fn document(&self) -> Value {
        let mut document = Map::new();
        let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
        put("capability", self.capability.as_str().into());
        put("state", self.state.clone());
        put("n_eff", self.n_eff.clone());
        if let Some(lcb) = &self.lcb {
            put("lcb", lcb.clone());
        }
        put("portfolio_prior", self.prior.clone());
        Value::Object(document)
    }

    /// How many agents lend to it, and with what weight; none without a prior.
    fn prior_size(&self) -> Option<(u64, f64)> {
        Some((self.prior.get("from_agents")?.as_u64()?, self.prior.get("weight_events")?.as_f64()?))
    }
}

/// An organization at T.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Organization {
    /// The anchor that keys it.
    pub anchor: String,
    /// `email` or `domain`.
    pub anchor_kind: String,
    /// The domain's charter.
    pub charter: Option<Charter>,
    /// Every member, by handle.
    pub members: Vec<Member>,
    /// Those that left in the window, by handle.
    pub former: Vec<FormerMember>,
    /// Members by state.
    pub counts: Counts,
    /// Facts of the members in the window that broke a promise.
    pub contract_violations: i64,
    /// `excluded` entries in the window for self-dealing between members.
    pub self_dealing: i64,
    /// The sender record across the members.
    pub sender: SenderRecord,
    /// The NDA record across them.
    pub nda: OrganizationNda,
}

impl Organization {
    /// The inner object of its document. `frame` holds what every document carries: `formula_version`, `bureau`, `issued_at`,
    /// `expires_at`; `capabilities` what each member's own reports serve, by handle.
    pub fn document(
        &self,
        frame: &Map<String, Value>,
        terms: &SenderTerms,
        record_days: &Value,
        capabilities: &BTreeMap<String, Vec<MemberCapability>>,
    ) -> Value {
        let members = self
            .members
            .iter()
            .map(|member| member_document(member, capabilities.get(&member.subject).map_or(&[][..], Vec::as_slice)));
        let mut document = frame.clone();
        let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
        put("anchor", self.anchor.as_str().into());
        put("anchor_kind", self.anchor_kind.as_str().into());
        if let Some(charter) = &self.charter {
            put("charter", json!({ "id": charter.id, "domain_proof": charter.domain_proof }));
        }
        put("members", Value::Array(members.collect()));
        put("former_members_90d", Value::Array(self.former.iter().map(former_document).collect()));
        put("counts", self.counts_document());
        put("facts", json!({ "contract_violations_90d": self.contract_violations }));
        put("self_dealing_excluded_90d", self.self_dealing.into());
        put("sender", self.sender.block(terms));
        put("nda", self.nda_document(record_days));
        Value::Object(document)
    }

    fn counts_document(&self) -> Value {
        json!({
            "RATED": self.counts.rated,
            "UNPROVEN": self.counts.unproven,
            "UNENROLLED": self.counts.unenrolled,
            "WITHDRAWN": self.counts.withdrawn,
            "joined_90d": self.counts.joined,
        })
    }

    fn nda_document(&self, record_days: &Value) -> Value {
        json!({
            "record_days": record_days,
            "upheld": self.nda.upheld,
            "members_with_upheld": self.nda.members_with_upheld,
            "open": { "count": self.nda.open, "claimants": self.nda.claimants },
            "closed": self.nda.closed.document(),
        })
    }
}

fn member_document(member: &Member, capabilities: &[MemberCapability]) -> Value {
    let mut document = Map::new();
    let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
    put("subject", member.subject.as_str().into());
    put("basis", member.basis.as_str().into());
    put("member_since", instant::format(member.member_since).into());
    put("enrollment", member.enrollment.as_str().into());
    if member.enrollment != "UNENROLLED" {
        let mut sorted: Vec<&MemberCapability> = capabilities.iter().collect();
        sorted.sort_by(|a, b| a.capability.cmp(&b.capability));
        put("capabilities", Value::Array(sorted.iter().map(|capability| capability.document()).collect()));
        put("portfolio_prior", largest_prior(&sorted));
    }
    Value::Object(document)
}

/// The prior from most agents, then of most weight; false without one (profile 2.9).
fn largest_prior(capabilities: &[&MemberCapability]) -> Value {
    let mut largest: Option<((u64, f64), &Value)> = None;
    for capability in capabilities {
        if let Some(size) = capability.prior_size()
            && largest.is_none_or(|(found, _)| size > found)
        {
            largest = Some((size, &capability.prior));
        }
    }
    largest.map_or(Value::Bool(false), |(_, prior)| prior.clone())
}

fn former_document(former: &FormerMember) -> Value {
    json!({
        "subject": former.subject,
        "basis": former.basis,
        "left_at": instant::format(former.left_at),
        "enrollment": former.enrollment,
    })
}

#[cfg(test)]
#[path = "organization_tests.rs"]
mod tests;
