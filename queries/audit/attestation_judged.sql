-- One row an attestation, with the fact that witnessed it (profile 1.7, attest.*).
--
--   seq, at, subject         the entry, its instant, and whom it is about
--   evaluator, evaluator_anchor_hash, outcome   as it says
--   reason                   of a VALUE_POOR, or null
--   fact_seq                 the fact; null where there is none, and then all that follows
--   caller_anchor_hash, started_at, ended_at, transport, derived_outcome, derived_from   of the fact
--   broken                   whether a check of the fact that counts was not held
select a.seq, a.at, a.subject, a.evaluator, a.evaluator_anchor_hash, a.outcome,
       case when a.outcome = 'VALUE_POOR' then a.reason end as reason,
       f.seq as fact_seq, f.caller_anchor_hash, f.started_at, f.ended_at, f.transport, f.derived_outcome, f.derived_from,
       coalesce(k.broken, 0) > 0 as broken
from attested a
cross join policy p
left join witness w on w.seq = a.seq
left join fact f on f.seq = w.fact_seq
left join fact_check k on k.fact_seq = w.fact_seq and k.subject = a.subject
where a.at <= p.as_of
