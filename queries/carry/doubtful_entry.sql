-- One row an entry of which a rule of profile 1.7 that asks other entries may say something else than in the audit before.
--
--   seq   a fact, an attestation or a probe
--
-- `audit_scope.head` is the last entry that was judged then. `doubted_entry` has the entries whose errors of the entry alone changed since, and
-- those that were withheld; `doubtful_handle` the handles whose relations may have. Tables named before_... are that audit's.
with span_now as (
    select target_seq, since_seq, until_seq, kind, set_subject, set_capability, set_interaction_id, set_capability_null from correction_span
    except
    select target_seq, since_seq, until_seq, kind, set_subject, set_capability, set_interaction_id, set_capability_null
    from before_correction_span
),
span_then as (
    select target_seq, since_seq, until_seq, kind, set_subject, set_capability, set_interaction_id, set_capability_null
    from before_correction_span
    except
    select target_seq, since_seq, until_seq, kind, set_subject, set_capability, set_interaction_id, set_capability_null from correction_span
),
corrected_since as (
    select target_seq from span_now
    union
    select target_seq from span_then
)
select f.seq from audit_scope s cross join fact f where f.seq > s.head
union
select a.seq from audit_scope s cross join attested a where a.seq > s.head
union
select b.seq from audit_scope s cross join probed b where b.seq > s.head
union
select seq from doubted_entry
union
select target_seq from corrected_since
union
select x.target_seq from audit_scope s cross join excluded x where x.seq > s.head
union
select x.target_seq from corrected_since c join excluded x on x.seq = c.target_seq
union
select c.target_seq from doubtful_handle h join corrected c on c.set_subject = h.handle
