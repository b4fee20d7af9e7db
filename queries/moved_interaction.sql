-- One row an interaction that a correction moved an entry into or out of, in error or not (profile 1.5). Entries of these interactions can
-- meet each other; those of any other interaction meet no entry of another. In no order.
--
--   interaction_id   as written, or as a correction set it
with moving as (
    select c.target_seq, c.set_interaction_id from corrected c where c.set_interaction_id is not null
)
select m.set_interaction_id as interaction_id from moving m
union
select f.interaction_id from moving m join fact f on f.seq = m.target_seq
union
select a.interaction_id from moving m join attested a on a.seq = m.target_seq
union
select b.interaction_id from moving m join probed b on b.seq = m.target_seq
