-- One row an agreement and respondent with an upheld claim in the record period (spec 4.9 rule 1; profile 2.8). It does not name the
-- agreement.
--
--   subject                  the respondent
--   upheld_at                the latest `resolved_at` of the claims
--   basis, categories, direction, claimant_anchor_hash   of the claim with that `resolved_at`; of two, the one whose resolution
--                            is the later entry
--   answered_at              when the latest answer to any of them was signed; null with none
with upheld as (
    select respondent, nda_digest, resolved_at, basis, categories, direction, claimant_anchor_hash,
           row_number() over (partition by nda_digest, respondent order by resolved_at desc, resolution_seq desc) as place
    from claim_state
    where state = 'upheld' and shown
),
answered as (
    select respondent, nda_digest, answered_at,
           row_number() over (partition by nda_digest, respondent order by answer_seq desc) as place
    from claim_state
    where state = 'upheld' and shown and answer_seq is not null
)
select u.respondent as subject, u.resolved_at as upheld_at, u.basis, u.categories, u.direction, u.claimant_anchor_hash, a.answered_at
from upheld u
left join answered a on a.respondent = u.respondent and a.nda_digest = u.nda_digest and a.place = 1
where u.place = 1
order by u.respondent, u.resolved_at, u.claimant_anchor_hash, u.nda_digest
