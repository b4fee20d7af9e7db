-- One row an entry of the whole file, with the instant of the entry before it (profile 1.7, chain.clock).
--
--   seq         the entry
--   at          when the bureau recorded it; null where it cannot be read
--   before_at   that of the entry before it in seq; null for the first
select l.seq, l.at, lag(l.at) over (order by l.seq) as before_at
from ledger l
