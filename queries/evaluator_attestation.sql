-- One row a final attestation: one an evaluator and interaction, the one with the highest seq that is not excluded (profile 2.7, 2.10).
-- In no order.
--
--   seq               the entry
--   evaluator         who attested
--   subject, capability   of the interaction
--   outcome           a quality or value code
--   v                 its quality value, DECIMAL(3,2), 0 to 1
--   derived_outcome   the fact's own, where it has a quality value; null otherwise
--   probe             PASS or FAIL where the interaction was probed; null otherwise
--   pooled            whether this attestation is an event of the pool (2.5)
with several as (
    select fact_seq from standing_attestation where not excluded group by fact_seq having count(*) > 1
),
placed as (
    select a.seq, row_number() over (partition by a.fact_seq, a.evaluator order by a.seq desc) as place
    from several s
    join standing_attestation a on a.fact_seq = s.fact_seq
    where not a.excluded
),
earlier as (
    select seq from placed where place > 1
),
final as (
    select a.* from earlier l right join standing_attestation a on a.seq = l.seq where not a.excluded and l.seq is null
),
judged as (
    select a.seq, a.evaluator, a.interaction_id, a.subject, a.capability, a.outcome, f.derived_outcome
    from standing_fact f
    join final a on f.seq = a.fact_seq
),
probed as (
    select a.*, b.result
    from standing_probe b
    right join judged a on b.interaction_id = a.interaction_id and b.subject = a.subject
)
select a.seq, a.evaluator, a.subject, a.capability, a.outcome,
       case when a.outcome in ('OK', 'PASS', 'VALUE_OK') then cast(1 as decimal(3, 2))
            when a.outcome = 'OK_CORRECTED' then cast(0.6 as decimal(3, 2))
            when a.outcome = 'FAILED' then cast(0.15 as decimal(3, 2))
            else cast(0 as decimal(3, 2)) end as v,
       case when a.derived_outcome in ('OK', 'PASS', 'OK_CORRECTED', 'FAILED', 'FAILED_SILENT', 'CONTRACT', 'FAIL')
            then a.derived_outcome end as derived_outcome,
       a.result as probe,
       e.seq is not null as pooled
from event e
right join probed a on e.seq = a.seq
