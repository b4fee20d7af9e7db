-- One row a fact, and a subject that it has or had, of which some promise check is stray or broken (profile 1.7, fact.promise;
-- spec 9). Every other fact's checks name promises and were held.
--
--   fact_seq, subject   the fact, and a subject: as it was written, or as a correction set it
--   stray               checks that name no mesh-verifiable promise of that subject's last declaration before the fact
--   broken              checks that name one, and were not held
with moved as (
    select distinct target_seq, set_subject from correction_span where set_subject is not null
),
item as (
    select f.seq, f.subject, unnest(f.promise_checks) as made
    from policy p
    cross join fact f
    where f.at <= p.as_of
),
named as (
    select i.seq as fact_seq, i.subject, i.made['promise_id'] as promise_id, i.made['held'] as held from item i
    union all
    select i.seq as fact_seq, m.set_subject as subject, i.made['promise_id'] as promise_id, i.made['held'] as held
    from moved m
    join item i on i.seq = m.target_seq
    where m.set_subject <> i.subject
),
declared as (
    select d.seq, d.subject, d.promises, lead(d.seq) over (partition by d.subject order by d.seq) as until_seq
    from policy p
    cross join (
        select e.seq, e.at, e.subject, e.promises from enrolled e
        union all
        select e.seq, e.at, e.subject, e.promises from amended e
    ) d
    left join faulty x on x.seq = d.seq
    where d.at <= p.as_of and x.seq is null
),
promise as (
    select seq, until_seq, subject, unnest(promises) as made from declared
),
verifiable as (
    select distinct seq, until_seq, subject, made['id'] as promise_id from promise where made['class'] = 'mesh-verifiable'
),
judged as (
    select n.fact_seq, n.subject, n.held, v.seq is not null as counts
    from verifiable v
    right join named n
        on v.subject = n.subject and v.promise_id = n.promise_id
        and v.seq < n.fact_seq and (v.until_seq is null or n.fact_seq < v.until_seq)
)
select fact_seq, subject, cast(sum(case when counts then 0 else 1 end) as bigint) as stray,
       cast(sum(case when counts and not held then 1 else 0 end) as bigint) as broken
from judged
where not (counts and held)
group by fact_seq, subject
order by fact_seq, subject
