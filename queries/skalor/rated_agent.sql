-- The agents that exist at as_of, each with its controller's rung and the quantity that one full observation of it is
-- worth (4.1, 4.2, 4.5).
-- Grain: one row an agent created at or before as_of, ordered by agent_id.
-- Columns: agent_id; organization_id; mpp_did; data_provenance;
--   observation (ten-millionths of a dollar): a tenth of per_transaction_limit, or one dollar where that is null or 0.
--   A micro-dollar of the limit is ten ten-millionths, so a tenth of it is the same integer in the finer unit;
--   verification_level: none, domain or kyb, none where the proof is dated after as_of; verified_at, null for none.
select
    a.id as agent_id,
    a.organization_id,
    a.mpp_did,
    a.data_provenance,
    case
        when a.per_transaction_limit_micro is null or a.per_transaction_limit_micro = 0 then cast(10000000 as bigint)
        else a.per_transaction_limit_micro
    end as observation,
    case
        when o.verification_level <> 'none' and o.verified_at <= p.as_of then o.verification_level
        else 'none'
    end as verification_level,
    case when o.verification_level <> 'none' and o.verified_at <= p.as_of then o.verified_at end as verified_at
from organizations o
inner join agents a on o.id = a.organization_id
cross join rating_policy p
where a.created_at <= p.as_of
order by agent_id
