-- One row an attestation that counts: without error, not voided, on an interaction that stands (profile 2.3, 2.10). It stands where
-- it says, as corrected, or where its fact was moved. In no order.
--
--   seq, at              the entry and its instant
--   fact_seq             the fact of its interaction (standing_fact.seq)
--   interaction_id, subject, capability   those of the interaction
--   evaluator, evaluator_anchor_hash      who attested
--   outcome              a quality or value code
--   amounted             true where a value judgment carries its amount
--   excluded             true where a standing `excluded` entry names it
with placed as (
    select a.seq,
           coalesce(m.interaction_id, c.set_interaction_id, a.interaction_id) as interaction_id,
           coalesce(m.subject, c.set_subject, a.subject) as subject
    from policy p
    cross join attested a
    left join discounted d on d.seq = a.seq
    left join correction c on c.target_seq = a.seq
    left join moved_attestation m on m.seq = a.seq
    where a.at <= p.as_of and d.seq is null and coalesce(c.kind, 'none') <> 'void'
)
select a.seq, a.at, f.seq as fact_seq, f.interaction_id, f.subject, f.capability, a.evaluator, a.evaluator_anchor_hash, a.outcome,
       a.amount is not null as amounted,
       x.target_seq is not null as excluded
from placed k
join standing_fact f on f.interaction_id = k.interaction_id and f.subject = k.subject
join attested a on a.seq = k.seq
left join excluded_target x on x.target_seq = k.seq
