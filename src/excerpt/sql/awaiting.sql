-- One row an entry of the excerpt that waits for an exclusion (profile 1.7, exclude.missing).
select distinct w.seq
from withheld w
join excerpt_entry e on e.seq = w.seq
order by w.seq
