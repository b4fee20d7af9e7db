-- One row an attestation that follows its fact to where a later correction moved it (profile 2.10). An attestation that was itself
-- corrected does not follow.
--
--   seq                       the attestation
--   fact_seq                  the fact that it named as the ledger stood then: the earliest of its interaction, subject and capability
--   interaction_id, subject   where the fact is now
with named as (
    select a.seq, a.interaction_id, a.subject, a.capability, min(v.fact_seq) as fact_seq
    from policy p
    cross join fact_version v
    join attested a on a.interaction_id = v.interaction_id and a.subject = v.subject
    left join discounted d on d.seq = a.seq
    left join correction c on c.target_seq = a.seq
    where v.from_seq < a.seq and (v.until_seq is null or a.seq < v.until_seq) and (v.capability is not distinct from a.capability)
      and a.at <= p.as_of and d.seq is null and c.target_seq is null
    group by a.seq, a.interaction_id, a.subject, a.capability
),
-- An earlier fact that nobody corrected is the one that was named, and it stayed.
stayed as (
    select n.seq
    from named n
    join fact f on f.interaction_id = n.interaction_id and f.subject = n.subject
    left join discounted d on d.seq = f.seq
    left join (select distinct fact_seq from fact_version) v on v.fact_seq = f.seq
    where f.seq < n.fact_seq and (f.capability is not distinct from n.capability) and d.seq is null and v.fact_seq is null
    group by n.seq
)
select n.seq, n.fact_seq,
       coalesce(c.set_interaction_id, f.interaction_id) as interaction_id,
       coalesce(c.set_subject, f.subject) as subject
from named n
join fact_version f on f.fact_seq = n.fact_seq and f.from_seq = n.fact_seq
join correction c on c.target_seq = n.fact_seq
left join stayed s on s.seq = n.seq
where c.kind = 'amend' and s.seq is null
order by n.seq
