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
with anchor_total as (
    select subject, capability, evaluator_anchor_hash, sum(weight) as anchor_w
    from event
    where kind in ('attested', 'value')
    group by subject, capability, evaluator_anchor_hash
),
anchor as (
    select subject, capability, count(*) as attester_anchors, max(anchor_w) as top_anchor_w
    from anchor_total
    group by subject, capability
),
total as (
    select subject, capability,
           count(*) as events,
           sum(weight) as sum_w,
           sum(weight * v) as sum_wv,
           min(t) as oldest,
           max(t) as newest,
           sum(case when kind = 'probe' then weight else cast(0 as decimal(16, 15)) end) as probe_w,
           sum(case when kind = 'value' then weight else cast(0 as decimal(16, 15)) end) as value_w,
           sum(case when kind in ('attested', 'value') then weight else cast(0 as decimal(16, 15)) end) as attested_w,
           count(*) filter (where kind = 'value') as value_events,
           count(*) filter (where kind = 'value' and not amounted) as value_events_without_amount
    from event
    group by subject, capability
)
select t.subject, t.capability, t.events, t.sum_w, t.sum_wv, t.oldest, t.newest, t.probe_w, t.value_w, t.value_events,
       t.value_events_without_amount, coalesce(a.attester_anchors, 0) as attester_anchors, t.attested_w, a.top_anchor_w
from total t
left join anchor a on a.subject = t.subject and a.capability is not distinct from t.capability
order by t.subject, t.capability nulls first
