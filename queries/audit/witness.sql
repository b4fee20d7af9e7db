-- One row an attestation that a fact witnesses: the earliest fact without error of the same interaction, subject and capability, as the
-- ledger stood at the attestation, with the corrections that came before it (profile 1.7, attest.unwitnessed).
--
--   seq        the attestation
--   fact_seq   the fact
with touched as (
    select distinct target_seq from correction_span
),
seen as (
    select f.seq, f.interaction_id, f.subject, f.capability from policy p cross join fact f where f.at <= p.as_of
),
good as (
    select f.* from faulty x right join seen f on f.seq = x.seq where x.seq is null
),
untouched as (
    select f.* from touched t right join good f on f.seq = t.target_seq where t.target_seq is null
),
state as (
    select seq as fact_seq, seq as since_seq, cast(null as bigint) as until_seq, interaction_id, subject, capability from untouched
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
