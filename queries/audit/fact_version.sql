-- One row a state of a fact that was ever corrected: as it was written, then after each amendment (profile 1.7: as the ledger
-- stood). Facts in error have none, and the stretch over which a fact was void has no row.
--
--   fact_seq                  the fact
--   since_seq, until_seq      the entry that gave it this state, and the one that ended it (null: it stands)
--   interaction_id, subject, capability   what it counted with
with counted as (
    select f.seq, f.interaction_id, f.subject, f.capability
    from faulty x
    right join (select s.* from policy p cross join fact s where s.at <= p.as_of) f on x.seq = f.seq
    where x.seq is null
),
first as (
    select target_seq, min(since_seq) as until_seq from correction_span group by target_seq
),
state as (
    select f.seq as fact_seq, f.seq as since_seq, c.until_seq, f.interaction_id, f.subject, f.capability
    from first c
    join counted f on c.target_seq = f.seq
    union all
    select f.seq, c.since_seq, c.until_seq, coalesce(c.set_interaction_id, f.interaction_id), coalesce(c.set_subject, f.subject),
           case when c.set_capability_null then null else coalesce(c.set_capability, f.capability) end
    from correction_span c
    join counted f on c.target_seq = f.seq
    where c.kind = 'amend'
)
select fact_seq, since_seq, until_seq, interaction_id, subject, capability
from state
order by fact_seq, since_seq
