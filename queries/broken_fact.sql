-- One row a standing fact with a failed promise check that counts (spec 9; profile 2.3 step 3).
--
--   fact_seq
select distinct fact_seq
from promise_check
where counts and not held
order by fact_seq
