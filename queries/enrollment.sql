-- One row a subject that ever enrolled: its last enrollment (profile 2.4).
--
--   subject
--   enrolled_at   start of the last enrollment
--   withdrew_at   its end, or null
--   withdrawn     true once that withdrawal took effect
with last_one as (
    select subject, max(ordinal) as ordinal from enrollment_interval group by subject
)
select e.subject, e.enrolled_at, e.withdrew_at, coalesce(e.takes_effect_at <= p.as_of, false) as withdrawn
from policy p
cross join enrollment_interval e
join last_one l on l.subject = e.subject and l.ordinal = e.ordinal
order by e.subject
