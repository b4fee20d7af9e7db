-- One row a correction without error: the stretch of the ledger over which it is the latest of its target (profile 1.5).
--
--   target_seq     the corrected entry
--   since_seq      the correction
--   until_seq      the next correction of that target; null for the one that stands at T
--   kind           void or amend
--   set_subject, set_capability, set_interaction_id   the new values; null where a member is left as it was
--   set_capability_null   true where the capability is set to null
select c.target_seq, c.seq as since_seq, lead(c.seq) over (partition by c.target_seq order by c.seq) as until_seq, c.kind,
       c.set_subject, c.set_capability, c.set_interaction_id, coalesce(c.set_capability_null, false) as set_capability_null
from policy p
cross join corrected c
left join faulty x on x.seq = c.seq
where c.at <= p.as_of and x.seq is null
order by c.target_seq, c.seq
