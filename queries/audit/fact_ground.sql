-- One row a fact without error that no correction voided (profile 1.7, exclude.missing; 2.10).
--
--   seq, at                  the entry and its instant
--   subject                  about whom, as corrected at T
--   caller_anchor_hash       who called
--   transport, derived_outcome, derived_from   what its own code comes from (profile 2.3, steps 3 to 5)
--   broken                   whether a check of it that counts was not held
--   excluded                 whether a standing exclusion names it as self-dealing
with latest as (
    select target_seq, kind, set_subject from correction_span where until_seq is null
),
seen as (
    select f.seq, f.at, f.subject, f.caller_anchor_hash, f.transport, f.derived_outcome, f.derived_from
    from policy p
    cross join fact f
    where f.at <= p.as_of
),
good as (
    select f.* from faulty x right join seen f on f.seq = x.seq where x.seq is null
),
placed as (
    select f.seq, f.at, coalesce(c.set_subject, f.subject) as subject, f.caller_anchor_hash, f.transport, f.derived_outcome,
           f.derived_from
    from latest c
    right join good f on f.seq = c.target_seq
    where coalesce(c.kind, 'none') <> 'void'
),
checked as (
    select k.seq, k.at, k.subject, k.caller_anchor_hash, k.transport, k.derived_outcome, k.derived_from,
           coalesce(b.broken, 0) > 0 as broken
    from fact_check b
    right join placed k on k.seq = b.fact_seq and k.subject = b.subject
),
given as (
    select distinct x.target_seq
    from policy p
    cross join excluded x
    left join latest c on c.target_seq = x.seq
    where x.at <= p.as_of and coalesce(c.kind, 'none') <> 'void' and x.target_seq < x.seq and x.reason = 'self_dealing'
)
select k.seq, k.at, k.subject, k.caller_anchor_hash, k.transport, k.derived_outcome, k.derived_from, k.broken,
       g.target_seq is not null as excluded
from given g
right join checked k on k.seq = g.target_seq
