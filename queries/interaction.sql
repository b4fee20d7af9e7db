-- One row an interaction, with its one code (profile 2.3): a standing fact, or a probe without one. In no order.
--
--   interaction_id, subject   the key
--   capability                the fact's; a lone probe's own
--   code            of spec 5, PASS or FAIL; null where the interaction is not scored
--   source          what the code rests on: probe, attestation or fact (its checks, its derived outcome, its transport); null with no code
--   fact_seq        null for a lone probe
--   probe_seq       the probe, or null
--   attestation_seq the final attestation where it is the source, or null
--   evaluator_anchor_hash   who made it
--   amounted        whether it carries an amount (value judgments)
--   started_at, ended_at    instants; both the probe's end for a lone probe
--   excluded        whether the fact is excluded as self-dealing
--   enrollment      ordinal of the enrollment that it began in; null for none
--   late            whether the final attestation was entered once the withdrawal from that enrollment had taken effect (2.5)
with several as (
    select fact_seq, max(seq) as last_seq from standing_attestation where not excluded group by fact_seq having count(*) > 1
),
attestation as (
    select a.fact_seq, a.seq, a.at, a.outcome, a.evaluator_anchor_hash, a.amounted
    from several s
    right join standing_attestation a on a.fact_seq = s.fact_seq
    where not a.excluded and (s.last_seq is null or s.last_seq = a.seq)
),
probed as (
    select f.*, b.seq as probe_seq, b.result
    from standing_probe b
    right join standing_fact f on b.interaction_id = f.interaction_id and b.subject = f.subject
),
checked as (
    select f.*, k.fact_seq is not null as broken
    from broken_fact k
    right join probed f on k.fact_seq = f.seq
),
observed as (
    select f.interaction_id, f.subject, f.capability, f.seq as fact_seq, f.probe_seq, f.result,
           a.seq as attested_seq, a.at as attested_at, a.outcome, a.evaluator_anchor_hash, a.amounted,
           case
               when f.broken
                   and coalesce(f.derived_outcome, '') not in ('DECLINED', 'REFUSED', 'REFUSED_UNSTATED', 'UNAVAILABLE')
                   and coalesce(f.derived_from, '') not in ('input_required', 'exhausted', 'metering', 'terminated_for_cause', 'dispute_fallback')
                   then 'CONTRACT'
               when f.derived_outcome is not null then f.derived_outcome
               when f.transport in ('UNREACHABLE', 'TIMEOUT') then 'UNREACHABLE'
           end as fact_code,
           f.started_at, f.ended_at, f.excluded
    from attestation a
    right join checked f on f.seq = a.fact_seq
    union all
    select b.interaction_id, b.subject, b.capability, f.seq as fact_seq, b.seq as probe_seq, b.result,
           null as attested_seq, null as attested_at, null as outcome, null as evaluator_anchor_hash, null as amounted,
           null as fact_code, b.ended_at as started_at, b.ended_at, false as excluded
    from standing_probe b
    left join standing_fact f on f.interaction_id = b.interaction_id and f.subject = b.subject
    where f.seq is null
)
select o.interaction_id, o.subject, o.capability,
       case when o.probe_seq is not null then o.result when o.attested_seq is not null then o.outcome else o.fact_code end as code,
       case when o.probe_seq is not null then 'probe' when o.attested_seq is not null then 'attestation'
            when o.fact_code is not null then 'fact' end as source,
       o.fact_seq, o.probe_seq,
       case when o.probe_seq is null then o.attested_seq end as attestation_seq,
       case when o.probe_seq is null then o.evaluator_anchor_hash end as evaluator_anchor_hash,
       case when o.probe_seq is null then o.amounted end as amounted,
       o.started_at, o.ended_at, o.excluded,
       e.ordinal as enrollment,
       o.probe_seq is null and coalesce(o.attested_at >= e.takes_effect_at, false) as late
from enrollment_interval e
right join observed o
    on e.subject = o.subject and o.started_at >= e.covers_from and (e.withdrew_at is null or o.started_at < e.withdrew_at)
