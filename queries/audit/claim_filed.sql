-- One row a claim of breach that the bureau recorded as open or uncounted (spec 4.8; profile 1.7, claim.state; 2.10).
--
--   seq, at, subject          the entry, its instant, and whom it is about
--   state                     open or uncounted
--   claim_digest              as the entry names it
--   body_digest               that of the claim in the entry
--   claimant_anchor_hash      as the entry names it
--   claimant, respondent      handles, as the claim's body names them
--   agreement                 its periods: {direction, effective_at, ends_at, duties_end_at}
--   categories                a list, or null
--   disclosures               a list of {kind, digest, at}, or null
--   breach_at                 instant of the breach, or null
select n.seq, n.at, n.subject, n.state, n.claim_digest, n.body_digest, n.claimant_anchor_hash, n.claimant, n.respondent, n.agreement,
       n.categories, n.disclosures, n.breach_at
from policy p
cross join nda_claimed n
where n.at <= p.as_of and n.state <> 'rejected'
