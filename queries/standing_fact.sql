-- One row an interaction that was observed: its earliest fact, as corrected (profile 2.3). Voided facts, facts in error and
-- later facts of the same interaction and subject are out. In no order.
--
--   seq                  the fact
--   at                   instant of the entry
--   interaction_id, subject   the key of the interaction
--   capability           null where the fact has none
--   caller_anchor_hash   who called (4.2)
--   started_at, ended_at instants of the call
--   transport            OK, UNREACHABLE, TIMEOUT or MALFORMED
--   latency_ms           milliseconds, or null
--   derived_outcome, derived_from   as the reporter derived it, or null
--   sender               the caller's handle, only where its anchor has the caller's hash (fact.sender); null otherwise
--   screened             true where a screener flagged or held the request
--   excluded             true where the fact is excluded as self-dealing: its own code feeds no pool
with seen as (
    select f.seq, f.at, f.interaction_id, f.subject, f.capability, f.caller_anchor_hash, f.started_at, f.ended_at, f.transport,
           f.latency_ms, f.derived_outcome, f.derived_from, f.sender, f.screening is not null as screened
    from policy p
    cross join fact f
    where f.at <= p.as_of
),
good as (
    select f.* from discounted d right join seen f on f.seq = d.seq where d.seq is null
),
counted as (
    select f.seq, f.at,
           coalesce(c.set_interaction_id, f.interaction_id) as interaction_id,
           coalesce(c.set_subject, f.subject) as subject,
           case when coalesce(c.set_capability_null, false) then null
                else coalesce(c.set_capability, f.capability) end as capability,
           f.caller_anchor_hash, f.started_at, f.ended_at, f.transport, f.latency_ms, f.derived_outcome, f.derived_from, f.sender,
           f.screened
    from correction c
    right join good f on f.seq = c.target_seq
    where coalesce(c.kind, 'none') <> 'void'
),
repeated as (
    select interaction_id, subject, min(seq) as first_seq
    from counted
    group by interaction_id, subject
    having count(*) > 1
),
earliest as (
    select k.*
    from repeated r
    right join counted k on r.interaction_id = k.interaction_id and r.subject = k.subject
    where r.first_seq is null or r.first_seq = k.seq
),
named as (
    select k.*, i.anchor_hash from identity i right join earliest k on i.handle = k.sender
)
select k.seq, k.at, k.interaction_id, k.subject, k.capability, k.caller_anchor_hash, k.started_at, k.ended_at, k.transport,
       k.latency_ms, k.derived_outcome, k.derived_from,
       case when k.anchor_hash = k.caller_anchor_hash then k.sender end as sender,
       k.screened,
       coalesce(x.self_dealing, false) as excluded
from excluded_target x
right join named k on x.target_seq = k.seq
