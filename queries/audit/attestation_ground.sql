-- One row an attestation that no correction voided and a standing exclusion of it, in the order in which a ceiling is counted: by
-- evaluator, subject and seq (profile 1.7, exclude.*; 2.10). An attestation that nothing excludes has one row.
--
--   seq, at                  the entry and its instant
--   evaluator                who attested
--   subject                  about whom, as corrected at T; an attestation that was not itself amended follows its fact
--   counts                   false where it is in error, or its interaction has no fact any more
--   gone                     whether its interaction has no fact any more: then an exclusion of it needs no ground
--   competitor               whether the subject's last declaration before it names the evaluator's anchor
--   exclusion_seq, reason    the exclusion, or null
with latest as (
    select target_seq, kind, set_subject, set_interaction_id from correction_span where until_seq is null
),
visible as (
    select a.seq, a.at, a.interaction_id, a.subject, a.evaluator, a.evaluator_anchor_hash
    from policy p
    cross join attested a
    where a.at <= p.as_of
),
own as (
    select a.seq, a.at, a.evaluator, a.evaluator_anchor_hash, coalesce(c.set_interaction_id, a.interaction_id) as interaction_id,
           coalesce(c.set_subject, a.subject) as subject, c.target_seq is not null as amended
    from latest c
    right join visible a on a.seq = c.target_seq
    where coalesce(c.kind, 'none') <> 'void'
),
-- The fact of an attestation was corrected: where it is now, if it is.
followed as (
    select w.seq, c.kind, coalesce(c.set_interaction_id, f.interaction_id) as interaction_id, coalesce(c.set_subject, f.subject) as subject
    from latest c
    join witness w on w.fact_seq = c.target_seq
    join fact f on f.seq = c.target_seq
),
told as (
    select o.*, x.seq is not null as in_error from faulty x right join own o on x.seq = o.seq
),
placed as (
    select o.seq, o.at, o.evaluator, o.evaluator_anchor_hash, o.in_error,
           case when o.amended or m.kind is null or m.kind = 'void' then o.interaction_id else m.interaction_id end as interaction_id,
           case when o.amended or m.kind is null or m.kind = 'void' then o.subject else m.subject end as subject,
           o.amended or m.seq is not null as doubtful
    from followed m
    right join told o on o.seq = m.seq
),
-- An attestation that was amended, or whose fact was corrected, may be on an interaction that has no fact any more.
doubted as (
    select distinct interaction_id, subject from placed where doubtful
),
sound as (
    select f.*
    from faulty x
    right join (select s.seq, s.interaction_id, s.subject from policy p cross join fact s where s.at <= p.as_of) f on x.seq = f.seq
    where x.seq is null
),
observed as (
    select distinct d.interaction_id, d.subject
    from doubted d
    join (
        select coalesce(c.set_interaction_id, f.interaction_id) as interaction_id, coalesce(c.set_subject, f.subject) as subject
        from latest c
        right join sound f on c.target_seq = f.seq
        where coalesce(c.kind, 'none') <> 'void'
    ) f on f.interaction_id = d.interaction_id and f.subject = d.subject
),
declared as (
    select d.seq, d.subject, d.competitor_anchors
    from policy p
    cross join (
        select e.seq, e.at, e.subject, e.competitor_anchors from enrolled e
        union all
        select e.seq, e.at, e.subject, e.competitor_anchors from amended e
    ) d
    left join faulty x on x.seq = d.seq
    where d.at <= p.as_of and x.seq is null
),
line as (
    select k.seq, k.subject, k.at as at, k.evaluator, k.evaluator_anchor_hash,
           not k.in_error and (not k.doubtful or o.subject is not null) as counts, k.doubtful and o.subject is null as gone,
           cast(null as bigint) as declared_seq
    from observed o
    right join placed k on k.interaction_id = o.interaction_id and k.subject = o.subject
    union all
    select d.seq, d.subject, null as at, null as evaluator, null as evaluator_anchor_hash, false as counts, false as gone,
           d.seq as declared_seq
    from declared d
),
dated as (
    select l.seq, l.subject, l.at, l.evaluator, l.evaluator_anchor_hash, l.counts, l.gone, l.declared_seq is null as is_attestation,
           max(l.declared_seq) over (partition by l.subject order by l.seq rows between unbounded preceding and current row) as declared_seq
    from line l
),
named as (
    select seq, unnest(competitor_anchors) as anchor_hash from declared
),
rival as (
    select distinct seq, anchor_hash from named
),
standing as (
    select x.seq, x.target_seq, x.reason
    from policy p
    cross join excluded x
    left join latest c on c.target_seq = x.seq
    where x.at <= p.as_of and coalesce(c.kind, 'none') <> 'void' and x.target_seq < x.seq
),
rivalled as (
    select k.seq, k.at, k.evaluator, k.subject, k.counts, k.gone, r.seq is not null as competitor
    from rival r
    right join dated k on r.seq = k.declared_seq and r.anchor_hash = k.evaluator_anchor_hash
    where k.is_attestation
)
select k.seq, k.at, k.evaluator, k.subject, k.counts, k.gone, k.competitor, s.seq as exclusion_seq, s.reason
from standing s
right join rivalled k on k.seq = s.target_seq
order by k.evaluator, k.subject, k.seq, s.seq
