-- What is counted over all eligible decisions up to as_of, never over the window (4.2): scorability, the threshold of
-- UNRATED, the start of tenure, and the decision penalties, which volume does not undo.
-- Grain: one row an agent with an eligible decision, ordered by agent_id.
-- Columns: decisions_all_time; material_all_time (ten-millionths of a dollar, over the agent's observation; a DECIMAL,
--   since a long history of the largest amounts passes 64 bits); cleared_decisions_all_time;
--   attestable_decisions_all_time (cleared where a receipt was available); first_decision_at;
--   scope_breaches, budget_breaches, sanctions_matches, confirmed_true_positives (rows).
select
    agent_id,
    count(*) as decisions_all_time,
    sum(cast(weight as decimal(28, 0))) as material_all_time,
    count(case when cleared then 1 end) as cleared_decisions_all_time,
    count(case when cleared and receipt_available then 1 end) as attestable_decisions_all_time,
    min(created_at) as first_decision_at,
    count(case when denial = 'scope' then 1 end) as scope_breaches,
    count(case when denial = 'budget' then 1 end) as budget_breaches,
    count(case when denial = 'sanctions' then 1 end) as sanctions_matches,
    count(case when confirmed then 1 end) as confirmed_true_positives
from decision
group by agent_id
order by agent_id
