-- One row a quality pool that holds an event (profile 2.5, 2.6 evidence).
--
--   subject, capability   the key; capability may be null
--   events                how many
--   sum_w                 sum of w, exact, 15 places
--   sum_wv                sum of w * v, exact, 17 places
--   oldest, newest        instants t of the first and the last event
--   probe_w, value_w      parts of sum_w: probes, value judgments
--   value_events, value_events_without_amount   counts of value judgments
--   attester_anchors      distinct evaluator anchors among attested events, value judgments included
--   attested_w            part of sum_w: those events
--   top_anchor_w          the largest part of attested_w that came from one anchor; null with no attested event
with by_anchor as (
    -- An event has an anchor where somebody attested it: the kinds attested and value.
    select subject, capability, evaluator_anchor_hash,
           count(*) as events,
           sum(weight) as sum_w,
           sum(weight * v) as sum_wv,
           min(t) as oldest,
           max(t) as newest,
           sum(case when kind = 'probe' then weight else cast(0 as decimal(16, 15)) end) as probe_w,
           sum(case when kind = 'value' then weight else cast(0 as decimal(16, 15)) end) as value_w,
           count(*) filter (where kind = 'value') as value_events,
           count(*) filter (where kind = 'value' and not amounted) as value_events_without_amount
    from event
    group by subject, capability, evaluator_anchor_hash
)
select subject, capability,
       cast(sum(events) as bigint) as events,
       sum(sum_w) as sum_w,
       sum(sum_wv) as sum_wv,
       min(oldest) as oldest,
       max(newest) as newest,
       sum(probe_w) as probe_w,
       sum(value_w) as value_w,
       cast(sum(value_events) as bigint) as value_events,
       cast(sum(value_events_without_amount) as bigint) as value_events_without_amount,
       count(evaluator_anchor_hash) as attester_anchors,
       sum(case when evaluator_anchor_hash is null then cast(0 as decimal(16, 15)) else sum_w end) as attested_w,
       max(case when evaluator_anchor_hash is null then null else sum_w end) as top_anchor_w
from by_anchor
group by subject, capability
order by subject, capability nulls first
