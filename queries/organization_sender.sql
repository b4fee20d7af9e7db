-- One row an organization and class with a stop that counts about a member at T, below the threshold too (spec 4.7, 8.5; profile 2.9).
-- A class is served where refusers reaches `policy.sender_threshold`.
--
--   organization, class   the key
--   stops                 stops that count about the members
--   refusers              distinct parties that refused, counted once across the members
--   top_count             the stops of the party that refused most
with by_party as (
    select m.organization, s.class, s.party_key, count(*) as stops
    from stop_counted s
    join membership m on m.subject = s.subject
    group by m.organization, s.class, s.party_key
)
select organization, class, cast(sum(stops) as bigint) as stops, count(*) as refusers, max(stops) as top_count
from by_party
group by organization, class
order by organization, class
