-- One row a screening provider that a standing screening stop names, over all time (spec 4.7, last paragraph; profile 2.8).
--
--   id                        the provider
--   blocked, released, open   its holds, by what the recipient's owner decided
select provider as id,
       count(case when resolution = 'blocked' then 1 end) as blocked,
       count(case when resolution = 'released' then 1 end) as released,
       count(case when resolution = 'open' then 1 end) as open
from stop_accepted
where class = 'screening' and provider is not null
group by provider
order by provider
