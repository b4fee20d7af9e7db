//! A decision, the largest table of 4.1, and the denial reasons that the method knows.

use super::cell::{Fault, Source, required};
use super::columns::{Type, Value};
use super::record::{ColumnSpec, Record, Table, agent_id, id};

/// The denial reasons that mean something to the method. Any other is neutral, and a warning.
pub const DENIAL_REASONS: [(&str, &str); 8] = [
    ("VENDOR_NOT_ALLOWLISTED", "scope"),
    ("AGENT_PAUSED", "scope"),
    ("RUNTIME_MISMATCH", "scope"),
    ("PER_TRANSACTION_LIMIT_EXCEEDED", "budget"),
    ("DAILY_BUDGET_EXCEEDED", "budget"),
    ("SANCTIONS_MATCH", "sanctions"),
    ("GATE6_BLOCK", "gate"),
    ("REQUIRES_HUMAN_APPROVAL", "parked"),
];

pub(super) struct Transaction {
    id: String,
    agent_id: String,
    created_at: i64,
    route: &'static str,
    amount: i64,
    approval_status: &'static str,
    denial_reason: Option<String>,
    settlement_status: Option<&'static str>,
    gate6_tier: Option<&'static str>,
    gate6_label: Option<&'static str>,
    attestation_status: Option<&'static str>,
    receipt_signed: bool,
    metadata: Metadata,
}

#[derive(Default)]
struct Metadata {
    caller_authenticated: Option<bool>,
    attestation_receipt_available: Option<bool>,
    resolution: Option<Resolution>,
}

struct Resolution {
    decision: &'static str,
    key_id: Option<String>,
    resolved_at: i64,
}

impl Record for Transaction {
    const TABLE: Table = Table::Transactions;
    const COLUMNS: &'static [ColumnSpec] = &[
        ("id", Type::Text, false),
        ("agent_id", Type::Text, false),
        ("created_at", Type::Instant, false),
        ("route", Type::Text, false),
        ("amount_micro", Type::Whole, false),
        ("approval_status", Type::Text, false),
        ("denial_reason", Type::Text, true),
        ("settlement_status", Type::Text, true),
        ("gate6_tier", Type::Text, true),
        ("gate6_label", Type::Text, true),
        ("attestation_status", Type::Text, true),
        ("receipt_signed", Type::Boolean, false),
        ("caller_authenticated", Type::Boolean, true),
        ("attestation_receipt_available", Type::Boolean, true),
        ("resolution_decision", Type::Text, true),
        ("resolution_key_id", Type::Text, true),
        ("resolution_resolved_at", Type::Instant, true),
    ];

    fn read(row: Source<'_>) -> Result<Self, Fault> {
        let transaction = Transaction {
            id: id(row)?,
            agent_id: agent_id(row)?,
            created_at: required("created_at", row.instant("created_at")?)?,
            route: required("route", row.one_of("route", &["/authorize-intent", "/x402-pay"])?)?,
            amount: required("amount_usd", row.money("amount_usd")?)?,
            approval_status: required(
                "approval_status",
                row.one_of("approval_status", &["approved", "cleared_by_firewall", "denied", "pending"])?,
            )?,
            denial_reason: row.text("denial_reason")?.map(str::to_owned),
            settlement_status: row.one_of("settlement_status", &["pending", "confirmed", "failed"])?,
            gate6_tier: row.one_of("gate6_tier", &["safe", "watch", "warn", "critical"])?,
            gate6_label: row.one_of("gate6_label", &["false_positive", "benign", "true_positive"])?,
            attestation_status: row.one_of("attestation_status", &["matched", "mismatched", "missing", "skipped"])?,
            receipt_signed: required("receipt_signed", row.boolean("receipt_signed")?)?,
            metadata: metadata(row)?,
        };
        if transaction.route == "/x402-pay" && transaction.metadata.caller_authenticated == Some(false) {
            return Err(Fault::of("metadata.caller_authenticated", "false on /x402-pay, which writes no such row"));
        }
        Ok(transaction)
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
        put(Value::Whole(Some(self.created_at)));
        put(Value::Text(Some(self.route)));
        put(Value::Whole(Some(self.amount)));
        put(Value::Text(Some(self.approval_status)));
        put(Value::Text(self.denial_reason.as_deref()));
        put(Value::Text(self.settlement_status));
        put(Value::Text(self.gate6_tier));
        put(Value::Text(self.gate6_label));
        put(Value::Text(self.attestation_status));
        put(Value::Boolean(Some(self.receipt_signed)));
        put(Value::Boolean(self.metadata.caller_authenticated));
        put(Value::Boolean(self.metadata.attestation_receipt_available));
        let resolution = self.metadata.resolution.as_ref();
        put(Value::Text(resolution.map(|resolution| resolution.decision)));
        put(Value::Text(resolution.and_then(|resolution| resolution.key_id.as_deref())));
        put(Value::Whole(resolution.map(|resolution| resolution.resolved_at)));
    }

    fn unknown_reason(&self) -> Option<&str> {
        let reason = self.denial_reason.as_deref().filter(|_| self.approval_status == "denied")?;
        (!DENIAL_REASONS.iter().any(|(known, _)| *known == reason)).then_some(reason)
    }
}

fn metadata(row: Source<'_>) -> Result<Metadata, Fault> {
    let object = required("metadata", row.object("metadata")?)?;
    let members = object.source();
    let mut metadata = Metadata {
        caller_authenticated: members.boolean("metadata.caller_authenticated")?,
        attestation_receipt_available: members.boolean("metadata.attestation_receipt_available")?,
        resolution: None,
    };
    if let Some(object) = members.object("metadata.operator_resolution")? {
        let members = object.source();
        metadata.resolution = Some(Resolution {
            decision: required(
                "metadata.operator_resolution.decision",
                members.one_of("metadata.operator_resolution.decision", &["approved", "denied"])?,
            )?,
            key_id: members.text("metadata.operator_resolution.key_id")?.map(str::to_owned),
            resolved_at: required(
                "metadata.operator_resolution.resolved_at",
                members.instant("metadata.operator_resolution.resolved_at")?,
            )?,
        });
    }
    Ok(metadata)
}
