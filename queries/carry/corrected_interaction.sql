-- One row an interaction with an entry that was ever corrected: where its entries stand, rests on the corrections.
--
--   interaction_id   as the entry names it
with target as (
    select distinct target_seq from corrected
)
select f.interaction_id from target t join fact f on f.seq = t.target_seq
union
select a.interaction_id from target t join attested a on a.seq = t.target_seq
union
select b.interaction_id from target t join probed b on b.seq = t.target_seq
