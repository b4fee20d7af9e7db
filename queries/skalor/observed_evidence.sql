-- The counts that the evidence block shows of the observed decisions, and what the two route cases need (4.2, 4.5).
-- Grain: one row an agent with an observed decision, ordered by agent_id.
-- Columns: decisions; material (ten-millionths of a dollar, over the agent's observation); cleared_decisions;
--   parked_decisions_approved; parked_decisions_denied; cleared_authorize_intent (cleared, on that route);
--   cleared_x402_pay_ungated (cleared on /x402-pay before that rail ran Gate 6).
select
    d.agent_id,
    count(*) as decisions,
    sum(d.weight) as material,
    count(case when d.cleared then 1 end) as cleared_decisions,
    count(case when d.resolution = 'approved' then 1 end) as parked_decisions_approved,
    count(case when d.resolution = 'denied' then 1 end) as parked_decisions_denied,
    count(case when d.cleared and d.route = '/authorize-intent' then 1 end) as cleared_authorize_intent,
    count(case when d.cleared and d.route = '/x402-pay' and d.created_at < p.x402_gate6_from then 1 end)
        as cleared_x402_pay_ungated
from observed_decision d
cross join rating_policy p
group by d.agent_id
order by d.agent_id
