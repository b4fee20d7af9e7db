-- One row a claim that an entry of the excerpt names: the handle of the latest filing under that digest.
with named as (
    select n.claim_digest, max(n.seq) as seq
    from nda_claimed n
    cross join excerpted x
    where n.claimant is not null and n.at <= x.as_of
    group by n.claim_digest
)
select n.claim_digest, n.claimant
from named k
join nda_claimed n on n.seq = k.seq
order by n.claim_digest
