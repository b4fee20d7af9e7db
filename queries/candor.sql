-- One row a subject and capability with an interaction that began in an enrollment and ended in the window (profile 2.6 candor).
--
--   subject, capability   the key; capability may be null
--   declined              interactions of code DECLINED, a count
--   worked                interactions of an acceptance code: OK, OK_CORRECTED, FAILED, FAILED_SILENT, CONTRACT
--   failed_silent         interactions of code FAILED_SILENT
select i.subject, i.capability,
       count(*) filter (where i.code = 'DECLINED') as declined,
       count(*) filter (where i.code in ('OK', 'OK_CORRECTED', 'FAILED', 'FAILED_SILENT', 'CONTRACT')) as worked,
       count(*) filter (where i.code = 'FAILED_SILENT') as failed_silent
from policy p
cross join interaction i
where i.enrollment is not null and i.ended_at > p.window_from and i.ended_at <= p.as_of
group by i.subject, i.capability
order by i.subject, i.capability nulls first
