-- One row a fact beside an earlier one of the same interaction and subject (profile 1.7, fact.duplicate), among the facts
-- without error, with the corrections up to T; a voided fact is none.
--
--   seq   the fact
with latest as (
    select target_seq, kind, set_subject, set_interaction_id from correction_span where until_seq is null
),
seen as (
    select f.seq, f.interaction_id, f.subject from policy p cross join fact f where f.at <= p.as_of
),
good as (
    select f.* from faulty x right join seen f on f.seq = x.seq where x.seq is null
),
standing as (
    select f.seq, coalesce(c.set_interaction_id, f.interaction_id) as interaction_id, coalesce(c.set_subject, f.subject) as subject
    from latest c
    right join good f on f.seq = c.target_seq
    where coalesce(c.kind, 'none') <> 'void'
),
repeated as (
    select interaction_id, subject, min(seq) as first_seq
    from standing
    group by interaction_id, subject
    having count(*) > 1
)
select s.seq
from repeated r
join standing s on s.interaction_id = r.interaction_id and s.subject = r.subject
where s.seq > r.first_seq
