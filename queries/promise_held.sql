-- One row a subject and promise with a check that counts, on a fact that ended in the window (profile 2.6 promises).
--
--   subject, promise_id   the key
--   checks                checks that count
--   held                  those of them that held
select c.subject, c.promise_id, count(*) as checks, count(*) filter (where c.held) as held
from policy p
cross join promise_check c
where c.counts and c.ended_at > p.window_from and c.ended_at <= p.as_of
group by c.subject, c.promise_id
order by c.subject, c.promise_id
