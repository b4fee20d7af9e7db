-- One row a fact, by itself (profile 1.7: fact.times, fact.sender).
--
--   seq, at                the entry and its instant
--   reporter               who supplied it
--   caller_anchor_hash     the caller's
--   sender                 the caller's handle, or null
--   started_at, ended_at   instants of the call
select f.seq, f.at, f.reporter, f.caller_anchor_hash, f.sender, f.started_at, f.ended_at
from policy p
cross join fact f
where f.at <= p.as_of
