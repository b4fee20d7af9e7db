-- anomaly_history over the observed decisions (4.3).
-- Grain: one row an agent with an observed decision, ordered by agent_id.
-- Columns: good, bad, n (TWENTY-millionths of a dollar, over twice the agent's observation, since watch counts half),
--   good_decisions, bad_decisions (rows); watch, warn, critical (ten-millionths of a dollar, before they are multiplied).
-- good: safe; bad: watch by a half, warn once, critical twice; n: the weight of every decision with a tier.
select
    agent_id,
    coalesce(sum(case when tier = 'safe' then 2 * weight end), 0) as good,
    coalesce(
        sum(case when tier = 'watch' then weight when tier = 'warn' then 2 * weight when tier = 'critical' then 4 * weight end),
        0
    ) as bad,
    coalesce(sum(case when tier is not null then 2 * weight end), 0) as n,
    count(case when tier = 'safe' then 1 end) as good_decisions,
    count(case when tier in ('watch', 'warn', 'critical') then 1 end) as bad_decisions,
    coalesce(sum(case when tier = 'watch' then weight end), 0) as watch,
    coalesce(sum(case when tier = 'warn' then weight end), 0) as warn,
    coalesce(sum(case when tier = 'critical' then weight end), 0) as critical
from observed_decision
group by agent_id
order by agent_id
