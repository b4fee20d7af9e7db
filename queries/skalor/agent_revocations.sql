-- Revocations that stand against each agent at as_of: revoked by then and not rescinded by then (4.3, 4.5).
-- Grain: one row an agent that has one, ordered by agent_id.
-- Columns: active (of any reason); active_grave (fraud, compromise or policy_violation).
select
    r.agent_id,
    count(*) as active,
    count(case when r.reason in ('fraud', 'compromise', 'policy_violation') then 1 end) as active_grave
from rated_agent a
inner join revocations r on a.agent_id = r.agent_id
cross join rating_policy p
where r.revoked_at <= p.as_of
  and (r.rescinded_at is null or r.rescinded_at > p.as_of)
group by r.agent_id
order by r.agent_id
