//! The five tables, one struct a table: what a row must have (4.1), and the columns that SQL reads of it.

use super::cell::{Fault, Source, required};
use super::columns::{Type, Value};

/// A table of 4.1, in the order in which they are read: a row may name a row of an earlier table only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// The controllers.
    Organizations,
    /// The agents.
    Agents,
    /// The decisions.
    Transactions,
    /// Slashes of an agent's stake.
    SlashEvents,
    /// Revocations of an agent.
    Revocations,
}

impl Table {
    /// Every table.
    pub const ALL: [Table; 5] =
        [Table::Organizations, Table::Agents, Table::Transactions, Table::SlashEvents, Table::Revocations];

    /// The name of the table: of its file, without the form, and in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Table::Organizations => "organizations",
            Table::Agents => "agents",
            Table::Transactions => "transactions",
            Table::SlashEvents => "slash_events",
            Table::Revocations => "revocations",
        }
    }
}

/// A column for SQL: name, type, whether it may be null.
pub(super) type ColumnSpec = (&'static str, Type, bool);

/// A valid row of a table.
pub(super) trait Record: Sized + Send {
    const TABLE: Table;
    /// The columns that SQL reads, in the order of [`Record::values`].
    const COLUMNS: &'static [ColumnSpec];

    fn read(row: Source<'_>) -> Result<Self, Fault>;

    fn id(&self) -> &str;

    /// The member that names a row of another table, that table, and the id it names.
    fn names(&self) -> Option<(&'static str, Table, &str)> {
        None
    }

    fn values(&self, put: &mut dyn FnMut(Value<'_>));

    /// A denial reason of the row that the method does not know (4.1).
    fn unknown_reason(&self) -> Option<&str> {
        None
    }
}

pub(super) struct Organization {
    id: String,
    domain: Option<String>,
    verification_level: &'static str,
    verified_at: Option<i64>,
    verified_by: Option<String>,
}

impl Record for Organization {
    const TABLE: Table = Table::Organizations;
    const COLUMNS: &'static [ColumnSpec] = &[
        ("id", Type::Text, false),
        ("domain", Type::Text, true),
        ("verification_level", Type::Text, false),
        ("verified_at", Type::Instant, true),
        ("verified_by", Type::Text, true),
    ];

    fn read(row: Source<'_>) -> Result<Self, Fault> {
        let organization = Organization {
            id: id(row)?,
            domain: row.text("domain")?.map(str::to_owned),
            verification_level: required(
                "verification_level",
                row.one_of("verification_level", &["none", "domain", "kyb"])?,
            )?,
            verified_at: row.instant("verified_at")?,
            verified_by: row.text("verified_by")?.map(str::to_owned),
        };
        let (domain, verified_at, verified_by) =
            (&organization.domain, organization.verified_at, &organization.verified_by);
        match organization.verification_level {
            "domain" => {
                required("domain", domain.as_ref())?;
                required("verified_at", verified_at)?;
            }
            "kyb" => {
                required("verified_at", verified_at)?;
                required("verified_by", verified_by.as_ref())?;
            }
            _ => {}
        }
        Ok(organization)
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn values(&self, put: &mut dyn FnMut(Value<'_>)) {
        put(Value::Text(Some(&self.id)));
        put(Value::Text(self.domain.as_deref()));
        put(Value::Text(Some(self.verification_level)));
        put(Value::Whole(self.verified_at));
        put(Value::Text(self.verified_by.as_deref()));
    }
}

pub(super) struct Agent {
    id: String,
    mpp_did: String,
    organization_id: String,
    per_transaction_limit: Option<i64>,
    data_provenance: &'static str,
    created_at: i64,
}

impl Record for Agent {
    const TABLE: Table = Table::Agents;
    const COLUMNS: &'static [ColumnSpec] = &[
        ("id", Type::Text, false),
        ("mpp_did", Type::Text, false),
        ("organization_id", Type::Text, false),
        ("per_transaction_limit_micro", Type::Whole, true),
        ("data_provenance", Type::Text, false),
        ("created_at", Type::Instant, false),
    ];

    fn read(row: Source<'_>) -> Result<Self, Fault> {
        Ok(Agent {
            id: id(row)?,
            mpp_did: required("mpp_did", row.text("mpp_did")?)?.to_owned(),
            organization_id: required("organization_id", row.text("organization_id")?)?.to_owned(),
            per_transaction_limit: row.money("per_transaction_limit")?,
            data_provenance: required(
                "data_provenance",
                row.one_of("data_provenance", &["live", "synthetic_fixture", "test_harness"])?,
            )?,
            created_at: required("created_at", row.instant("created_at")?)?,
        })
    }

    fn names(&self) -> Option<(&'static str, Table, &str)> {
        Some(("organization_id", Table::Organizations, &self.organization_id))
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn values(&self, put: &mut dyn FnMut(Value<'_>)) {
        put(Value::Text(Some(&self.id)));
        put(Value::Text(Some(&self.mpp_did)));
        put(Value::Text(Some(&self.organization_id)));
        put(Value::Whole(self.per_transaction_limit));
        put(Value::Text(Some(self.data_provenance)));
        put(Value::Whole(Some(self.created_at)));
    }
}

pub(super) struct Slash {
    id: String,
    agent_id: String,
    status: &'static str,
    created_at: i64,
}

impl Record for Slash {
    const TABLE: Table = Table::SlashEvents;
    const COLUMNS: &'static [ColumnSpec] = &[
        ("id", Type::Text, false),
        ("agent_id", Type::Text, false),
        ("status", Type::Text, false),
        ("created_at", Type::Instant, false),
    ];

    fn read(row: Source<'_>) -> Result<Self, Fault> {
        Ok(Slash {
            id: id(row)?,
            agent_id: agent_id(row)?,
            status: required("status", row.one_of("status", &["executed", "pending", "disputed", "reversed"])?)?,
            created_at: required("created_at", row.instant("created_at")?)?,
        })
    }

    fn names(&self) -> Option<(&'static str, Table, &str)> {
        Some(("agent_id", Table::Agents, &self.agent_id))
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn values(&self, put: &mut dyn FnMut(Value<'_>)) {
        put(Value::Text(Some(&self.id)));
        put(Value::Text(Some(&self.agent_id)));
        put(Value::Text(Some(self.status)));
        put(Value::Whole(Some(self.created_at)));
    }
}

pub(super) struct Revocation {
    id: String,
    agent_id: String,
    reason: &'static str,
    revoked_at: i64,
    rescinded_at: Option<i64>,
}

impl Record for Revocation {
    const TABLE: Table = Table::Revocations;
    const COLUMNS: &'static [ColumnSpec] = &[
        ("id", Type::Text, false),
        ("agent_id", Type::Text, false),
        ("reason", Type::Text, false),
        ("revoked_at", Type::Instant, false),
        ("rescinded_at", Type::Instant, true),
    ];

    fn read(row: Source<'_>) -> Result<Self, Fault> {
        Ok(Revocation {
            id: id(row)?,
            agent_id: agent_id(row)?,
            reason: required(
                "reason",
                row.one_of("reason", &["fraud", "compromise", "policy_violation", "key_rotation", "other"])?,
            )?,
            revoked_at: required("revoked_at", row.instant("revoked_at")?)?,
            rescinded_at: row.instant("rescinded_at")?,
        })
    }

    fn names(&self) -> Option<(&'static str, Table, &str)> {
        Some(("agent_id", Table::Agents, &self.agent_id))
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn values(&self, put: &mut dyn FnMut(Value<'_>)) {
        put(Value::Text(Some(&self.id)));
        put(Value::Text(Some(&self.agent_id)));
        put(Value::Text(Some(self.reason)));
        put(Value::Whole(Some(self.revoked_at)));
        put(Value::Whole(self.rescinded_at));
    }
}

pub(super) fn id(row: Source<'_>) -> Result<String, Fault> {
    Ok(required("id", row.text("id")?)?.to_owned())
}

pub(super) fn agent_id(row: Source<'_>) -> Result<String, Fault> {
    Ok(required("agent_id", row.text("agent_id")?)?.to_owned())
}
