-- Slashes recorded against each agent's own stake up to as_of; reversed ones count nowhere (4.3, 4.4).
-- Grain: one row an agent that has one, ordered by agent_id.
-- Columns: executed; unadjudicated (pending or disputed).
select
    s.agent_id,
    count(case when s.status = 'executed' then 1 end) as executed,
    count(case when s.status in ('pending', 'disputed') then 1 end) as unadjudicated
from rated_agent a
inner join slash_events s on a.agent_id = s.agent_id
cross join rating_policy p
where s.created_at <= p.as_of
  and s.status <> 'reversed'
group by s.agent_id
order by s.agent_id
