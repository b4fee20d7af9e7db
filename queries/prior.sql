-- One row a report whose prior comes from the portfolio (profile 2.5); empty unless the policy has portfolio_prior.
--
--   subject, capability   the report
--   from_agents           other subjects of the same anchor, bound at T, that are RATED for the capability
--   sum_w, sum_wv         their pools together, exact, 15 and 17 places
with lender as (
    select n.anchor, r.subject, r.capability,
           coalesce(q.sum_w, cast(0 as decimal(16, 15))) as sum_w, coalesce(q.sum_wv, cast(0 as decimal(20, 17))) as sum_wv
    from policy p
    cross join report_index r
    join identity n on n.handle = r.subject
    left join pool q on q.subject = r.subject and q.capability = r.capability
    where p.portfolio_prior and r.state = 'RATED' and r.capability is not null
      and n.bound_at <= p.as_of and (n.unbound_at is null or p.as_of < n.unbound_at)
),
portfolio as (
    select anchor, capability, count(*) as agents, sum(sum_w) as sum_w, sum(sum_wv) as sum_wv
    from lender
    group by anchor, capability
)
select r.subject, r.capability,
       f.agents - case when l.subject is null then 0 else 1 end as from_agents,
       f.sum_w - coalesce(l.sum_w, cast(0 as decimal(16, 15))) as sum_w,
       f.sum_wv - coalesce(l.sum_wv, cast(0 as decimal(20, 17))) as sum_wv
from report_index r
join identity n on n.handle = r.subject
join portfolio f on f.anchor = n.anchor and f.capability = r.capability
left join lender l on l.subject = r.subject and l.capability = r.capability
where r.state in ('RATED', 'UNPROVEN') and f.agents > case when l.subject is null then 0 else 1 end
order by r.subject, r.capability
