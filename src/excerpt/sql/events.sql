-- One row an event of a pool of the subject, the heaviest first.
select e.seq, e.capability, e.kind, e.code, e.v, e.t, e.weight, e.evaluator_anchor_hash
from event e
join excerpted x on x.subject = e.subject
order by e.capability nulls first, e.weight desc, e.seq
