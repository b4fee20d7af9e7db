//! The NDA record: claims of breach about a subject, and the claims that it filed (§4.8, §4.9; profile 2.8).
//!
//! Dated findings and counts, and never a score. Nothing here names an agreement, and nothing of a claimant but the salted
//! hash of its anchor beside an upheld breach (§4.9 rules 1 and 4). Rows of `nda_upheld`, `nda_open`, `nda_closed` and `nda_filed` come
//! in, the `nda` member of a report goes out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::engine::{Column, EngineError, Rows};
use crate::instant;
use crate::ledger::canonical;
use crate::policy::Policy;

/// The record period in days, as it stands in every NDA record.
pub fn record_days(policy: &Policy) -> Value {
    policy.to_json()["claim_record_days"].clone()
}

/// One upheld entry: an agreement and a respondent, whoever claimed (a row of `nda_upheld`). Instants in milliseconds since 1970 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upheld {
    /// When the breach was upheld, the last time.
    pub upheld_at: i64,
    /// On what it rests (§4.8); absent only where the ledger lacks it.
    pub basis: Option<String>,
    /// The categories that the claim names, in its order.
    pub categories: Vec<String>,
    /// The agreement's direction.
    pub direction: Option<String>,
    /// The salted hash of the claimant's anchor.
    pub claimant_anchor_hash: String,
    /// When the respondent's latest answer was signed.
    pub answered_at: Option<i64>,
}

impl Upheld {
    fn document(&self) -> Value {
        let mut categories: Vec<&str> = self.categories.iter().map(String::as_str).collect();
        categories.sort_unstable();
        categories.dedup();
        json!({
            "upheld_at": instant::format(self.upheld_at),
            "basis": self.basis,
            "categories": categories,
            "direction": self.direction,
            "claimant_anchor_hash": self.claimant_anchor_hash,
            "answered": self.answered_at.is_some(),
            "answered_at": self.answered_at.map(instant::format),
        })
    }
}

/// The open claims about a subject (a row of `nda_open`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenClaims {
    /// How many.
    pub count: i64,
    /// Distinct parties behind them.
    pub claimants: i64,
    /// The first filing, in milliseconds since 1970 UTC.
    pub earliest: Option<i64>,
    /// Those with an answer.
    pub answered: i64,
}

/// Claims that ended without a finding against the respondent, by state (a row of `nda_closed`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClosedClaims {
    /// A forum found no breach.
    pub dismissed: i64,
    /// The claimant took it back.
    pub withdrawn: i64,
    /// An upheld breach was reversed, or the claim named the wrong agreement or party.
    pub set_aside: i64,
    /// Nobody resolved it in the open period.
    pub lapsed: i64,
}

impl ClosedClaims {
    /// The `closed` member.
    pub fn document(&self) -> Value {
        json!({
            "dismissed": self.dismissed,
            "withdrawn": self.withdrawn,
            "set_aside": self.set_aside,
            "lapsed": self.lapsed,
        })
    }
}

/// The claims that a subject filed itself, by state (a row of `nda_filed`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FiledClaims {
    /// Not resolved, inside the open period.
    pub open: i64,
    /// Upheld against the respondent.
    pub upheld: i64,
    /// The others.
    pub closed: ClosedClaims,
}

impl FiledClaims {
    fn document(&self) -> Value {
        json!({
            "open": self.open,
            "upheld": self.upheld,
            "dismissed": self.closed.dismissed,
            "withdrawn": self.closed.withdrawn,
            "set_aside": self.closed.set_aside,
            "lapsed": self.closed.lapsed,
        })
    }
}

/// One subject's NDA record. Only subjects with something in it have one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NdaRecord {
    /// Upheld breaches.
    pub upheld: Vec<Upheld>,
    /// Open claims.
    pub open: OpenClaims,
    /// Closed claims.
    pub closed: ClosedClaims,
    /// The subject as claimant.
    pub filed: FiledClaims,
}

impl NdaRecord {
    /// The `nda` member. `upheld` is ordered by its date, then by canonical form.
    pub fn block(&self, record_days: &Value) -> Value {
        let mut upheld: Vec<(i64, Vec<u8>, Value)> = self
            .upheld
            .iter()
            .map(|entry| {
                let document = entry.document();
                (entry.upheld_at, canonical::to_vec(&document), document)
            })
            .collect();
        upheld.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let upheld: Vec<Value> = upheld.into_iter().map(|(_, _, document)| document).collect();
        json!({
            "record_days": record_days,
            "upheld": upheld,
            "open": {
                "count": self.open.count,
                "claimants": self.open.claimants,
                "earliest": self.open.earliest.map(instant::format),
                "answered": self.open.answered,
            },
            "closed": self.closed.document(),
            "filed": self.filed.document(),
        })
    }
}

/// The NDA records by subject, from the rows of the four queries.
pub fn records(
    upheld: &Rows,
    open: &Rows,
    closed: &Rows,
    filed: &Rows,
) -> Result<BTreeMap<String, NdaRecord>, EngineError> {
    let mut records: BTreeMap<String, NdaRecord> = BTreeMap::new();
    add_upheld(upheld, &mut records)?;
    let subject = open.text("subject")?;
    let (claims, claimants) = (open.int("claims")?, open.int("claimants")?);
    let (earliest, answered) = (open.instant("earliest")?, open.int("answered")?);
    for row in 0..open.len() {
        if let Some(subject) = subject.get(row) {
            records.entry(subject.to_owned()).or_default().open = OpenClaims {
                count: count(&claims, row),
                claimants: count(&claimants, row),
                earliest: earliest.get(row),
                answered: count(&answered, row),
            };
        }
    }
    let (subject, ended) = (closed.text("subject")?, closed_claims(closed)?);
    for (row, claims) in ended.into_iter().enumerate() {
        if let Some(subject) = subject.get(row) {
            records.entry(subject.to_owned()).or_default().closed = claims;
        }
    }
    let (subject, ended) = (filed.text("subject")?, closed_claims(filed)?);
    let (open, upheld) = (filed.int("open")?, filed.int("upheld")?);
    for (row, closed) in ended.into_iter().enumerate() {
        if let Some(subject) = subject.get(row) {
            let claims = FiledClaims { open: count(&open, row), upheld: count(&upheld, row), closed };
            records.entry(subject.to_owned()).or_default().filed = claims;
        }
    }
    Ok(records)
}

/// The four closed states of every row.
pub(super) fn closed_claims(rows: &Rows) -> Result<Vec<ClosedClaims>, EngineError> {
    let (dismissed, withdrawn) = (rows.int("dismissed")?, rows.int("withdrawn")?);
    let (set_aside, lapsed) = (rows.int("set_aside")?, rows.int("lapsed")?);
    let claims = |row| ClosedClaims {
        dismissed: count(&dismissed, row),
        withdrawn: count(&withdrawn, row),
        set_aside: count(&set_aside, row),
        lapsed: count(&lapsed, row),
    };
    Ok((0..rows.len()).map(claims).collect())
}

/// A count, which is never null (profile 2.2).
fn count(column: &Column<'_, &arrow::array::Int64Array>, row: usize) -> i64 {
    column.get(row).unwrap_or(0)
}

fn add_upheld(rows: &Rows, records: &mut BTreeMap<String, NdaRecord>) -> Result<(), EngineError> {
    let (subject, upheld_at) = (rows.text("subject")?, rows.instant("upheld_at")?);
    let (basis, direction, hash) = (rows.text("basis")?, rows.text("direction")?, rows.text("claimant_anchor_hash")?);
    let (mut categories, answered_at) = (rows.texts("categories")?.into_iter(), rows.instant("answered_at")?);
    for row in 0..rows.len() {
        let categories = categories.next().flatten().unwrap_or_default();
        if let (Some(subject), Some(upheld_at), Some(hash)) = (subject.get(row), upheld_at.get(row), hash.get(row)) {
            records.entry(subject.to_owned()).or_default().upheld.push(Upheld {
                upheld_at,
                basis: basis.get(row).map(str::to_owned),
                categories,
                direction: direction.get(row).map(str::to_owned),
                claimant_anchor_hash: hash.to_owned(),
                answered_at: answered_at.get(row),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: i64 = 1_796_000_000_000;

    fn upheld(upheld_at: i64, hash: &str) -> Upheld {
        Upheld {
            upheld_at,
            basis: Some("arbiter".to_owned()),
            categories: vec!["solicitation".to_owned()],
            direction: Some("one_way".to_owned()),
            claimant_anchor_hash: hash.to_owned(),
            answered_at: None,
        }
    }

    #[test]
    fn upheld_entries_stand_by_date_then_by_their_canonical_form() {
        let record = NdaRecord {
            upheld: vec![upheld(T, "sha256:bb"), upheld(T + 1, "sha256:aa"), upheld(T, "sha256:aa")],
            ..NdaRecord::default()
        };
        let block = record.block(&json!(1825));
        let order: Vec<_> = block["upheld"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|entry| (entry["upheld_at"] == instant::format(T), entry["claimant_anchor_hash"].as_str()))
            .collect();
        assert_eq!(order, [(true, Some("sha256:aa")), (true, Some("sha256:bb")), (false, Some("sha256:aa"))]);
    }

    #[test]
    fn categories_are_sorted_and_distinct() {
        let mut entry = upheld(T, "sha256:aa");
        entry.categories = ["源代码", "pricing", "Ä", "pricing", "client list"].map(str::to_owned).to_vec();
        assert_eq!(entry.document()["categories"], json!(["client list", "pricing", "Ä", "源代码"]));
    }

    #[test]
    fn an_answer_is_shown_by_its_date_alone() {
        let mut entry = upheld(T, "sha256:aa");
        assert_eq!((&entry.document()["answered"], &entry.document()["answered_at"]), (&json!(false), &Value::Null));
        entry.answered_at = Some(0);
        assert_eq!(entry.document()["answered"], json!(true));
        assert_eq!(entry.document()["answered_at"], json!("1970-01-01T00:00:00.000Z"));
    }

    #[test]
    fn an_open_claim_is_a_count_and_never_an_entry() {
        let open = OpenClaims { count: 2, claimants: 1, earliest: Some(T), answered: 1 };
        let block = NdaRecord { open, ..NdaRecord::default() }.block(&json!(1825));
        assert_eq!(block["upheld"], json!([]));
        assert_eq!(block["open"], json!({ "count": 2, "claimants": 1, "earliest": instant::format(T), "answered": 1 }));
    }

    #[test]
    fn a_record_of_filed_claims_alone_has_every_member() {
        let closed = ClosedClaims { dismissed: 2, ..ClosedClaims::default() };
        let filed = FiledClaims { open: 1, upheld: 0, closed };
        let expected = json!({
            "record_days": 1825, "upheld": [],
            "open": { "count": 0, "claimants": 0, "earliest": null, "answered": 0 },
            "closed": { "dismissed": 0, "withdrawn": 0, "set_aside": 0, "lapsed": 0 },
            "filed": { "open": 1, "upheld": 0, "dismissed": 2, "withdrawn": 0, "set_aside": 0, "lapsed": 0 },
        });
        assert_eq!(NdaRecord { filed, ..NdaRecord::default() }.block(&json!(1825)), expected);
    }

    #[test]
    fn no_member_names_an_agreement_or_a_claimant() {
        let record = NdaRecord { upheld: vec![upheld(T, "sha256:aa")], ..NdaRecord::default() };
        let entry = &record.block(&json!(1825))["upheld"][0];
        let members: Vec<_> = entry.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let allowed =
            ["answered", "answered_at", "basis", "categories", "claimant_anchor_hash", "direction", "upheld_at"];
        assert_eq!(members, allowed);
    }
}
