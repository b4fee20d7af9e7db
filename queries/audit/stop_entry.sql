-- One row a stop, by itself (profile 1.7, stop.forbidden).
--
--   seq                        the entry
--   reporter                   who supplied it
--   class, ground, resolution  as it names them, or null
select s.seq, s.reporter, s.class, s.ground, s.resolution
from policy p
cross join stopped s
where s.at <= p.as_of
