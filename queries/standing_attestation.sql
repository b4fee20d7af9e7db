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
with seen as (
    select a.seq, a.interaction_id, a.subject
    from policy p
    cross join attested a
    where a.at <= p.as_of
),
good as (
    select a.* from discounted d right join seen a on a.seq = d.seq where d.seq is null
),
counted as (
    select a.*, c.set_interaction_id, c.set_subject
    from correction c
    right join good a on a.seq = c.target_seq
    where coalesce(c.kind, 'none') <> 'void'
),
placed as (
    select a.seq,
           coalesce(m.interaction_id, a.set_interaction_id, a.interaction_id) as interaction_id,
           coalesce(m.subject, a.set_subject, a.subject) as subject
    from moved_attestation m
    right join counted a on a.seq = m.seq
),
standing as (
    select k.seq, f.seq as fact_seq, f.interaction_id, f.subject, f.capability
    from placed k
    join standing_fact f on f.interaction_id = k.interaction_id and f.subject = k.subject
),
told as (
    select a.seq, a.at, s.fact_seq, s.interaction_id, s.subject, s.capability, a.evaluator, a.evaluator_anchor_hash, a.outcome,
           a.amount is not null as amounted
    from standing s
    join attested a on a.seq = s.seq
)
select s.seq, s.at, s.fact_seq, s.interaction_id, s.subject, s.capability, s.evaluator, s.evaluator_anchor_hash, s.outcome, s.amounted,
       x.target_seq is not null as excluded
from excluded_target x
right join told s on x.target_seq = s.seq
