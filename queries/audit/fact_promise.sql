-- One row a fact, in error, duplicate or voided ones too, of which some check counts for nothing (profile 1.7, fact.promise).
--
--   seq        the fact
--   reporter   who supplied it
--   stray      how many of its checks, with the subject as corrected at T
with latest as (
    select target_seq, kind, set_subject from correction_span where until_seq is null
)
select f.seq, f.reporter, k.stray
from fact_check k
join fact f on f.seq = k.fact_seq
left join latest c on c.target_seq = f.seq
where k.stray > 0 and k.subject = case when c.kind = 'amend' then coalesce(c.set_subject, f.subject) else f.subject end
