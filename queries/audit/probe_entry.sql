-- One row a probe, by itself (profile 1.7, fact.times).
--
--   seq, at     the entry and its instant
--   reporter    who supplied it
--   ended_at    when the probe ended
select b.seq, b.at, b.reporter, b.ended_at
from policy p
cross join probed b
where b.at <= p.as_of
