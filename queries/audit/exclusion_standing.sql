-- One row an `excluded` entry that no correction voided, with what it names (profile 1.7, exclude.unfounded; 2.10).
--
--   seq, target_seq, reason   the entry, the entry that it excludes, and the ground that it gives
--   target_action             the target's action; null where there is no such entry at T
--   target_read               whether the target's members could be read
--   target_voided             whether a correction voided the target
with latest as (
    select target_seq, kind from correction_span where until_seq is null
),
target as (
    select l.seq, coalesce(l.action, '') as action, l.fault is null as readable
    from policy p
    cross join ledger l
    where l.at is null or l.at <= p.as_of
)
select x.seq, x.target_seq, x.reason, t.action as target_action, coalesce(t.readable, false) as target_read,
       coalesce(v.kind, 'none') = 'void' as target_voided
from policy p
cross join excluded x
left join latest c on c.target_seq = x.seq
left join target t on t.seq = x.target_seq
left join latest v on v.target_seq = x.target_seq
where x.at <= p.as_of and coalesce(c.kind, 'none') <> 'void'
order by x.seq
