-- One row a respondent with a claim in the record period that ended without a finding against it (spec 4.9 rule 3; profile 2.8).
--
--   subject                                   the respondent
--   dismissed, withdrawn, set_aside, lapsed   claims, by state at T
select respondent as subject,
       count(case when state = 'dismissed' then 1 end) as dismissed,
       count(case when state = 'withdrawn' then 1 end) as withdrawn,
       count(case when state = 'set_aside' then 1 end) as set_aside,
       count(case when state = 'lapsed' then 1 end) as lapsed
from claim_state
where state in ('dismissed', 'withdrawn', 'set_aside', 'lapsed') and shown
group by respondent
order by respondent
