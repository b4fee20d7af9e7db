-- One row an exclusion that stands of an entry of the excerpt.
select x.target_seq, x.seq, x.reason
from standing_exclusion x
join excerpt_entry e on e.seq = x.target_seq
order by x.target_seq, x.seq
