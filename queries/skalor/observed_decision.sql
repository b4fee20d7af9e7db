-- The observed decisions: each agent's latest rating_window_decisions eligible ones (4.2).
-- Grain: one row an observed decision, ordered by agent_id, recency, by which decision names its id.
-- Columns: as in decision.
-- Whether a factor can be scored is never read from here: the window forgets, and scorability must not.
select
    d.agent_id,
    d.recency,
    d.created_at,
    d.route,
    d.weight,
    d.cleared,
    d.receipt_available,
    d.proven,
    d.denial,
    d.resolution,
    d.tier,
    d.review,
    d.settlement
from decision d
cross join rating_policy p
where d.recency <= p.rating_window_decisions
order by d.agent_id, d.recency
