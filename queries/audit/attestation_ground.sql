-- One row an attestation that no correction voided and a standing exclusion of it, in the order in which a ceiling is counted: by
-- evaluator, subject and seq (profile 1.7, exclude.*; 2.10). An attestation that nothing excludes has one row.
--
--   seq, at                  the entry and its instant
--   evaluator                who attested
--   subject                  about whom, as corrected at T; an attestation that was not itself amended follows its fact
--   counts                   false where it is in error, or its interaction has no fact any more
--   competitor               whether the subject's last declaration before it names the evaluator's anchor
--   exclusion_seq, reason    the exclusion, or null
with latest as (
    select target_seq, kind, set_subject, set_interaction_id from correction_span where until_seq is null
),
own as (
    select a.seq, a.at, a.evaluator, a.evaluator_anchor_hash, coalesce(c.set_interaction_id, a.interaction_id) as interaction_id,
           coalesce(c.set_subject, a.subject) as subject, c.target_seq is not null as amended, x.seq is not null as in_error
    from attested a
    cross join policy p
    left join latest c on c.target_seq = a.seq
    left join faulty x on x.seq = a.seq
    where a.at <= p.as_of and coalesce(c.kind, 'none') <> 'void'
),
moved as (
    select w.seq, coalesce(c.set_interaction_id, f.interaction_id) as interaction_id, coalesce(c.set_subject, f.subject) as subject
    from witness w
    join latest c on c.target_seq = w.fact_seq
    join fact f on f.seq = w.fact_seq
    where c.kind = 'amend'
),
placed as (
    select o.seq, o.at, o.evaluator, o.evaluator_anchor_hash, o.in_error,
           case when o.amended then o.interaction_id else coalesce(m.interaction_id, o.interaction_id) end as interaction_id,
           case when o.amended then o.subject else coalesce(m.subject, o.subject) end as subject
    from own o
    left join moved m on m.seq = o.seq
),
observed as (
    select distinct coalesce(c.set_interaction_id, f.interaction_id) as interaction_id, coalesce(c.set_subject, f.subject) as subject
    from fact f
    cross join policy p
    left join faulty x on x.seq = f.seq
    left join latest c on c.target_seq = f.seq
    where f.at <= p.as_of and x.seq is null and coalesce(c.kind, 'none') <> 'void'
),
declared as (
    select d.seq, d.subject, d.competitor_anchors
    from (
        select e.seq, e.at, e.subject, e.competitor_anchors from enrolled e
        union all
        select e.seq, e.at, e.subject, e.competitor_anchors from amended e
    ) d
    cross join policy p
    left join faulty x on x.seq = d.seq
    where d.at <= p.as_of and x.seq is null
),
line as (
    select seq, subject, true as is_attestation, cast(null as bigint) as declared_seq from placed
    union all
    select seq, subject, false as is_attestation, seq as declared_seq from declared
),
dated as (
    select seq, is_attestation,
           max(declared_seq) over (partition by subject order by seq rows between unbounded preceding and current row) as declared_seq
    from line
),
named as (
    select seq, unnest(competitor_anchors) as anchor_hash from declared
),
rival as (
    select distinct seq, anchor_hash from named
),
standing as (
    select x.seq, x.target_seq, x.reason
    from excluded x
    cross join policy p
    left join latest c on c.target_seq = x.seq
    where x.at <= p.as_of and coalesce(c.kind, 'none') <> 'void' and x.target_seq < x.seq
)
select k.seq, k.at, k.evaluator, k.subject, not k.in_error and o.subject is not null as counts,
       r.seq is not null as competitor, s.seq as exclusion_seq, s.reason
from placed k
join dated d on d.seq = k.seq and d.is_attestation
left join observed o on o.interaction_id = k.interaction_id and o.subject = k.subject
left join rival r on r.seq = d.declared_seq and r.anchor_hash = k.evaluator_anchor_hash
left join standing s on s.target_seq = k.seq
order by k.evaluator, k.subject, k.seq, s.seq
