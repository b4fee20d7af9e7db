-- At most one row: the head of the ledger at T (profile 3.3, `ledger` of the manifest).
--
--   seq          of the last entry with `at` ≤ T
--   entry_hash   its hash, base64
--   entries      how many entries exist at T, a count; one whose `at` cannot be read exists (profile 1.7)
with standing as (
    select l.seq, l.at, l.entry_hash
    from policy p
    cross join ledger l
    where l.at is null or l.at <= p.as_of
),
last_entry as (
    select max(s.seq) filter (where s.at is not null) as seq, count(*) as entries
    from standing s
)
select s.seq, s.entry_hash, e.entries
from last_entry e
join standing s on s.seq = e.seq
