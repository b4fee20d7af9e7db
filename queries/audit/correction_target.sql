-- One row a correction, with the action of what it names (profile 1.7, correct.target).
--
--   seq             the correction
--   target_seq      the entry it names
--   target_action   that entry's action; null where there is no such entry at T
with target as (
    select l.seq, coalesce(l.action, '') as action
    from policy p
    cross join ledger l
    where l.at is null or l.at <= p.as_of
)
select c.seq, c.target_seq, t.action as target_action
from policy p
cross join corrected c
left join target t on t.seq = c.target_seq
where c.at <= p.as_of
