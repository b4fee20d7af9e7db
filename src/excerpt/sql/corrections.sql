-- One row an entry of the excerpt with a correction that stands.
select c.target_seq, c.correction_seq, c.kind
from correction c
join excerpt_entry e on e.seq = c.target_seq
order by c.target_seq
