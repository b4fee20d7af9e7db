-- The observed decisions: each agent's latest rating_window_decisions eligible ones (4.2).
-- Grain: one row an observed decision, ordered by agent_id, recency. Columns: as in decision.
-- Whether a factor can be scored is never read from here: the window forgets, and scorability must not.
select d.*
from decision d
cross join rating_policy p
where d.recency <= p.rating_window_decisions
order by d.agent_id, d.recency
