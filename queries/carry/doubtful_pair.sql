-- One row an evaluator and subject some of whose attestations stand in interactions that are judged again, wherever corrections move them.
--
--   evaluator, subject   the key
--   first_at, last_at    instants of the first and the last of these attestations. Where one was moved, of the evaluator's, about any subject
--
-- `reached_interaction` holds the interactions.
with mine as (
    select a.seq, a.at, a.evaluator, a.subject from reached_interaction r join attested a on a.interaction_id = r.interaction_id
),
observed as (
    select f.seq from reached_interaction r join fact f on f.interaction_id = r.interaction_id
    union all
    select seq from mine
),
moved as (
    select distinct c.set_subject as subject from observed o join corrected c on c.target_seq = o.seq where c.set_subject is not null
),
by_evaluator as (
    select m.evaluator, min(m.at) as first_at, max(m.at) as last_at from mine m group by m.evaluator
),
pair as (
    select m.evaluator, m.subject, m.at as first_at, m.at as last_at from mine m
    union all
    select e.evaluator, m.subject, e.first_at, e.last_at from by_evaluator e cross join moved m
)
select p.evaluator, p.subject, min(p.first_at) as first_at, max(p.last_at) as last_at
from pair p
group by p.evaluator, p.subject
