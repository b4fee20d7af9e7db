//! Organizations from the rows of the `organization_*` queries, each read once.

use std::collections::BTreeMap;

use super::nda;
use super::organization::{Charter, Counts, FormerMember, Member, Organization, OrganizationNda};
use super::sender;
use crate::engine::{EngineError, Rows};

/// The rows of the five queries.
pub struct OrganizationRows<'a> {
    /// `organization_figure`: one row an organization that has a report.
    pub figures: &'a Rows,
    /// `organization_member`.
    pub members: &'a Rows,
    /// `organization_former`.
    pub former: &'a Rows,
    /// `organization_sender`.
    pub sender: &'a Rows,
    /// `organization_nda`.
    pub nda: &'a Rows,
}

/// The organizations that have a report, in the order of their anchors.
pub fn organizations(rows: &OrganizationRows<'_>) -> Result<Vec<Organization>, EngineError> {
    let mut members = members(rows.members)?;
    let mut former = former(rows.former)?;
    let mut classes = sender::class_counts(rows.sender, "organization")?;
    let mut claims = claims(rows.nda)?;
    let figures = rows.figures;
    let (anchor, kind) = (figures.text("organization")?, figures.text("organization_kind")?);
    let (charter, proof) = (figures.text("charter_id")?, figures.text("domain_proof")?);
    let (rated, unproven) = (figures.int("rated")?, figures.int("unproven")?);
    let (unenrolled, withdrawn) = (figures.int("unenrolled")?, figures.int("withdrawn")?);
    let (joined, witnessed) = (figures.int("joined")?, figures.int("witnessed")?);
    let (violations, self_dealing) = (figures.int("contract_violations")?, figures.int("self_dealing")?);
    let mut organizations = BTreeMap::new();
    for row in 0..figures.len() {
        let (Some(anchor), Some(kind)) = (anchor.get(row), kind.get(row)) else { continue };
        let organization = Organization {
            anchor: anchor.to_owned(),
            anchor_kind: kind.to_owned(),
            charter: charter
                .get(row)
                .map(|id| Charter { id: id.to_owned(), domain_proof: proof.get(row).unwrap_or("lapsed").to_owned() }),
            members: members.remove(anchor).unwrap_or_default(),
            former: former.remove(anchor).unwrap_or_default(),
            counts: Counts {
                rated: rated.get(row).unwrap_or(0),
                unproven: unproven.get(row).unwrap_or(0),
                unenrolled: unenrolled.get(row).unwrap_or(0),
                withdrawn: withdrawn.get(row).unwrap_or(0),
                joined: joined.get(row).unwrap_or(0),
            },
            contract_violations: violations.get(row).unwrap_or(0),
            self_dealing: self_dealing.get(row).unwrap_or(0),
            sender: sender::SenderRecord {
                witnessed: witnessed.get(row).unwrap_or(0),
                classes: classes.remove(anchor).unwrap_or_default(),
            },
            nda: claims.remove(anchor).unwrap_or_default(),
        };
        organizations.insert(anchor.to_owned(), organization);
    }
    Ok(organizations.into_values().collect())
}

fn members(rows: &Rows) -> Result<BTreeMap<String, Vec<Member>>, EngineError> {
    let (organization, subject, basis) = (rows.text("organization")?, rows.text("subject")?, rows.text("basis")?);
    let (since, enrollment) = (rows.instant("member_since")?, rows.text("enrollment")?);
    let mut members: BTreeMap<String, Vec<Member>> = BTreeMap::new();
    for row in 0..rows.len() {
        if let (Some(organization), Some(subject), Some(basis), Some(member_since), Some(enrollment)) =
            (organization.get(row), subject.get(row), basis.get(row), since.get(row), enrollment.get(row))
        {
            members.entry(organization.to_owned()).or_default().push(Member {
                subject: subject.to_owned(),
                basis: basis.to_owned(),
                member_since,
                enrollment: enrollment.to_owned(),
            });
        }
    }
    members.values_mut().for_each(|members| members.sort_by(|a, b| a.subject.cmp(&b.subject)));
    Ok(members)
}

fn former(rows: &Rows) -> Result<BTreeMap<String, Vec<FormerMember>>, EngineError> {
    let (organization, subject, basis) = (rows.text("organization")?, rows.text("subject")?, rows.text("basis")?);
    let (left, enrollment) = (rows.instant("left_at")?, rows.text("enrollment")?);
    let mut former: BTreeMap<String, Vec<FormerMember>> = BTreeMap::new();
    for row in 0..rows.len() {
        if let (Some(organization), Some(subject), Some(basis), Some(left_at), Some(enrollment)) =
            (organization.get(row), subject.get(row), basis.get(row), left.get(row), enrollment.get(row))
        {
            former.entry(organization.to_owned()).or_default().push(FormerMember {
                subject: subject.to_owned(),
                basis: basis.to_owned(),
                left_at,
                enrollment: enrollment.to_owned(),
            });
        }
    }
    former.values_mut().for_each(|former| former.sort_by(|a, b| a.subject.cmp(&b.subject)));
    Ok(former)
}

fn claims(rows: &Rows) -> Result<BTreeMap<String, OrganizationNda>, EngineError> {
    let organization = rows.text("organization")?;
    let (upheld, members_with_upheld) = (rows.int("upheld")?, rows.int("members_with_upheld")?);
    let (open, claimants) = (rows.int("open_claims")?, rows.int("open_claimants")?);
    let mut claims = BTreeMap::new();
    for (row, closed) in nda::closed_claims(rows)?.into_iter().enumerate() {
        if let Some(organization) = organization.get(row) {
            let found = OrganizationNda {
                upheld: upheld.get(row).unwrap_or(0),
                members_with_upheld: members_with_upheld.get(row).unwrap_or(0),
                open: open.get(row).unwrap_or(0),
                claimants: claimants.get(row).unwrap_or(0),
                closed,
            };
            claims.insert(organization.to_owned(), found);
        }
    }
    Ok(claims)
}
