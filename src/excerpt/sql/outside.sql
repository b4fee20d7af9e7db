-- One row a capability and reason for which interactions of the subject are in no pool (profile 2.5).
--
--   interactions     how many
--   first_seq, last_seq   the first and the last of the entries that they rest on
with reasoned as (
    select i.capability, coalesce(i.fact_seq, i.probe_seq) as seq,
           case when i.code is null then 'no outcome was derived or attested'
                when i.code not in ('OK', 'PASS', 'OK_CORRECTED', 'FAILED', 'FAILED_SILENT', 'CONTRACT', 'FAIL', 'VALUE_OK', 'VALUE_POOR')
                    then concat(i.code, ' has no quality value')
                when i.enrollment is null then 'began outside every enrollment'
                when i.late then 'attested after the withdrawal took effect'
                when i.source = 'fact' and i.excluded then 'self-dealing, excluded'
           end as reason
    from interaction i
    join excerpted x on x.subject = i.subject
)
select capability, reason, count(*) as interactions, min(seq) as first_seq, max(seq) as last_seq
from reasoned
where reason is not null
group by capability, reason
order by capability nulls first, reason
