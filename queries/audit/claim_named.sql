-- One row an answer to a claim or a resolution of one (spec 4.8; profile 1.7, claim.basis).
--
--   seq                  the entry
--   claim_seq            the latest earlier claim of that digest about the entry's subject, as the ledger stood; null for none
--   claimant             its claimant, or null
--   resolution, basis    null for an answer; basis null where there is none
--   key, signature, statement_at   of an acknowledgment or withdrawal, or null
--   has_verdict, has_settlement    whether it carries them
--   court                {forum, citation, found_on, checked_by}, or null
with claim as (
    select n.seq, n.seq as since_seq, n.claim_digest, n.subject, n.claimant
    from policy p
    cross join nda_claimed n
    where n.at <= p.as_of
    union all
    select n.seq, c.since_seq, n.claim_digest, c.set_subject, n.claimant
    from policy p
    cross join nda_claimed n
    join correction_span c on c.target_seq = n.seq
    where n.at <= p.as_of and c.kind = 'amend' and c.set_subject is not null
),
act as (
    select a.seq, a.at, a.subject, a.claim_digest from nda_answered a
    union all
    select r.seq, r.at, r.subject, r.claim_digest from nda_resolved r
),
known as (
    select a.seq, max(c.seq) as claim_seq
    from act a
    join claim c on c.claim_digest = a.claim_digest and c.subject = a.subject
    where c.since_seq < a.seq
    group by a.seq
)
select a.seq, k.claim_seq, n.claimant, r.resolution, r.basis, r.key, r.signature, r.statement_at,
       coalesce(r.has_verdict, false) as has_verdict, coalesce(r.has_settlement, false) as has_settlement, r.court
from policy p
cross join act a
left join known k on k.seq = a.seq
left join nda_claimed n on n.seq = k.claim_seq
left join nda_resolved r on r.seq = a.seq
where a.at <= p.as_of
