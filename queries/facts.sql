-- One row a subject with a standing fact that ended in the window (profile 2.6 facts). All are counts of such facts, but the two
-- latencies.
--
--   subject              the key
--   facts                N
--   unreachable          transport UNREACHABLE or TIMEOUT
--   unavailable          derived outcome UNAVAILABLE
--   contract_violations  with a failed promise check that counts, or derived outcome CONTRACT
--   unstated_refusals    derived outcome REFUSED_UNSTATED
--   input_required       derived from input_required
--   latency_p50, latency_p95   milliseconds, nearest rank, over facts with transport OK and a latency; null with none
with seen as (
    select f.seq, f.subject, f.transport, f.latency_ms, f.derived_outcome, f.derived_from
    from policy p
    cross join standing_fact f
    where f.ended_at > p.window_from and f.ended_at <= p.as_of
),
ranked as (
    select subject, latency_ms,
           row_number() over (partition by subject order by latency_ms) as place,
           count(*) over (partition by subject) as places
    from seen
    where transport = 'OK' and latency_ms is not null
),
latency as (
    -- position ceil(p * n) is the first place with 100 * place >= 100 * p * n
    select subject,
           min(case when 100 * place >= 50 * places then latency_ms end) as latency_p50,
           min(case when 100 * place >= 95 * places then latency_ms end) as latency_p95
    from ranked
    group by subject
),
counted as (
    select s.subject,
           count(*) as facts,
           count(*) filter (where s.transport in ('UNREACHABLE', 'TIMEOUT')) as unreachable,
           count(*) filter (where s.derived_outcome = 'UNAVAILABLE') as unavailable,
           count(*) filter (where b.fact_seq is not null or s.derived_outcome = 'CONTRACT') as contract_violations,
           count(*) filter (where s.derived_outcome = 'REFUSED_UNSTATED') as unstated_refusals,
           count(*) filter (where s.derived_from = 'input_required') as input_required
    from broken_fact b
    right join seen s on b.fact_seq = s.seq
    group by s.subject
)
select c.subject, c.facts, c.unreachable, c.unavailable, c.contract_violations, c.unstated_refusals, c.input_required,
       l.latency_p50, l.latency_p95
from counted c
left join latency l on l.subject = c.subject
order by c.subject
