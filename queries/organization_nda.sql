-- One row an organization with a claim in the record period about a member at T, or about a seat that its charter holds (spec 4.9
-- rule 9, 8.5; profile 2.9). It names no agreement.
--
--   organization          the key
--   upheld                upheld entries: distinct agreements and respondents
--   members_with_upheld   members that are the respondent of one
--   open_claims           open claims
--   open_claimants        distinct parties behind them
--   dismissed, withdrawn, set_aside, lapsed   claims, by state at T
with link as (
    select m.organization, c.claim, 1 as member
    from claim_state c
    join membership m on m.subject = c.respondent
    where c.shown
    union all
    select o.anchor, c.claim, 0
    from claim_state c
    join organization o on o.charter_id = c.respondent_org
    where c.shown
),
linked as (
    select l.organization, c.respondent, c.nda_digest, c.claimant_party, c.state, max(l.member) as member
    from link l
    join claim_state c on c.claim = l.claim
    group by l.organization, l.claim, c.respondent, c.nda_digest, c.claimant_party, c.state
),
entry as (
    select organization, respondent, nda_digest, max(member) as member
    from linked
    where state = 'upheld'
    group by organization, respondent, nda_digest
),
upheld as (
    select organization, count(*) as upheld, count(distinct case when member = 1 then respondent end) as members_with_upheld
    from entry
    group by organization
),
other as (
    select organization,
           count(case when state = 'open' then 1 end) as open_claims,
           count(distinct case when state = 'open' then claimant_party end) as open_claimants,
           count(case when state = 'dismissed' then 1 end) as dismissed,
           count(case when state = 'withdrawn' then 1 end) as withdrawn,
           count(case when state = 'set_aside' then 1 end) as set_aside,
           count(case when state = 'lapsed' then 1 end) as lapsed
    from linked
    group by organization
)
select o.organization, coalesce(u.upheld, 0) as upheld, coalesce(u.members_with_upheld, 0) as members_with_upheld,
       o.open_claims, o.open_claimants, o.dismissed, o.withdrawn, o.set_aside, o.lapsed
from other o
left join upheld u on u.organization = o.organization
order by o.organization
