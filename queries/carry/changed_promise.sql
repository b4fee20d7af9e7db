-- One row a subject of whose earlier entries some have another last declaration than in the report before (profile 1.7, fact.promise).
--
--   subject
--
-- `basis.head` is the last entry of that report: declarations after it hold for new entries alone.
with here as (
    select d.seq, case when d.until_seq <= b.head then d.until_seq end as until_seq, d.subject
    from basis b
    cross join declaration d
    where d.seq <= b.head
),
then_ as (
    select d.seq, d.until_seq, d.subject from before_declaration d
),
appeared as (select * from here except select * from then_),
vanished as (select * from then_ except select * from here)
select subject from appeared
union
select subject from vanished
