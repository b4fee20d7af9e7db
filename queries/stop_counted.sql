-- One row a stop that counts in its sender's record (spec 4.6 condition 4, 4.7 rules 1, 3 and 4; profile 2.8).
--
--   seq         the entry
--   subject     the sender
--   class       one of the five classes
--   party_key   the party that refused (`refusing_party`)
select s.seq, s.subject, s.class, r.party_key
from policy p
cross join stop_accepted s
join refusing_party r on r.anchor_hash = s.recipient_anchor_hash
left join identity i on i.handle = s.subject and i.party is not null
left join refusing_party own on own.anchor_hash = i.anchor_hash
where s.stopped_at > p.window_from and s.stopped_at <= p.as_of
  and not s.solicited
  and (own.party_key is null or own.party_key <> r.party_key)
  and case when s.class = 'screening' then coalesce(s.resolution, '') = 'blocked' else s.decided_by in ('rule', 'person') end
order by s.seq
