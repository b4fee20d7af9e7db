-- One row a standing fact that names the subject as its sender (spec 4.7).
select s.seq, s.ended_at
from standing_fact s
join excerpted x on x.subject = s.sender
order by s.seq
