-- One row an attestation or fact that a standing `excluded` entry names (profile 1.5).
--
--   target_seq     the attestation or fact
--   self_dealing   true where one of its exclusions is for self-dealing
select target_seq, max(case when reason = 'self_dealing' then 1 else 0 end) = 1 as self_dealing
from standing_exclusion
group by target_seq
order by target_seq
