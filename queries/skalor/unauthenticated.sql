-- Decisions marked as sent by a caller that was not authenticated: counted here, and read by nothing else (4.2).
-- Grain: one row an agent that has one at or before as_of, ordered by agent_id.
-- Columns: unauthenticated_decisions_excluded (rows).
select
    t.agent_id,
    count(*) as unauthenticated_decisions_excluded
from rated_agent a
inner join transactions t on a.agent_id = t.agent_id
cross join rating_policy p
where t.created_at <= p.as_of
  and t.caller_authenticated = false
group by t.agent_id
order by t.agent_id
