-- One row an entry that counts for no figure, whatever it says (profile 1.7).
--
--   seq   the entry
--
-- An error finding takes an entry out. So does `withheld`: a self-dealing, competitor or over-ceiling entry of the last 24 hours
-- whose exclusion has not been recorded yet, which is no finding and counts for nothing (1.7, exclude.missing).
select seq from finding where severity = 'error'
union
select seq from withheld
order by seq
