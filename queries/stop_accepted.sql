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
with seen as (
    select s.seq, s.at, s.subject, s.interaction_id, s.class, s.decided_by, s.resolution, s.solicited, s.recipient_anchor_hash,
           s.recipient_operator_hash, s.screening_provider['id'] as provider, s.stopped_at
    from policy p
    cross join stopped s
    where s.at <= p.as_of
),
good as (
    select s.* from discounted d right join seen s on s.seq = d.seq where d.seq is null
)
select s.seq, s.at,
       coalesce(c.set_subject, s.subject) as subject,
       coalesce(c.set_interaction_id, s.interaction_id) as interaction_id,
       s.class, s.decided_by, s.resolution, s.solicited, s.recipient_anchor_hash, s.recipient_operator_hash,
       s.provider, s.stopped_at
from correction c
right join good s on s.seq = c.target_seq
where coalesce(c.kind, 'none') <> 'void'
order by s.seq
