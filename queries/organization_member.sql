-- One row a member of an organization at T (spec 8.5; profile 2.9). Every one is listed.
--
--   organization, subject   the key
--   basis                   anchor or mandate
--   member_since            since when
--   joined                  whether that lies in the window
--   enrollment              the member's own state (2.4); UNENROLLED where it has no report
with subject_state as (
    select subject,
           case when count(case when state = 'RATED' then 1 end) > 0 then 'RATED' else min(state) end as enrollment
    from report_index
    group by subject
)
select m.organization, m.subject, m.basis, m.member_since,
       m.member_since > p.window_from and m.member_since <= p.as_of as joined,
       coalesce(s.enrollment, 'UNENROLLED') as enrollment
from policy p
cross join membership m
left join subject_state s on s.subject = m.subject
order by m.organization, m.subject
