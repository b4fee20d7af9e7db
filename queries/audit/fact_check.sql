-- One row a fact, and a subject that it has or had, of which some promise check is stray or broken (profile 1.7, fact.promise;
-- spec 9). Every other fact's checks name promises and were held.
--
--   fact_seq, subject   the fact, and a subject: as it was written, or as a correction set it
--   stray               checks that name no mesh-verifiable promise of that subject's last declaration before the fact
--   broken              checks that name one, and were not held
with item as (
    select f.seq, f.subject, unnest(f.promise_checks) as made
    from policy p
    cross join fact f
    where f.at <= p.as_of
),
pair as (
    select i.seq as fact_seq, i.subject from item i
    union
    select i.seq, c.set_subject from item i join correction_span c on c.target_seq = i.seq where c.set_subject is not null
),
declared as (
    select d.seq, d.subject, d.promises
    from policy p
    cross join (
        select e.seq, e.at, e.subject, e.promises from enrolled e
        union all
        select e.seq, e.at, e.subject, e.promises from amended e
    ) d
    left join faulty x on x.seq = d.seq
    where d.at <= p.as_of and x.seq is null
),
line as (
    select fact_seq as seq, subject, true as is_fact, cast(null as bigint) as declared_seq from pair
    union all
    select seq, subject, false as is_fact, seq as declared_seq from declared
),
dated as (
    select seq, subject, is_fact,
           max(declared_seq) over (partition by subject order by seq rows between unbounded preceding and current row) as declared_seq
    from line
),
promise as (
    select seq, unnest(promises) as made from declared
),
verifiable as (
    select distinct seq, made['id'] as promise_id from promise where made['class'] = 'mesh-verifiable'
),
judged as (
    select d.seq as fact_seq, d.subject, i.made['held'] as held, v.seq is not null as counts
    from dated d
    join item i on i.seq = d.seq
    left join verifiable v on v.seq = d.declared_seq and v.promise_id = i.made['promise_id']
    where d.is_fact
)
select fact_seq, subject, cast(sum(case when counts then 0 else 1 end) as bigint) as stray,
       cast(sum(case when counts and not held then 1 else 0 end) as bigint) as broken
from judged
group by fact_seq, subject
having sum(case when counts and held then 0 else 1 end) > 0
order by fact_seq, subject
