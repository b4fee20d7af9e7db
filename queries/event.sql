-- One row an event of a quality pool (profile 2.5). In no order.
--
--   seq             the entry that the event rests on: probe, attestation or fact
--   subject, capability   the pool
--   kind            probe, attested, value (a value judgment) or derived
--   code
--   v               quality value of the code, DECIMAL(3,2), 0 to 1
--   t               instant of the interaction's end
--   evaluator_anchor_hash   the attester's anchor; null where nobody attested
--   amounted        for a value judgment, whether it carries its amount
--
-- The run adds weight, DECIMAL(16,15): K * 2^(-(T - t) / half-life), with K = value_weight for kind value and 1 otherwise (2.2).
with valued as (
    select subject, capability, code, source, attestation_seq, probe_seq, fact_seq, ended_at as t, evaluator_anchor_hash,
           coalesce(amounted, false) as amounted,
           case when code in ('OK', 'PASS', 'VALUE_OK') then cast(1 as decimal(3, 2))
                when code = 'OK_CORRECTED' then cast(0.6 as decimal(3, 2))
                when code = 'FAILED' then cast(0.15 as decimal(3, 2))
                when code in ('FAILED_SILENT', 'CONTRACT', 'FAIL', 'VALUE_POOR') then cast(0 as decimal(3, 2))
           end as v
    from interaction
    where code is not null and enrollment is not null and not late and not (source = 'fact' and excluded)
)
select case when source = 'probe' then probe_seq when source = 'attestation' then attestation_seq else fact_seq end as seq,
       subject, capability,
       case when source = 'probe' then 'probe'
            when code in ('VALUE_OK', 'VALUE_POOR') then 'value'
            when source = 'attestation' then 'attested'
            else 'derived' end as kind,
       code, v, t, evaluator_anchor_hash, amounted
from valued
where v is not null
