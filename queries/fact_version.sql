-- One row a state of a corrected fact that other entries could name: as it was written, and after each correction that amended it
-- (profile 1.5). A fact that nobody corrected is not here, nor one in error.
--
--   fact_seq                the fact
--   from_seq, until_seq     the state holds for entries after from_seq, up to until_seq; until_seq is null for the last
--   interaction_id, subject, capability   as they stood
with act as (
    select c.target_seq as fact_seq, c.seq as correction_seq, c.kind, c.set_interaction_id, c.set_subject, c.set_capability,
           coalesce(c.set_capability_null, false) as set_capability_null,
           lag(c.seq) over (partition by c.target_seq order by c.seq) as earlier_seq,
           lead(c.seq) over (partition by c.target_seq order by c.seq) as later_seq
    from policy p
    cross join corrected c
    left join discounted d on d.seq = c.seq
    left join discounted e on e.seq = c.target_seq
    where c.at <= p.as_of and d.seq is null and e.seq is null
),
state as (
    select fact_seq, fact_seq as from_seq, correction_seq as until_seq, null as set_interaction_id, null as set_subject,
           null as set_capability, false as set_capability_null
    from act
    where earlier_seq is null
    union all
    select fact_seq, correction_seq as from_seq, later_seq as until_seq, set_interaction_id, set_subject, set_capability, set_capability_null
    from act
    where kind = 'amend'
)
select f.seq as fact_seq, s.from_seq, s.until_seq,
       coalesce(s.set_interaction_id, f.interaction_id) as interaction_id,
       coalesce(s.set_subject, f.subject) as subject,
       case when s.set_capability_null then null else coalesce(s.set_capability, f.capability) end as capability
from state s
join fact f on f.seq = s.fact_seq
order by fact_seq, from_seq
