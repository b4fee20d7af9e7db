-- One row a subject and capability with an interaction: a standing fact, or a probe without one (profile 2.3, 2.4). In no order.
--
--   subject, capability   the key; capability may be null
--   interactions          how many
select subject, capability, count(*) as interactions
from interaction
group by subject, capability
