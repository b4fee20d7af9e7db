-- The attestations of the interactions at hand, and those that stand beside them under one ceiling: of the same evaluator and subject.
--
--   the columns of attested
--
-- `attested` holds the first alone, those of `touched_interaction`; `attested_whole` all there are.
select a.* from attested a
union all
select w.*
from doubtful_pair p
join attested_whole w on w.evaluator = p.evaluator and w.subject = p.subject
left join touched_interaction t on t.interaction_id = w.interaction_id
where t.interaction_id is null
