-- One row an interaction that a correction moved an entry out of, and the one it moved it into, in error or not (profile 1.5). Rows of
-- linked interactions rest on each other's entries. In no order.
--
--   interaction_id       as the entry was written
--   set_interaction_id   as a correction set it
with moving as (
    select c.target_seq, c.set_interaction_id from corrected c where c.set_interaction_id is not null
)
select f.interaction_id, m.set_interaction_id from moving m join fact f on f.seq = m.target_seq
union
select a.interaction_id, m.set_interaction_id from moving m join attested a on a.seq = m.target_seq
union
select b.interaction_id, m.set_interaction_id from moving m join probed b on b.seq = m.target_seq
