-- One row an interaction that was probed: its earliest `probed` entry, as corrected (profile 2.3). A probe stays where it was
-- recorded when a fact is moved (2.10). In no order.
--
--   seq, at                   the entry and its instant
--   interaction_id, subject   the key of the interaction
--   capability                the probe's own; that of the interaction only where there is no fact
--   result                    PASS or FAIL
--   ended_at                  instant of the probe
with seen as (
    select b.seq, b.at, b.interaction_id, b.subject, b.capability, b.result, b.ended_at
    from policy p
    cross join probed b
    where b.at <= p.as_of
),
good as (
    select b.* from discounted d right join seen b on b.seq = d.seq where d.seq is null
),
keyed as (
    select b.seq, b.at,
           coalesce(c.set_interaction_id, b.interaction_id) as interaction_id,
           coalesce(c.set_subject, b.subject) as subject,
           case when coalesce(c.set_capability_null, false) then null
                else coalesce(c.set_capability, b.capability) end as capability,
           b.result, b.ended_at
    from correction c
    right join good b on b.seq = c.target_seq
    where coalesce(c.kind, 'none') <> 'void'
),
repeated as (
    select interaction_id, subject, min(seq) as first_seq
    from keyed
    group by interaction_id, subject
    having count(*) > 1
)
select k.seq, k.at, k.interaction_id, k.subject, k.capability, k.result, k.ended_at
from repeated r
right join keyed k on r.interaction_id = k.interaction_id and r.subject = k.subject
where r.first_seq is null or r.first_seq = k.seq
