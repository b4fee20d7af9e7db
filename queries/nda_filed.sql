-- One row a claimant with a claim in the record period (spec 4.9 rule 6; profile 2.8).
--
--   subject   the claimant
--   open, upheld, dismissed, withdrawn, set_aside, lapsed   the claims that it filed, by state at T
select claimant as subject,
       count(case when state = 'open' then 1 end) as open,
       count(case when state = 'upheld' then 1 end) as upheld,
       count(case when state = 'dismissed' then 1 end) as dismissed,
       count(case when state = 'withdrawn' then 1 end) as withdrawn,
       count(case when state = 'set_aside' then 1 end) as set_aside,
       count(case when state = 'lapsed' then 1 end) as lapsed
from claim_state
where shown
group by claimant
order by claimant
