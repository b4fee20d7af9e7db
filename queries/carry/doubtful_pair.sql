-- One row an evaluator and subject some of whose attestations stand in interactions that are judged again, wherever corrections move them.
--
--   evaluator, subject   the key
--
-- `reached_interaction` holds the interactions.
with mine as (
    select a.seq, a.evaluator, a.subject from reached_interaction r join attested a on a.interaction_id = r.interaction_id
),
observed as (
    select f.seq from reached_interaction r join fact f on f.interaction_id = r.interaction_id
    union all
    select seq from mine
),
moved as (
    select distinct c.set_subject as subject from observed o join corrected c on c.target_seq = o.seq where c.set_subject is not null
),
evaluator as (
    select distinct evaluator from mine
)
select evaluator, subject from mine
union
select e.evaluator, m.subject from evaluator e cross join moved m
