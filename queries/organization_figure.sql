-- One row an organization that has a report: the anchor of every handle that has one, and every charter's domain (spec 8.5; profile
-- 2.9, 2.10). No figure of quality is pooled here, ever.
--
--   organization, organization_kind       the anchor, and whether it is an email or a domain
--   charter_id, domain_proof              of its charter, and whether its proof is current or lapsed at T; null without one
--   rated, unproven, unenrolled, withdrawn   members, by their own state
--   joined                                members since the window began
--   contract_violations                   facts of the members in the window that broke a promise (2.6)
--   self_dealing                          `excluded` entries of that reason in the window whose evaluator and subject are members
--   witnessed                             witnessed requests of the members in the window (2.8)
with reported as (
    select distinct i.anchor
    from identity i
    join known_subject k on k.subject = i.handle
),
member as (
    select m.organization,
           count(case when m.enrollment = 'RATED' then 1 end) as rated,
           count(case when m.enrollment = 'UNPROVEN' then 1 end) as unproven,
           count(case when m.enrollment = 'UNENROLLED' then 1 end) as unenrolled,
           count(case when m.enrollment = 'WITHDRAWN' then 1 end) as withdrawn,
           count(case when m.joined then 1 end) as joined,
           cast(coalesce(sum(f.contract_violations), 0) as bigint) as contract_violations,
           cast(coalesce(sum(s.witnessed), 0) as bigint) as witnessed
    from organization_member m
    left join facts f on f.subject = m.subject
    left join sender_seen s on s.subject = m.subject
    group by m.organization
),
inside as (
    select s.organization, count(*) as self_dealing
    from policy p
    cross join standing_exclusion x
    join attested a on a.seq = x.target_seq
    join membership s on s.subject = x.subject
    join membership e on e.subject = a.evaluator and e.organization = s.organization
    where x.reason = 'self_dealing' and x.at > p.window_from and x.at <= p.as_of
    group by s.organization
)
select o.anchor as organization, o.anchor_kind as organization_kind, o.charter_id, o.domain_proof,
       coalesce(m.rated, 0) as rated, coalesce(m.unproven, 0) as unproven, coalesce(m.unenrolled, 0) as unenrolled,
       coalesce(m.withdrawn, 0) as withdrawn, coalesce(m.joined, 0) as joined,
       coalesce(m.contract_violations, 0) as contract_violations, coalesce(i.self_dealing, 0) as self_dealing,
       coalesce(m.witnessed, 0) as witnessed
from organization o
left join reported r on r.anchor = o.anchor
left join member m on m.organization = o.anchor
left join inside i on i.organization = o.anchor
where r.anchor is not null or o.charter_id is not null
order by o.anchor
