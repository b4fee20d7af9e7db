-- Every eligible decision up to as_of, read once for every factor and penalty (4.1, 4.2, 4.3).
-- Grain: one row an eligible decision: of an agent that exists at as_of, dated at or before it, and not marked as
--   sent by a caller that was not authenticated. Ordered by agent_id, recency.
-- Columns: agent_id; id; created_at; route;
--   recency (1 is the agent's latest by created_at, then id in UTF-8 bytes);
--   weight (ten-millionths of a dollar, of the agent's observation): min(amount, observation);
--   cleared; receipt_available; proven (a matching runtime attestation and a signed receipt);
--   denial: scope, budget, sanctions, gate, parked, neutral, or null on a row that is not denied;
--   resolution: approved or denied, of a parked decision that the controller resolved by as_of, else null;
--   tier; review: for or against, of a tier other than safe that a human labelled, or of a parked decision
--   approved, else null; confirmed (labelled true_positive on such a tier); settlement.
with eligible as (
    select
        t.agent_id,
        t.id,
        t.created_at,
        t.route,
        case when t.amount_micro * 10 < a.observation then t.amount_micro * 10 else a.observation end as weight,
        t.approval_status in ('approved', 'cleared_by_firewall') as cleared,
        coalesce(t.attestation_receipt_available, coalesce(t.attestation_status, '') <> 'skipped') as receipt_available,
        coalesce(t.attestation_status = 'matched', false) and t.receipt_signed as proven,
        case
            when t.approval_status <> 'denied' then null
            when t.denial_reason in ('VENDOR_NOT_ALLOWLISTED', 'AGENT_PAUSED', 'RUNTIME_MISMATCH') then 'scope'
            when t.denial_reason in ('PER_TRANSACTION_LIMIT_EXCEEDED', 'DAILY_BUDGET_EXCEEDED') then 'budget'
            when t.denial_reason = 'SANCTIONS_MATCH' then 'sanctions'
            when t.denial_reason = 'GATE6_BLOCK' then 'gate'
            when t.denial_reason = 'REQUIRES_HUMAN_APPROVAL' then 'parked'
            else 'neutral'
        end as denial,
        case
            when t.resolution_key_id is not null and t.resolution_resolved_at <= p.as_of then t.resolution_decision
        end as resolved,
        t.gate6_tier as tier,
        case when t.gate6_tier in ('watch', 'warn', 'critical') then t.gate6_label end as label,
        t.settlement_status as settlement
    from rated_agent a
    inner join transactions t on a.agent_id = t.agent_id
    cross join rating_policy p
    where t.created_at <= p.as_of
      and (t.caller_authenticated is null or t.caller_authenticated)
)
select
    agent_id,
    id,
    created_at,
    route,
    cast(row_number() over (partition by agent_id order by created_at desc, id desc) as bigint) as recency,
    weight,
    cleared,
    receipt_available,
    proven,
    denial,
    case when denial = 'parked' then resolved end as resolution,
    tier,
    case
        when label = 'true_positive' then 'against'
        when label in ('false_positive', 'benign') then 'for'
        when denial = 'parked' and resolved = 'approved' then 'for'
    end as review,
    coalesce(label = 'true_positive', false) as confirmed,
    settlement
from eligible
order by agent_id, recency
