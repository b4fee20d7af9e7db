-- One row an enrollment of a subject, `[enrolled_at, withdrew_at)` (profile 2.4). The acts apply in seq order at their
-- statement_at: an enrollment while enrolled amends, a withdrawal while not enrolled does nothing.
--
--   subject, ordinal   the key; 1 is the oldest
--   enrolled_at        its start
--   withdrew_at        its end; null while not withdrawn
--   next_enrolled_at   the start of the next one; null for the last
--   covers_from        its start, or the end of an earlier one that overlaps it, so that an instant lies in one row at most
--
-- The run adds takes_effect_at, instant: withdrew_at + cooling_off_days; null where withdrew_at is null or where
-- next_enrolled_at comes before that instant, which cancels it.
with act as (
    select e.seq, e.at, e.subject, e.statement_at, true as enters from enrolled e
    union all
    select w.seq, w.at, w.subject, w.statement_at, false as enters from withdrew w
),
counted as (
    select a.seq, a.subject, a.statement_at, a.enters,
           coalesce(lag(a.enters) over (partition by a.subject order by a.seq), false) as was_enrolled
    from policy p
    cross join act a
    left join discounted d on d.seq = a.seq
    where a.at <= p.as_of and d.seq is null
),
turn as (
    select seq, subject, statement_at, enters,
           lead(statement_at) over (partition by subject order by seq) as next_at,
           lead(statement_at, 2) over (partition by subject order by seq) as after_next_at
    from counted
    where enters <> was_enrolled
),
spell as (
    select subject, seq, statement_at as enrolled_at, next_at as withdrew_at, after_next_at as next_enrolled_at,
           row_number() over (partition by subject order by seq) as ordinal
    from turn
    where enters
),
bounded as (
    select subject, ordinal, enrolled_at, withdrew_at, next_enrolled_at,
           max(withdrew_at) over (partition by subject order by ordinal rows between unbounded preceding and 1 preceding) as earlier_end
    from spell
)
select subject, cast(ordinal as bigint) as ordinal, enrolled_at, withdrew_at, next_enrolled_at,
       case when earlier_end > enrolled_at then earlier_end else enrolled_at end as covers_from
from bounded
order by subject, ordinal
