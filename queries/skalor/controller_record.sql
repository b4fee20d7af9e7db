-- The record of a controller over every agent it stands behind, whatever the agent's tier (4.3, controller_standing).
-- Grain: one row an organization with an agent at as_of, ordered by organization_id.
-- Columns: agents; executed, unadjudicated (slashes); active_grave (active revocations for fraud, compromise or
--   policy_violation). The controller's material is summed by the reader, since each agent's is rounded first.
select
    a.organization_id,
    count(*) as agents,
    cast(coalesce(sum(s.executed), 0) as bigint) as executed,
    cast(coalesce(sum(s.unadjudicated), 0) as bigint) as unadjudicated,
    cast(coalesce(sum(r.active_grave), 0) as bigint) as active_grave
from rated_agent a
left join agent_slashes s on s.agent_id = a.agent_id
left join agent_revocations r on r.agent_id = a.agent_id
group by a.organization_id
order by a.organization_id
