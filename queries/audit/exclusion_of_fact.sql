-- One row a standing exclusion of a fact as self-dealing, of a fact that no correction voided (profile 1.7, exclude.unfounded).
--
--   seq                  the exclusion
--   fact_at, subject, caller_anchor_hash   of the fact: its instant, about whom it is as corrected at T, and who called
with latest as (
    select target_seq, kind, set_subject from correction_span where until_seq is null
)
select x.seq, f.at as fact_at, coalesce(v.set_subject, f.subject) as subject, f.caller_anchor_hash
from policy p
cross join excluded x
join fact f on f.seq = x.target_seq
left join latest c on c.target_seq = x.seq
left join latest v on v.target_seq = x.target_seq
where x.at <= p.as_of and f.at <= p.as_of and x.target_seq < x.seq and x.reason = 'self_dealing'
  and coalesce(c.kind, 'none') <> 'void' and coalesce(v.kind, 'none') <> 'void'
order by x.seq
