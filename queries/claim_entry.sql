-- One row a `nda_claimed` entry that stands as open at T (spec 4.8; profile 1.5, 2.8). Rejected and uncounted claims are not here.
--
--   seq, entered_at          the entry and its `at`
--   claim                    the `seq` of the first entry of the same claimant party, agreement and respondent: it names the claim
--   respondent               the subject, as corrected
--   claimant                 the handle that filed
--   claimant_anchor_hash     the hash of its anchor
--   claimant_party           its party, or the hash itself where no identity explains it
--   nda_digest               the agreement
--   claim_digest             the signed claim
--   respondent_org           the charter that the respondent's seat names, or null
--   categories               what material, a list in the claim's order
--   direction                of the agreement
with counted as (
    select n.seq, n.at as entered_at, coalesce(c.set_subject, n.subject) as respondent, n.claimant, n.claimant_anchor_hash,
           coalesce('party ' || cast(a.party as varchar), n.claimant_anchor_hash) as claimant_party,
           n.nda_digest, n.claim_digest, n.respondent_org, n.categories, n.agreement['direction'] as direction
    from policy p
    cross join nda_claimed n
    left join discounted d on d.seq = n.seq
    left join correction c on c.target_seq = n.seq
    left join anchor_party a on a.anchor_hash = n.claimant_anchor_hash
    where n.at <= p.as_of and d.seq is null and coalesce(c.kind, 'none') <> 'void' and n.state = 'open'
)
select seq, entered_at, min(seq) over (partition by claimant_party, nda_digest, respondent) as claim, respondent, claimant,
       claimant_anchor_hash, claimant_party, nda_digest, claim_digest, respondent_org, categories, direction
from counted
order by seq
