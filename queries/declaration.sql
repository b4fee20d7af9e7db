-- One row a declaration: an `enrolled` or `amended` entry without error (profile 1.5, 2.4).
--
--   seq            the entry; the declaration holds for later entries of the subject ...
--   until_seq      ... up to the next declaration, which is this entry; null for the latest
--   subject
--   statement_at   the signed instant
--   capabilities   the declared capabilities, a list
--   promises       the declared promises in their order, a list of {id, class, text, kind, bound}
with stated as (
    select e.seq, e.at, e.subject, e.statement_at, e.capabilities, e.promises from enrolled e
    union all
    select e.seq, e.at, e.subject, e.statement_at, e.capabilities, e.promises from amended e
)
select s.seq, lead(s.seq) over (partition by s.subject order by s.seq) as until_seq, s.subject, s.statement_at, s.capabilities, s.promises
from policy p
cross join stated s
left join discounted d on d.seq = s.seq
where s.at <= p.as_of and d.seq is null
order by s.seq
