-- One row an attestation that counts: without error, not voided, on an interaction that stands (profile 2.3, 2.10).
-- In no order.
--
--   seq, at              the entry and its instant
--   fact_seq             the fact of its interaction (standing_fact.seq)
--   interaction_id, subject, capability   those of the interaction
--   evaluator, evaluator_anchor_hash      who attested
--   outcome              a quality or value code
--   amounted             true where a value judgment carries its amount
--   excluded             true where a standing `excluded` entry names it
--
-- An attestation whose fact a later correction moved to another interaction or subject follows it, unless the attestation was
-- itself amended. Its fact is the earliest one that it named as the ledger stood at the attestation.
with counted as (
    select a.seq, a.interaction_id, a.subject, a.capability,
           coalesce(c.set_interaction_id, a.interaction_id) as own_interaction_id,
           coalesce(c.set_subject, a.subject) as own_subject,
           c.target_seq is not null as amended
    from attested a
    cross join policy p
    left join discounted d on d.seq = a.seq
    left join correction c on c.target_seq = a.seq
    where a.at <= p.as_of and d.seq is null and coalesce(c.kind, 'none') <> 'void'
),
-- Every state that a corrected fact had: as it was written, then after each correction of it.
correction_of_fact as (
    select f.seq as fact_seq, c.seq as from_seq, c.kind,
           coalesce(c.set_interaction_id, f.interaction_id) as interaction_id,
           coalesce(c.set_subject, f.subject) as subject,
           case when coalesce(c.set_capability_null, false) then null
                else coalesce(c.set_capability, f.capability) end as capability
    from corrected c
    cross join policy p
    join fact f on f.seq = c.target_seq
    left join discounted dc on dc.seq = c.seq
    left join discounted df on df.seq = f.seq
    where c.at <= p.as_of and dc.seq is null and df.seq is null
),
state as (
    select fact_seq, from_seq, kind, interaction_id, subject, capability from correction_of_fact
    union all
    select f.seq as fact_seq, f.seq as from_seq, 'none' as kind, f.interaction_id, f.subject, f.capability
    from fact f
    join (select distinct fact_seq from correction_of_fact) m on m.fact_seq = f.seq
),
version as (
    select fact_seq, from_seq, kind, interaction_id, subject, capability,
           lead(from_seq) over (partition by fact_seq order by from_seq) as until_seq
    from state
),
-- The corrected fact that an attestation named, and where that fact is now.
followed as (
    select a.seq, min(v.fact_seq) as fact_seq
    from counted a
    join version v on v.interaction_id = a.interaction_id and v.subject = a.subject
    where not a.amended and v.kind <> 'void' and v.from_seq < a.seq and (v.until_seq is null or a.seq < v.until_seq)
      and v.capability is not distinct from a.capability
    group by a.seq
),
-- An earlier fact of the same interaction that nobody corrected is the fact that the attestation named.
stayed as (
    select distinct w.seq
    from followed w
    join counted a on a.seq = w.seq
    join fact f on f.interaction_id = a.interaction_id and f.subject = a.subject
    left join discounted d on d.seq = f.seq
    left join (select distinct fact_seq from correction_of_fact) m on m.fact_seq = f.seq
    where f.seq < w.fact_seq and d.seq is null and m.fact_seq is null and f.capability is not distinct from a.capability
),
moved as (
    select w.seq, coalesce(c.set_interaction_id, f.interaction_id) as interaction_id, coalesce(c.set_subject, f.subject) as subject
    from followed w
    join fact f on f.seq = w.fact_seq
    join correction c on c.target_seq = w.fact_seq
    left join stayed s on s.seq = w.seq
    where c.kind = 'amend' and s.seq is null
),
placed as (
    select a.seq, coalesce(m.interaction_id, a.own_interaction_id) as interaction_id, coalesce(m.subject, a.own_subject) as subject
    from counted a
    left join moved m on m.seq = a.seq
),
exclusion as (
    select distinct target_seq from standing_exclusion
)
select a.seq, a.at, f.seq as fact_seq, f.interaction_id, f.subject, f.capability, a.evaluator, a.evaluator_anchor_hash, a.outcome,
       a.amount is not null as amounted,
       x.target_seq is not null as excluded
from placed k
join standing_fact f on f.interaction_id = k.interaction_id and f.subject = k.subject
join attested a on a.seq = k.seq
left join exclusion x on x.target_seq = k.seq
