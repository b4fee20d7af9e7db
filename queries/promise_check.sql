-- One row a promise check of a standing fact (profile 1.7, fact.promise). In no order.
--
--   fact_seq     the fact
--   subject      the fact's subject as corrected
--   ended_at     instant of the fact's end
--   promise_id
--   held         whether the promise was kept
--   counts       true where the subject's last declaration before the fact has the promise, mesh-verifiable; a check that does not
--                count, counts for nothing
with checks as (
    select seq, unnest(promise_checks) as item from fact
),
named as (
    select f.seq as fact_seq, f.subject, f.ended_at, c.item['promise_id'] as promise_id, c.item['held'] as held
    from standing_fact f
    join checks c on f.seq = c.seq
),
promise as (
    select seq, until_seq, subject, unnest(promises) as item from declaration
),
verifiable as (
    select distinct seq, until_seq, subject, item['id'] as promise_id from promise where item['class'] = 'mesh-verifiable'
)
select n.fact_seq, n.subject, n.ended_at, n.promise_id, n.held, v.seq is not null as counts
from verifiable v
right join named n
    on v.subject = n.subject and v.promise_id = n.promise_id
    and v.seq < n.fact_seq and (v.until_seq is null or n.fact_seq < v.until_seq)
