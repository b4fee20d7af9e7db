-- One row a subject that a standing fact names as its sender, or about which a stop stands, at any time up to T (spec 4.7; profile
-- 2.8). These are the subjects with a sender block.
--
--   subject     the sender
--   witnessed   facts of the window that name it, and stops about it in the window; 0 where there is none
with request as (
    select sender as subject, ended_at as seen_at
    from standing_fact
    where sender is not null
    union all
    select subject, stopped_at
    from stop_accepted
)
select r.subject, count(case when r.seen_at > p.window_from and r.seen_at <= p.as_of then 1 end) as witnessed
from policy p
cross join request r
group by r.subject
order by r.subject
