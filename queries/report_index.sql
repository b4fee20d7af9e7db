-- One row a report (profile 2.4).
--
--   subject, capability   the key; capability null for an unenrolled subject, and for an enrolled one that has none
--   state                 UNENROLLED, UNPROVEN, RATED or WITHDRAWN at T
with declared as (
    select subject, unnest(capabilities) as capability from declaration where until_seq is null
),
capability as (
    select subject, capability from declared
    union
    select subject, capability from capability_seen where capability is not null
),
index_row as (
    select k.subject, c.capability, e.withdrawn
    from known_subject k
    left join enrollment e on e.subject = k.subject
    left join capability c on c.subject = e.subject
)
select i.subject, i.capability,
       case when i.withdrawn is null then 'UNENROLLED'
            when i.withdrawn then 'WITHDRAWN'
            when coalesce(p.sum_w, cast(0 as decimal(16, 15))) >= y.unproven_threshold then 'RATED'
            else 'UNPROVEN' end as state
from policy y
cross join index_row i
left join pool p on p.subject = i.subject and p.capability is not distinct from i.capability
order by i.subject, i.capability nulls first
