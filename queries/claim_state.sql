-- One row a claim, as its latest entry amends it: one a claimant party, agreement and respondent (spec 4.8; profile 2.8).
--
--   claim                    the `seq` of its first entry
--   respondent, nda_digest, claimant_party   what makes it one claim
--   claimant, claimant_anchor_hash, respondent_org, categories, direction   of its latest entry
--   filed_at                 `at` of the first entry
--   latest_at                `at` of the latest act, whoever did it
--   state                    open, upheld, dismissed, withdrawn, set_aside or lapsed, at T
--   resolution_seq, basis, resolved_at   the resolution that stands, or null
--   answer_seq, answered_at  the latest answer and when it was signed, or null
--   shown                    whether the record period holds it
with life as (
    select claim,
           max(case when act = 'claimed' then seq end) as entry_seq,
           max(case when act = 'answered' then seq end) as answer_seq,
           max(case when act = 'resolved' then seq end) as resolution_seq,
           max(case when seq = claim then entered_at end) as filed_at,
           max(entered_at) as latest_at
    from claim_event
    group by claim
)
select l.claim, c.respondent, c.nda_digest, c.claimant_party, c.claimant, c.claimant_anchor_hash, c.respondent_org, c.categories,
       c.direction, l.filed_at, l.latest_at,
       coalesce(r.resolution, case when l.filed_at < p.claim_open_from then 'lapsed' else 'open' end) as state,
       l.resolution_seq, r.basis, r.resolved_at, l.answer_seq, a.answered_at,
       l.latest_at > p.claim_record_from as shown
from policy p
cross join life l
join claim_entry c on c.seq = l.entry_seq
left join claim_event r on r.claim = l.claim and r.seq = l.resolution_seq
left join claim_event a on a.claim = l.claim and a.seq = l.answer_seq
order by l.claim
