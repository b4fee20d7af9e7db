-- The rows of `entry` for entries that an earlier audit judged and whose signer's keys, as the resolver and the bureau's
-- configuration give them, have changed since: `changed_signer` (handles) and `changed_reporter` (names) hold whom.
--
--   seq, at, action, fault, canonical   as in `entry`
with signed as (
    select e.seq from enrolled e join changed_signer c on c.handle = e.subject
    union all
    select e.seq from amended e join changed_signer c on c.handle = e.subject
    union all
    select e.seq from withdrew e join changed_signer c on c.handle = e.subject
    union all
    select e.seq from attested e join changed_signer c on c.handle = e.evaluator
    union all
    select e.seq from stopped e join changed_signer c on c.handle = e.subject
    union all
    select e.seq from nda_claimed e join changed_signer c on c.handle = e.claimant
    union all
    select e.seq from nda_answered e join changed_signer c on c.handle = e.subject
    union all
    select e.seq from nda_resolved e join changed_signer c on c.handle = e.subject
    union all
    select e.seq from fact e join changed_reporter c on c.reporter = e.reporter
    union all
    select e.seq from probed e join changed_reporter c on c.reporter = e.reporter
    union all
    select e.seq from stopped e join changed_reporter c on c.reporter = e.reporter
),
again as (
    select distinct seq from signed
),
earlier as (
    select l.seq, l.at, l.action, l.fault, l.canonical
    from audit_scope s
    cross join policy p
    cross join ledger l
    where l.at <= p.as_of and l.seq <= s.head
)
select e.seq, e.at, e.action, e.fault, e.canonical
from again g
join earlier e on e.seq = g.seq
