-- One row an evaluator with at least `policy.evaluator_min_volume` final attestations (spec 6.5; profile 2.7).
--
--   evaluator      the key
--   volume         final attestations
--   subjects       distinct subjects of them
--   derived        those whose fact's derived outcome has a quality value
--   disagreed      of those, the ones with another code
--   checked        those on a probed interaction
--   agreed         of those, the ones on the probe's side: v from 0.5 up with PASS, below with FAIL
--   self_dealing, declared_competitor, rate_limit   `excluded` entries about its attestations, by reason
with by_subject as (
    select evaluator, subject,
           count(*) as volume,
           count(derived_outcome) as derived,
           count(case when derived_outcome is not null and derived_outcome <> outcome then 1 end) as disagreed,
           count(probe) as checked,
           count(case when (probe = 'PASS' and v >= 0.5) or (probe = 'FAIL' and v < 0.5) then 1 end) as agreed
    from evaluator_attestation
    group by evaluator, subject
),
total as (
    select evaluator,
           cast(sum(volume) as bigint) as volume,
           count(*) as subjects,
           cast(sum(derived) as bigint) as derived,
           cast(sum(disagreed) as bigint) as disagreed,
           cast(sum(checked) as bigint) as checked,
           cast(sum(agreed) as bigint) as agreed
    from by_subject
    group by evaluator
),
exclusion as (
    select a.evaluator,
           count(case when x.reason = 'self_dealing' then 1 end) as self_dealing,
           count(case when x.reason = 'declared_competitor' then 1 end) as declared_competitor,
           count(case when x.reason = 'rate_limit' then 1 end) as rate_limit
    from standing_exclusion x
    join attested a on a.seq = x.target_seq
    group by a.evaluator
)
select t.evaluator, t.volume, t.subjects, t.derived, t.disagreed, t.checked, t.agreed,
       coalesce(x.self_dealing, 0) as self_dealing, coalesce(x.declared_competitor, 0) as declared_competitor,
       coalesce(x.rate_limit, 0) as rate_limit
from policy p
cross join total t
left join exclusion x on x.evaluator = t.evaluator
where t.volume >= p.evaluator_min_volume
order by t.evaluator
