-- One row a sender and class with a stop that counts, below the threshold too (spec 4.7 rules 1, 2 and 5; profile 2.8). A class is
-- served where refusers reaches `policy.sender_threshold`, and is never combined with another.
--
--   subject, class   the key
--   stops            stops that count
--   refusers         distinct parties that refused
--   top_count        the stops of the party that refused most
with by_party as (
    select subject, class, party_key, count(*) as stops
    from stop_counted
    group by subject, class, party_key
)
select subject, class, cast(sum(stops) as bigint) as stops, count(*) as refusers, max(stops) as top_count
from by_party
group by subject, class
order by subject, class
