-- One row a finding about an entry of the excerpt: rule and severity, without its words.
select distinct f.seq, f.rule, f.severity
from finding f
join excerpt_entry e on e.seq = f.seq
order by f.seq, f.rule
