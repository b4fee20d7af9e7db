-- One row an interaction some of whose rows may be others than in the report before. Those that corrections link to it may be too.
--
--   interaction_id   as an entry names it, or as it stood in that report
select f.interaction_id from changed_entry c join fact f on f.seq = c.seq
union
select a.interaction_id from changed_entry c join attested a on a.seq = c.seq
union
select b.interaction_id from changed_entry c join probed b on b.seq = c.seq
union
select i.interaction_id from changed_enrollment e join before_interaction i on i.subject = e.subject where i.started_at >= e.since
union
select a.interaction_id from changed_enrollment e join before_standing_attestation a on a.subject = e.subject where a.at >= e.since
union
select f.interaction_id from changed_promise p join before_standing_fact f on f.subject = p.subject
union
select f.interaction_id from changed_handle h join fact f on f.sender = h.handle
