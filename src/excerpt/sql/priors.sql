-- One row a capability of the subject with a portfolio prior (profile 2.5).
select p.capability, p.from_agents, p.sum_w, p.sum_wv
from prior p
join excerpted x on x.subject = p.subject
order by p.capability
