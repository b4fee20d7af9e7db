-- One row a corrected entry: the correction of it that stands at T, the one with the highest seq (profile 1.5).
--
--   target_seq            the corrected entry
--   correction_seq        the standing correction
--   kind                  void: the target counts for nothing; amend: it counts with the members that are set
--   set_subject, set_capability, set_interaction_id   the new values; null where the member is left as it was
--   set_capability_null   true where the correction sets the capability to null
with standing as (
    select max(c.seq) as seq
    from policy p
    cross join corrected c
    left join discounted d on d.seq = c.seq
    where c.at <= p.as_of and d.seq is null
    group by c.target_seq
)
select c.target_seq, c.seq as correction_seq, c.kind, c.set_subject, c.set_capability, c.set_interaction_id,
       coalesce(c.set_capability_null, false) as set_capability_null
from corrected c
join standing s on s.seq = c.seq
order by c.target_seq
