-- One row an evaluator with an attestation that is an event of a pool (profile 2.7, offset). The offset is the mean, over these
-- attestations, of v minus the published mean of the pool.
--
--   evaluator      the key
--   events         final attestations that are events
--   sum_v          the sum of their values, exact, 2 places
--   sum_mean       the sum of the published means of their pools, exact, 6 places
--   without_mean   those whose pool has no mean: 0 where the tables are of one run
with pooled as (
    select evaluator, subject, capability, v from evaluator_attestation where pooled
)
select a.evaluator,
       count(*) as events,
       sum(a.v) as sum_v,
       sum(m.mean) as sum_mean,
       count(*) - count(m.mean) as without_mean
from pool_mean m
-- Equalities alone, so that the whole key is hashed: `is not distinct from` beside them would be a filter over all pools of a subject.
right join pooled a
    on m.subject = a.subject
    and coalesce(m.capability, '') = coalesce(a.capability, '') and (m.capability is null) = (a.capability is null)
group by a.evaluator
order by a.evaluator
