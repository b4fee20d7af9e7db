-- attestation_coverage over the observed decisions (4.3).
-- Grain: one row an agent with an observed decision, ordered by agent_id.
-- Columns: good, bad, n (ten-millionths of a dollar, over the agent's observation), good_decisions, bad_decisions (rows).
-- good: cleared where a receipt was available, with a matching attestation and a signed receipt; bad: cleared where
-- one was available, otherwise; n: both.
select
    agent_id,
    coalesce(sum(case when cleared and receipt_available and proven then weight end), 0) as good,
    coalesce(sum(case when cleared and receipt_available and not proven then weight end), 0) as bad,
    coalesce(sum(case when cleared and receipt_available then weight end), 0) as n,
    count(case when cleared and receipt_available and proven then 1 end) as good_decisions,
    count(case when cleared and receipt_available and not proven then 1 end) as bad_decisions
from observed_decision
group by agent_id
order by agent_id
