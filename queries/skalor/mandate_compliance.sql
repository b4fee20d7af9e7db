-- mandate_compliance over the observed decisions (4.3). The breach rate of 4.4 is bad over n.
-- Grain: one row an agent with an observed decision, ordered by agent_id.
-- Columns: good, bad, n (ten-millionths of a dollar, over the agent's observation), good_decisions, bad_decisions (rows).
-- good: cleared, or parked and approved; bad: denied for scope, budget, sanctions or the gate; n: both.
select
    agent_id,
    coalesce(sum(case when cleared or resolution = 'approved' then weight end), 0) as good,
    coalesce(sum(case when denial in ('scope', 'budget', 'sanctions', 'gate') then weight end), 0) as bad,
    coalesce(sum(case when cleared or resolution = 'approved' or denial in ('scope', 'budget', 'sanctions', 'gate') then weight end), 0) as n,
    count(case when cleared or resolution = 'approved' then 1 end) as good_decisions,
    count(case when denial in ('scope', 'budget', 'sanctions', 'gate') then 1 end) as bad_decisions
from observed_decision
group by agent_id
order by agent_id
