-- One row an act that opens or closes an enrollment, in seq order within a subject (profile 2.4). An enrollment while enrolled
-- and a withdrawal while not enrolled are no rows; whether an act is one depends on earlier acts alone.
--
--   subject, seq    the key
--   statement_at    the signed instant
--   enters          true: enrolled; false: withdrew
with act as (
    select e.seq, e.at, e.subject, e.statement_at, true as enters from enrolled e
    union all
    select w.seq, w.at, w.subject, w.statement_at, false from withdrew w
),
counted as (
    select a.seq, a.subject, a.statement_at, a.enters,
           coalesce(lag(a.enters) over (partition by a.subject order by a.seq), false) as was_enrolled
    from policy p
    cross join act a
    left join faulty x on x.seq = a.seq
    where a.at <= p.as_of and x.seq is null
)
select subject, seq, statement_at, enters
from counted
where enters <> was_enrolled
order by subject, seq
