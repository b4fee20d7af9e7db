-- One row a subject that left an organization in the window and is no member at T (spec 8.5; profile 2.9, 2.10).
--
--   organization, subject   the key
--   basis                   anchor or mandate, as it was
--   left_at                 when its handle was unbound, or its mandate ended
--   enrollment              its own state (2.4); UNENROLLED where it has no report
with subject_state as (
    select subject,
           case when count(case when state = 'RATED' then 1 end) > 0 then 'RATED' else min(state) end as enrollment
    from report_index
    group by subject
)
select f.organization, f.subject, f.basis, f.left_at, coalesce(s.enrollment, 'UNENROLLED') as enrollment
from former_membership f
left join subject_state s on s.subject = f.subject
order by f.organization, f.subject
