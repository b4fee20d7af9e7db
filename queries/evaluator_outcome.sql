-- One row an evaluator and code (spec 6.5, outcome distribution; profile 2.7).
--
--   evaluator, outcome   the key
--   attestations         final attestations with that code
select evaluator, outcome, count(*) as attestations
from evaluator_attestation
group by evaluator, outcome
order by evaluator, outcome
