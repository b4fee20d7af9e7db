-- One row a subject and capability with a refusal: an interaction of code REFUSED that began in an enrollment and ended in the
-- window (profile 2.6 candor, spec 8.2).
--
--   subject, capability   the key; capability may be null
--   refused               how many
--   caller_anchors        distinct callers, by anchor hash
--   top_caller            refusals of the largest caller, a count
--   corroborated          refusals whose request a screener flagged or held, or whose caller was stopped in the window on another
--                         interaction
with stop_of_anchor as (
    select n.anchor_hash, min(s.interaction_id) as first_id, max(s.interaction_id) as last_id
    from policy p
    cross join stop_accepted s
    join identity n on n.handle = s.subject
    where s.stopped_at > p.window_from and s.stopped_at <= p.as_of
    group by n.anchor_hash
),
refused as (
    select i.subject, i.capability, f.caller_anchor_hash,
           f.screened or coalesce(s.first_id <> i.interaction_id, false) or coalesce(s.last_id <> i.interaction_id, false) as corroborated
    from policy p
    cross join interaction i
    join standing_fact f on f.seq = i.fact_seq
    left join stop_of_anchor s on s.anchor_hash = f.caller_anchor_hash
    where i.code = 'REFUSED' and i.enrollment is not null and i.ended_at > p.window_from and i.ended_at <= p.as_of
),
by_caller as (
    select subject, capability, caller_anchor_hash, count(*) as refused, count(*) filter (where corroborated) as corroborated
    from refused
    group by subject, capability, caller_anchor_hash
)
select subject, capability,
       cast(sum(refused) as bigint) as refused,
       count(*) as caller_anchors,
       max(refused) as top_caller,
       cast(sum(corroborated) as bigint) as corroborated
from by_caller
group by subject, capability
order by subject, capability nulls first
