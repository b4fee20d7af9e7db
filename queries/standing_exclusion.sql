-- One row an `excluded` entry that stands at T: without error, not voided (profile 1.5, 2.10).
--
--   seq, at          the entry and its instant
--   target_seq       the attestation or fact that it excludes
--   reason           self_dealing, declared_competitor or rate_limit
--   evaluator        the excluded evaluator; null where the target is a fact
--   subject, interaction_id   as corrected
select x.seq, x.at, x.target_seq, x.reason, x.evaluator,
       coalesce(c.set_subject, x.subject) as subject,
       coalesce(c.set_interaction_id, x.interaction_id) as interaction_id
from policy p
cross join excluded x
left join discounted d on d.seq = x.seq
left join correction c on c.target_seq = x.seq
where x.at <= p.as_of and d.seq is null and coalesce(c.kind, 'none') <> 'void'
order by x.seq
