-- One row an attestation that a fact witnesses: the earliest fact without error of the same interaction, subject and capability, as the
-- ledger stood at the attestation, with the corrections that came before it (profile 1.7, attest.unwitnessed).
--
--   seq        the attestation
--   fact_seq   the fact
with touched as (
    select distinct target_seq from correction_span
),
state as (
    select f.seq as fact_seq, f.seq as since_seq, cast(null as bigint) as until_seq, f.interaction_id, f.subject, f.capability
    from policy p
    cross join fact f
    left join faulty x on x.seq = f.seq
    left join touched t on t.target_seq = f.seq
    where f.at <= p.as_of and x.seq is null and t.target_seq is null
    union all
    select fact_seq, since_seq, until_seq, interaction_id, subject, capability from fact_version
)
select a.seq, min(s.fact_seq) as fact_seq
from policy p
cross join attested a
join state s on s.interaction_id = a.interaction_id and s.subject = a.subject
where a.at <= p.as_of and s.since_seq < a.seq and (s.until_seq is null or s.until_seq > a.seq)
  and s.capability is not distinct from a.capability
group by a.seq
order by a.seq
