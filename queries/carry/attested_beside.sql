-- The attestations of the interactions at hand, and those that a ceiling counts beside them: of the same evaluator and subject, within a
-- rate window of them. In no order.
--
--   seq, at, interaction_id, subject, evaluator, evaluator_anchor_hash   as in attested, of which these are what a ceiling asks for
--
-- `attested` holds the first alone, those of `touched_interaction`; `attested_whole` all there are. `counted_pair` has the pairs of
-- `doubtful_pair`, with `from_at` and `until_at`, a rate window before and behind their attestations.
select a.seq, a.at, a.interaction_id, a.subject, a.evaluator, a.evaluator_anchor_hash from attested a
union all
select w.seq, w.at, w.interaction_id, w.subject, w.evaluator, w.evaluator_anchor_hash
from counted_pair p
join attested_whole w on w.evaluator = p.evaluator and w.subject = p.subject
left join touched_interaction t on t.interaction_id = w.interaction_id
where t.interaction_id is null and w.at > p.from_at and w.at < p.until_at
