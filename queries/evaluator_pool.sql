-- One row an evaluator and pool with an event that is its attestation (profile 2.7, offset), in no order. The offset is the mean, over all of an
-- evaluator's rows, of v minus the published mean of the pool.
--
--   evaluator, subject, capability   the key; capability may be null
--   events                           final attestations that are events of the pool
--   sum_v                            the sum of their values, exact, 2 places
select evaluator, subject, capability, count(*) as events, sum(v) as sum_v
from evaluator_attestation
where pooled
group by evaluator, subject, capability
