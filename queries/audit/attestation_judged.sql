-- One row an attestation, with the fact that witnessed it (profile 1.7, attest.*).
--
--   seq, at, subject         the entry, its instant, and whom it is about
--   evaluator, evaluator_anchor_hash, outcome   as it says
--   reason                   of a VALUE_POOR, or null
--   fact_seq                 the fact; null where there is none, and then all that follows
--   caller_anchor_hash, started_at, ended_at, transport, derived_outcome, derived_from   of the fact
--   broken                   whether a check of the fact that counts was not held
with visible as (
    select a.seq, a.at, a.subject, a.evaluator, a.evaluator_anchor_hash, a.outcome, a.reason
    from policy p
    cross join attested a
    where a.at <= p.as_of
),
witnessed as (
    select a.seq, a.at, a.subject, a.evaluator, a.evaluator_anchor_hash, a.outcome,
           case when a.outcome = 'VALUE_POOR' then a.reason end as reason, w.fact_seq
    from witness w
    right join visible a on a.seq = w.seq
),
observed as (
    select a.seq, a.at, a.subject, a.evaluator, a.evaluator_anchor_hash, a.outcome, a.reason, f.seq as fact_seq, f.caller_anchor_hash,
           f.started_at, f.ended_at, f.transport, f.derived_outcome, f.derived_from
    from witnessed a
    left join fact f on f.seq = a.fact_seq
)
select o.seq, o.at, o.subject, o.evaluator, o.evaluator_anchor_hash, o.outcome, o.reason, o.fact_seq, o.caller_anchor_hash, o.started_at,
       o.ended_at, o.transport, o.derived_outcome, o.derived_from, coalesce(k.broken, 0) > 0 as broken
from fact_check k
right join observed o on k.fact_seq = o.fact_seq and k.subject = o.subject
