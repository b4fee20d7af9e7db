-- One row a fact that no correction voided and a standing exclusion of it, in seq order (profile 1.7, exclude.*; 2.10). A fact
-- that nothing excludes has one row.
--
--   seq, at                  the entry and its instant
--   subject                  about whom, as corrected at T
--   caller_anchor_hash       who called
--   transport, derived_outcome, derived_from   what its own code comes from (profile 2.3, steps 3 to 5)
--   broken                   whether a check of it that counts was not held
--   counts                   false where it is in error
--   exclusion_seq, reason    the exclusion, or null
with latest as (
    select target_seq, kind, set_subject from correction_span where until_seq is null
),
placed as (
    select f.seq, f.at, coalesce(c.set_subject, f.subject) as subject, f.caller_anchor_hash, f.transport, f.derived_outcome,
           f.derived_from, x.seq is null as counts
    from fact f
    cross join policy p
    left join latest c on c.target_seq = f.seq
    left join faulty x on x.seq = f.seq
    where f.at <= p.as_of and coalesce(c.kind, 'none') <> 'void'
),
standing as (
    select x.seq, x.target_seq, x.reason
    from excluded x
    cross join policy p
    left join latest c on c.target_seq = x.seq
    where x.at <= p.as_of and coalesce(c.kind, 'none') <> 'void' and x.target_seq < x.seq
)
select k.seq, k.at, k.subject, k.caller_anchor_hash, k.transport, k.derived_outcome, k.derived_from,
       coalesce(b.broken, 0) > 0 as broken, k.counts, s.seq as exclusion_seq, s.reason
from placed k
left join fact_check b on b.fact_seq = k.seq and b.subject = k.subject
left join standing s on s.target_seq = k.seq
order by k.seq, s.seq
