-- One row an entry whose members and signatures are to be judged (profile 1.4, 1.7: entry.*, sig.*, reporter.unconfigured).
--
--   seq, at, action   of the entry; at is null where it cannot be read
--   fault             what is wrong with its members, or null
--   canonical         the entry without its two hash members, RFC 8785
--
-- `audit_scope` has one row: entries up to `head` have been judged before; head 0 judges all.
select l.seq, l.at, l.action, l.fault, l.canonical
from audit_scope s
cross join policy p
cross join ledger l
where (l.at is null or l.at <= p.as_of) and l.seq > s.head
