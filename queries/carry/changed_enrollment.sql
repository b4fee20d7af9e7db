-- One row a subject whose enrollments are others than in the report before (profile 2.4).
--
--   subject
--   since   interactions that began before this instant, and were attested before it, lie in the enrollment that they lay in
with here as (
    select subject, ordinal, covers_from, withdrew_at, takes_effect_at from enrollment_interval
),
then_ as (
    select subject, ordinal, covers_from, withdrew_at, takes_effect_at from before_enrollment_interval
),
appeared as (select * from here except select * from then_),
vanished as (select * from then_ except select * from here),
changed as (
    select * from appeared
    union all
    select * from vanished
),
spell as (
    select subject, ordinal, count(*) as states, min(covers_from) as first_from, max(covers_from) as last_from,
           min(withdrew_at) as withdrew_at, min(takes_effect_at) as takes_effect_at
    from changed
    group by subject, ordinal
)
select subject,
       min(case when states = 1 or first_from <> last_from or withdrew_at is null then first_from
                when takes_effect_at < withdrew_at then takes_effect_at
                else withdrew_at end) as since
from spell
group by subject
