-- One row an entry that may count otherwise than in the report before: it is new, or did not exist at that report's T, or it was
-- discounted, corrected, excluded or moved otherwise than now.
--
--   seq   the entry
--
-- `basis` has one row: the last entry and the T of the report before. Tables named before_... are that report's.
with entry as (
    select seq, at from fact
    union all
    select seq, at from attested
    union all
    select seq, at from probed
),
discount_now as (select seq from discounted except select seq from before_discounted),
discount_then as (select seq from before_discounted except select seq from discounted),
correction_now as (
    select target_seq, kind, set_subject, set_capability, set_interaction_id, set_capability_null from correction
    except
    select target_seq, kind, set_subject, set_capability, set_interaction_id, set_capability_null from before_correction
),
correction_then as (
    select target_seq, kind, set_subject, set_capability, set_interaction_id, set_capability_null from before_correction
    except
    select target_seq, kind, set_subject, set_capability, set_interaction_id, set_capability_null from correction
),
exclusion_now as (
    select target_seq, self_dealing from excluded_target except select target_seq, self_dealing from before_excluded_target
),
exclusion_then as (
    select target_seq, self_dealing from before_excluded_target except select target_seq, self_dealing from excluded_target
),
move_now as (
    select seq, interaction_id, subject from moved_attestation except select seq, interaction_id, subject from before_moved_attestation
),
move_then as (
    select seq, interaction_id, subject from before_moved_attestation except select seq, interaction_id, subject from moved_attestation
)
select e.seq from basis b cross join entry e where e.seq > b.head or e.at > b.as_of
union
select seq from discount_now
union
select seq from discount_then
union
select target_seq from correction_now
union
select target_seq from correction_then
union
select target_seq from exclusion_now
union
select target_seq from exclusion_then
union
select seq from move_now
union
select seq from move_then
