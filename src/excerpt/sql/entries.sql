-- One row an entry of the excerpt of `excerpted.subject` at T (spec 4.1, 4.7 rule 7, 4.8, 4.9 rule 8).
--
--   seq, prev_hash, entry_hash, canonical   as the ledger has them
--   own   true where it belongs to a claim that the subject filed
with own_claim as (
    select n.seq, n.claim_digest
    from nda_claimed n
    cross join excerpted x
    where n.claimant = x.subject and n.at <= x.as_of
    union
    -- A claim that a colleague filed first, and that the subject's own entry amends, is one claim (check 9).
    select c.seq, c.claim_digest
    from claim_entry c
    join (select distinct e.claim from claim_entry e join excerpted x on e.claimant = x.subject) o on o.claim = c.claim
),
about as (
    select l.seq from ledger l join excerpted x on x.subject = l.subject
    union
    select c.target_seq from corrected c join excerpted x on x.subject = c.set_subject where c.at <= x.as_of
    union
    select s.seq from standing_fact s join excerpted x on x.subject = s.subject
    union
    select s.seq from standing_attestation s join excerpted x on x.subject = s.subject
    union
    select s.seq from standing_probe s join excerpted x on x.subject = s.subject
    union
    select s.seq from stop_accepted s join excerpted x on x.subject = s.subject
    union
    select s.seq from standing_exclusion s join excerpted x on x.subject = s.subject
    union
    select s.seq from claim_entry s join excerpted x on x.subject = s.respondent
),
claim_digest as (
    select claim_digest, true as own from own_claim
    union
    select n.claim_digest, false as own from nda_claimed n join about a on a.seq = n.seq
),
act as (
    select seq, claim_digest from nda_answered
    union all
    select seq, claim_digest from nda_resolved
),
chosen as (
    select seq, false as own from about
    union all
    select seq, true as own from own_claim
    union all
    select a.seq, d.own from act a join claim_digest d on d.claim_digest = a.claim_digest
),
touching as (
    select c.seq, k.own from corrected c join chosen k on k.seq = c.target_seq
    union all
    select e.seq, k.own from excluded e join chosen k on k.seq = e.target_seq
),
all_of_them as (
    select seq, max(case when own then 1 else 0 end) = 1 as own
    from (select seq, own from chosen union all select seq, own from touching) together
    group by seq
)
select l.seq, l.prev_hash, l.entry_hash, l.canonical, a.own
from ledger l
join all_of_them a on a.seq = l.seq
cross join excerpted x
where l.at is null or l.at <= x.as_of
order by l.seq
