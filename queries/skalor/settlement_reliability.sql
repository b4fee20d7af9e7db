-- settlement_reliability over the observed decisions (4.3).
-- Grain: one row an agent with an observed decision, ordered by agent_id.
-- Columns: good, bad, n (ten-millionths of a dollar, over the agent's observation), good_decisions, bad_decisions (rows).
-- good: confirmed; bad: failed; n: both.
select
    agent_id,
    coalesce(sum(case when settlement = 'confirmed' then weight end), 0) as good,
    coalesce(sum(case when settlement = 'failed' then weight end), 0) as bad,
    coalesce(sum(case when settlement in ('confirmed', 'failed') then weight end), 0) as n,
    count(case when settlement = 'confirmed' then 1 end) as good_decisions,
    count(case when settlement = 'failed' then 1 end) as bad_decisions
from observed_decision
group by agent_id
order by agent_id
