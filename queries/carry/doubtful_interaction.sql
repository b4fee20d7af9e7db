-- One row an interaction with an entry of which a rule may say something else than in the audit before: a doubtful one, or one whose sides
-- may be related otherwise.
--
--   interaction_id   as an entry names it
select f.interaction_id from doubtful_entry d join fact f on f.seq = d.seq
union
select a.interaction_id from doubtful_entry d join attested a on a.seq = d.seq
union
select b.interaction_id from doubtful_entry d join probed b on b.seq = d.seq
union
select f.interaction_id from doubtful_handle h join fact f on f.sender = h.handle
union
select f.interaction_id from doubtful_handle h join fact f on f.subject = h.handle
union
select f.interaction_id from doubtful_anchor_hash h join fact f on f.caller_anchor_hash = h.anchor_hash
union
select a.interaction_id from doubtful_handle h join attested a on a.evaluator = h.handle
union
select a.interaction_id from doubtful_handle h join attested a on a.subject = h.handle
