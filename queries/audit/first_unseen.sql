-- One row: the first entry that an earlier audit, at an earlier T, could not see though the file held it.
--
--   seq   null for none
--
-- `seen` has one row: `until`, that audit's T.
select min(l.seq) as seq from seen s cross join ledger l where l.at > s.until
