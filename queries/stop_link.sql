-- One row a pair of recipient and operator that a standing stop names (profile 1.6). The parties of the recipients, the run's input
-- `refusing_party`, are the connected components over these pairs and the parties of the identities.
--
--   recipient_anchor_hash     who refused
--   recipient_operator_hash   its operator, or null where the reporter names none
select distinct s.recipient_anchor_hash, s.recipient_operator_hash
from stop_accepted s
order by s.recipient_anchor_hash, s.recipient_operator_hash nulls first
