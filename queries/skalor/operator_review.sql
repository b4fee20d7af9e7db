-- operator_review over the observed decisions (4.3). A decision counts once.
-- Grain: one row an agent with an observed decision, ordered by agent_id.
-- Columns: good, bad, n (ten-millionths of a dollar, over the agent's observation), good_decisions, bad_decisions (rows).
-- good: labelled false_positive or benign, or parked and approved; bad: labelled true_positive; n: both.
select
    agent_id,
    coalesce(sum(case when review = 'for' then weight end), 0) as good,
    coalesce(sum(case when review = 'against' then weight end), 0) as bad,
    coalesce(sum(case when review is not null then weight end), 0) as n,
    count(case when review = 'for' then 1 end) as good_decisions,
    count(case when review = 'against' then 1 end) as bad_decisions
from observed_decision
group by agent_id
order by agent_id
