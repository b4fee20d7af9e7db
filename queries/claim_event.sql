-- One row an act in a claim's life that stands at T (spec 4.8: check 9, answers, what makes a claim count; profile 2.8).
--
--   claim               the claim (claim_entry.claim)
--   seq, entered_at     the entry and its `at`
--   act                 claimed, answered or resolved
--   answered_at         when the respondent signed an answer; null for other acts
--   resolution          of a resolution: upheld, dismissed, withdrawn or set_aside
--   basis, resolved_at  of a resolution: on what it rests (or null), and when it fell
with digest as (
    select distinct claim, claim_digest from claim_entry
),
answer as (
    select g.claim, a.seq, a.at as entered_at, 'answered' as act, a.statement_at as answered_at
    from policy p
    cross join nda_answered a
    join digest g on g.claim_digest = a.claim_digest
    left join discounted d on d.seq = a.seq
    where a.at <= p.as_of and d.seq is null
),
ending as (
    select g.claim, r.seq, r.at as entered_at, 'resolved' as act, r.resolution, r.basis, r.resolved_at
    from policy p
    cross join nda_resolved r
    join digest g on g.claim_digest = r.claim_digest
    left join discounted d on d.seq = r.seq
    where r.at <= p.as_of and d.seq is null
),
act as (
    select claim, seq, entered_at, act, answered_at, null as resolution, null as basis, null as resolved_at from answer
    union all
    select claim, seq, entered_at, act, null, resolution, basis, resolved_at from ending
    union all
    select claim, seq, entered_at, 'claimed', null, null, null, null from claim_entry
)
select claim, seq, entered_at, act, answered_at, resolution, basis, resolved_at
from act
order by claim, seq
