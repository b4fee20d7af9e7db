-- One row a final attestation: one an evaluator and interaction, the one with the highest seq that is not excluded (profile 2.7, 2.10).
--
--   seq               the entry
--   evaluator         who attested
--   subject, capability   of the interaction
--   outcome           a quality or value code
--   v                 its quality value, DECIMAL(3,2), 0 to 1
--   derived_outcome   the fact's own, where it has a quality value; null otherwise
--   probe             PASS or FAIL where the interaction was probed; null otherwise
--   pooled            whether this attestation is an event of the pool (2.5)
with last_one as (
    select max(seq) as seq
    from standing_attestation
    where not excluded
    group by evaluator, fact_seq
)
select a.seq, a.evaluator, a.subject, a.capability, a.outcome,
       case when a.outcome in ('OK', 'PASS', 'VALUE_OK') then cast(1 as decimal(3, 2))
            when a.outcome = 'OK_CORRECTED' then cast(0.6 as decimal(3, 2))
            when a.outcome = 'FAILED' then cast(0.15 as decimal(3, 2))
            else cast(0 as decimal(3, 2)) end as v,
       case when f.derived_outcome in ('OK', 'PASS', 'OK_CORRECTED', 'FAILED', 'FAILED_SILENT', 'CONTRACT', 'FAIL')
            then f.derived_outcome end as derived_outcome,
       b.result as probe,
       e.seq is not null as pooled
from last_one l
join standing_attestation a on a.seq = l.seq
join standing_fact f on f.seq = a.fact_seq
left join standing_probe b on b.interaction_id = a.interaction_id and b.subject = a.subject
left join event e on e.seq = a.seq
order by a.seq
