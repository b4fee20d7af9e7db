-- One row a subject that has a report (profile 2.4): the subject of an entry that counts, the `sender` that a counted fact names,
-- the claimant of a counted claim. A correction is an entry about its subject too, so that no report disappears with what it voids.
--
--   subject
select subject from declaration
union
select w.subject from policy p cross join withdrew w left join discounted d on d.seq = w.seq where w.at <= p.as_of and d.seq is null
union
-- Facts and probes; an attestation stands on the interaction of a fact.
select subject from capability_seen
union
-- Senders of facts, and subjects of stops.
select subject from sender_seen
union
select subject from standing_exclusion
union
select c.subject from policy p cross join corrected c left join discounted d on d.seq = c.seq where c.at <= p.as_of and d.seq is null
union
select respondent from claim_entry
union
select claimant from claim_entry
order by subject
