-- One row a `stopped` entry that stands at T: accepted, without error, not corrected away (spec 4.6; profile 1.5, 2.8). Its subject
-- is the sender.
--
--   seq, at                   the entry and its instant
--   subject, interaction_id   the sender and the interaction, as corrected
--   class, decided_by, resolution   as recorded; resolution is null where the class has none
--   solicited                 whether the request answers one that the recipient sent
--   recipient_anchor_hash     who refused
--   recipient_operator_hash   its operator, or null where the reporter names none
--   provider                  id of the screening provider, or null
--   stopped_at                the instant of the stop (detail.at)
select s.seq, s.at,
       coalesce(c.set_subject, s.subject) as subject,
       coalesce(c.set_interaction_id, s.interaction_id) as interaction_id,
       s.class, s.decided_by, s.resolution, s.solicited, s.recipient_anchor_hash, s.recipient_operator_hash,
       s.screening_provider['id'] as provider,
       s.stopped_at
from policy p
cross join stopped s
left join discounted d on d.seq = s.seq
left join correction c on c.target_seq = s.seq
where s.at <= p.as_of and d.seq is null and coalesce(c.kind, 'none') <> 'void'
order by s.seq
