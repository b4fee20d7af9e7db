-- One row a respondent with an open claim in the record period (spec 4.9 rule 2; profile 2.8).
--
--   subject     the respondent
--   claims      open claims
--   claimants   distinct parties behind them
--   earliest    the first filing
--   answered    open claims that have an answer
select respondent as subject, count(*) as claims, count(distinct claimant_party) as claimants, min(filed_at) as earliest,
       count(answer_seq) as answered
from claim_state
where state = 'open' and shown
group by respondent
order by respondent
