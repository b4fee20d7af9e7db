//! The order of the ledger: one entry a slot of time, what follows from earlier ones first.
//!
//! A clean ledger gives no error finding (profile 1.7). What a rule forbids is not done here, or, where the profile asks for an
//! exclusion, it is done now and then and excluded in the very next entry.

use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use super::act::{Act, Claim, Fact, Kind, Repair, Resolution};
use super::draw::{Drawer, worked};
use super::queue::{Due, Extent, Follow, Scope, Seen};
use super::random::{Random, mix};
use super::standing::{ATTESTATION_WINDOW, Ceiling, Pair, Standing};
use super::time::{DAY, HOUR, MINUTE, SECOND};
use super::words::CAPABILITIES;
use super::world::World;

/// The entries of a ledger, one after the other.
pub struct Planner<'w> {
    world: &'w World,
    draw: Drawer<'w>,
    extent: Extent,
    /// Whether entries of unknown actions are among them.
    notes: bool,
    seq: u64,
    at: i64,
    queue: BinaryHeap<Due>,
    order: u64,
    /// Exclusions that are due now.
    urgent: VecDeque<Act>,
    standings: Vec<Standing>,
    ceiling: Ceiling,
}

impl Iterator for Planner<'_> {
    type Item = Act;

    fn next(&mut self) -> Option<Act> {
        if self.seq == self.extent.entries {
            return None;
        }
        self.seq += 1;
        self.at = self.extent.slot(self.seq, &mut self.draw.random);
        if let Some(act) = self.urgent.pop_front() {
            return Some(Act { seq: self.seq, at: self.at, ..act });
        }
        while self.queue.peek().is_some_and(|due| due.at <= self.at) {
            let due = self.queue.pop()?;
            if let Some(act) = self.follow(due.follow) {
                return Some(act);
            }
        }
        Some(self.fresh())
    }
}

impl<'w> Planner<'w> {
    pub fn new(world: &'w World, seed: u64, extent: Extent, notes: bool) -> Planner<'w> {
        let mut planner = Planner {
            world,
            draw: Drawer::new(world, Random::new(seed)),
            extent,
            notes,
            seq: 0,
            at: extent.start,
            queue: BinaryHeap::new(),
            order: 0,
            urgent: VecDeque::new(),
            standings: vec![Standing::default(); world.agents.len()],
            ceiling: Ceiling::default(),
        };
        for &subject in &world.subjects {
            planner.lifetime(subject);
        }
        planner
    }

    /// When a subject enrolls, amends, withdraws and comes back. One in twelve never enrolls.
    fn lifetime(&mut self, subject: usize) {
        let extent = self.extent;
        let random = &mut self.draw.random;
        if random.per_mille(80) {
            return;
        }
        let enrolls = match random.per_mille(550) {
            true => extent.start,
            false => random.between(extent.start, extent.part(700)),
        };
        let mut acts = vec![(enrolls, Follow::Enroll(subject))];
        for _ in 0..random.below(3) {
            acts.push((random.between(enrolls + HOUR, extent.end), Follow::Amend(subject)));
        }
        if random.per_mille(100) {
            let withdraws = random.between(extent.part(500), extent.part(970)).max(enrolls + 2 * DAY);
            acts.push((withdraws, Follow::Withdraw(subject)));
            if random.per_mille(300) {
                acts.push((withdraws + random.between(3 * DAY, 70 * DAY), Follow::Enroll(subject)));
            }
        }
        for (at, follow) in acts {
            self.later(at, follow);
        }
    }

    fn later(&mut self, at: i64, follow: Follow) {
        self.order += 1;
        self.queue.push(Due { at, order: self.order, follow });
    }

    fn act(&self, subject: usize, capability: Option<&'static str>, kind: Kind) -> Act {
        Act { seq: self.seq, at: self.at, subject, capability, kind }
    }

    /// Something new.
    fn fresh(&mut self) -> Act {
        match self.draw.random.below(10_000) {
            0..250 => self.lone_probe(),
            250..600 => self.stop(),
            600..630 => self.claim(),
            630..632 if self.notes => {
                let subject = self.draw.subject();
                self.act(subject, None, Kind::Noted)
            }
            _ => self.fact(),
        }
    }

    fn fact(&mut self) -> Act {
        let (caller, subject) = loop {
            let (caller, subject) = self.draw.couple(self.at, 5);
            if !self.standings[subject].has_left() || self.draw.random.per_mille(150) {
                break (caller, subject);
            }
        };
        let declaration = self.standings[subject].declaration.clone();
        let capability = Some(self.draw.capability(subject, declaration.as_deref()));
        let fact = self.draw.fact(self.seq, self.at, (caller, subject), declaration.as_deref());
        self.after_fact(&fact, subject, capability);
        self.act(subject, capability, Kind::Fact(Box::new(fact)))
    }

    fn after_fact(&mut self, fact: &Fact, subject: usize, capability: Option<&'static str>) {
        let seen = Seen {
            seq: self.seq,
            at: self.at,
            subject,
            capability,
            caller: fact.caller,
            interaction: fact.interaction,
            started_at: fact.started_at,
            ended_at: fact.ended_at,
            outcome: fact.outcome,
            spending: fact.is_spending(),
            engagement: fact.engagement,
        };
        let related = self.related(fact.caller, subject);
        if related && fact.has_quality() {
            self.exclude(&seen, "self_dealing", None);
        }
        let random = &mut self.draw.random;
        let judged = fact.may_be_judged() && random.per_mille(720);
        let probed = random.per_mille(12).then(|| random.between(MINUTE, 3 * HOUR));
        let corrected = !judged && !related && random.per_mille(10);
        if judged {
            let delay = self.draw.patience();
            self.later(self.at + delay, Follow::Attest { fact: seen, again: false });
        }
        match probed {
            Some(delay) => self.later(self.at + delay, Follow::Probe(seen)),
            None if corrected => {
                let scope = if fact.checks.is_empty() { Scope::MoveAnywhere } else { Scope::Move };
                self.correct_later(seen, scope);
            }
            None => {}
        }
    }

    fn related(&self, a: usize, b: usize) -> bool {
        self.world.related(self.world.agents[a].owner, self.world.agents[b].owner, self.at)
    }

    fn exclude(&mut self, target: &Seen, reason: &'static str, evaluator: Option<usize>) {
        let kind = Kind::Excluded { target: target.seq, reason, evaluator, interaction: target.interaction };
        self.urgent.push_back(self.act(target.subject, target.capability, kind));
    }

    fn correct_later(&mut self, target: Seen, scope: Scope) {
        let delay = self.draw.random.between(HOUR, 12 * DAY);
        self.later(self.at + delay, Follow::Correct(target, scope));
    }

    fn lone_probe(&mut self) -> Act {
        let subject = self.draw.subject();
        let declaration = self.standings[subject].declaration.clone();
        let capability = Some(self.draw.capability(subject, declaration.as_deref()));
        let ended_at = self.at - self.draw.random.between(SECOND, HOUR);
        self.probe(subject, capability, mix(self.seq), true, ended_at)
    }

    fn probe(
        &mut self,
        subject: usize,
        capability: Option<&'static str>,
        interaction: u64,
        lone: bool,
        ended_at: i64,
    ) -> Act {
        let reporter = self.draw.prober();
        let passed = worked(&mut self.draw.random, subject).starts_with("OK");
        let act = self.act(subject, capability, Kind::Probed { interaction, lone, reporter, passed, ended_at });
        if self.draw.random.per_mille(10) {
            self.correct_later(self.bare(subject, capability), Scope::Void);
        }
        act
    }

    /// This entry as a target that nothing but a correction follows.
    fn bare(&self, subject: usize, capability: Option<&'static str>) -> Seen {
        let (caller, interaction) = (subject, 0);
        let (started_at, ended_at, outcome) = (self.at, self.at, None);
        let (seq, at, spending, engagement) = (self.seq, self.at, false, None);
        Seen { seq, at, subject, capability, caller, interaction, started_at, ended_at, outcome, spending, engagement }
    }

    fn stop(&mut self) -> Act {
        let (sender, stop) = self.draw.stop(self.seq, self.at);
        if self.draw.random.per_mille(10) {
            self.correct_later(self.bare(sender, None), Scope::Void);
        }
        self.act(sender, None, Kind::Stopped(Box::new(stop)))
    }

    fn claim(&mut self) -> Act {
        let claim = Arc::new(self.draw.claim(self.seq, self.at));
        let random = &mut self.draw.random;
        let (answer, resolve) = (random.between(DAY, 20 * DAY), random.between(10 * DAY, 120 * DAY));
        let (answered, resolved) = (random.per_mille(600), random.per_mille(700));
        if claim.state != "rejected" {
            if answered {
                self.later(self.at + answer, Follow::Answer(Arc::clone(&claim)));
            }
            if resolved {
                self.later(self.at + resolve, Follow::Resolve(Arc::clone(&claim)));
            }
        }
        self.act(claim.respondent, None, Kind::Claimed(claim))
    }

    /// What was going to happen, unless it may not any more.
    fn follow(&mut self, follow: Follow) -> Option<Act> {
        match follow {
            Follow::Enroll(subject) => self.declare(subject, false),
            Follow::Amend(subject) => self.declare(subject, true),
            Follow::Withdraw(subject) => self.withdraw(subject),
            Follow::Attest { fact, again } => self.attest(&fact, again),
            Follow::Probe(fact) => {
                let ended_at = fact.ended_at.max(self.at - HOUR);
                Some(self.probe(fact.subject, fact.capability, fact.interaction, false, ended_at))
            }
            Follow::Correct(target, scope) => Some(self.correct(&target, scope)),
            Follow::Answer(claim) => {
                if !self.world.is_bound(claim.respondent, self.at) {
                    return None;
                }
                let statement_at = self.moments_ago();
                Some(self.act(claim.respondent, None, Kind::Answered { claim, statement_at }))
            }
            Follow::Resolve(claim) => self.resolve(claim),
            Follow::SetAside(claim) => {
                let (resolution, statement_at) = (Resolution::SetAside, self.moments_ago());
                Some(self.act(claim.respondent, None, Kind::Resolved { claim, resolution, statement_at }))
            }
        }
    }

    fn moments_ago(&mut self) -> i64 {
        self.at - self.draw.random.between(SECOND, 2 * HOUR)
    }

    fn declare(&mut self, subject: usize, amended: bool) -> Option<Act> {
        let earliest = self.moments_ago();
        let standing = &mut self.standings[subject];
        if standing.enrolled.is_some() != amended || !self.world.is_bound(subject, self.at) {
            return None;
        }
        let statement_at = standing.state(earliest, self.at);
        if !amended {
            standing.enrolled = Some(statement_at);
        }
        let declaration = Arc::new(self.draw.declaration(standing.declaration.as_deref()));
        standing.declaration = Some(Arc::clone(&declaration));
        Some(self.act(subject, None, Kind::Declared { amended, statement_at, declaration }))
    }

    fn withdraw(&mut self, subject: usize) -> Option<Act> {
        if !self.world.is_bound(subject, self.at) {
            return None;
        }
        let earliest = self.moments_ago();
        let standing = &mut self.standings[subject];
        let from = standing.enrolled.take()?;
        let statement_at = standing.state(earliest, self.at);
        standing.ended = Some((from, statement_at));
        Some(self.act(subject, None, Kind::Withdrew { statement_at }))
    }

    fn attest(&mut self, fact: &Seen, again: bool) -> Option<Act> {
        let (evaluator, subject) = (fact.caller, fact.subject);
        let standing = &self.standings[subject];
        let in_time = self.at - fact.ended_at < ATTESTATION_WINDOW - HOUR;
        if !in_time || !standing.admits(fact.started_at, self.at) || !self.world.is_bound(evaluator, self.at) {
            return None;
        }
        let rivals = standing.declaration.as_ref().map_or(&[][..], |declaration| &declaration.competitors);
        let rival = rivals.contains(&self.world.agents[evaluator].owner);
        let pair = Pair::new(evaluator, subject);
        let over = self.ceiling.is_reached(pair, self.at);
        if over && !(pair.may_pass() && self.draw.random.per_mille(250)) {
            return None;
        }
        self.ceiling.count(pair, self.at);
        let own = Seen { seq: self.seq, ..*fact };
        let related = self.related(evaluator, subject);
        let grounds = [(related, "self_dealing"), (rival, "declared_competitor"), (over, "rate_limit")];
        for (_, reason) in grounds.into_iter().filter(|(holds, _)| *holds) {
            self.exclude(&own, reason, Some(evaluator));
        }
        let free = !(related || rival || over || pair.may_pass() || again);
        match self.draw.random.below(1000) {
            0..15 if free => {
                let delay = self.draw.random.between(HOUR, 5 * DAY);
                self.later(self.at + delay, Follow::Attest { fact: *fact, again: true });
            }
            15..18 if free => self.correct_later(own, Scope::Void),
            18..19 if free => self.correct_later(*fact, Scope::Void),
            _ => {}
        }
        let attestation = self.draw.judgment(fact, self.at);
        Some(self.act(subject, fact.capability, Kind::Attested(Box::new(attestation))))
    }

    fn correct(&mut self, target: &Seen, scope: Scope) -> Act {
        let repair = match (scope, self.draw.random.below(4)) {
            (Scope::Void, _) | (_, 0) => Repair::Void(self.draw.random.pick(&["failed_dedup", "wrong_interaction"])),
            (_, 1) => Repair::Interaction(mix(self.seq)),
            (Scope::MoveAnywhere, 2) => self.another_subject(target),
            _ => Repair::Capability(self.draw.random.pick(&CAPABILITIES)),
        };
        self.act(target.subject, target.capability, Kind::Corrected { target: target.seq, repair })
    }

    /// A subject that the caller is not related to, as of the fact.
    fn another_subject(&mut self, target: &Seen) -> Repair {
        let owner_of = |agent: usize| self.world.agents[agent].owner;
        let caller = owner_of(target.caller);
        loop {
            let subject = self.draw.subject();
            if !self.world.related(caller, owner_of(subject), target.at) {
                return Repair::Subject(subject);
            }
        }
    }

    fn resolve(&mut self, claim: Arc<Claim>) -> Option<Act> {
        let (resolution, statement_at) = (self.draw.resolution(), self.moments_ago());
        if !self.world.is_bound(claim.claimant, self.at) || !self.world.is_bound(claim.respondent, self.at) {
            return None;
        }
        let upheld = matches!(resolution, Resolution::Upheld(_) | Resolution::Acknowledged);
        if upheld && self.draw.random.per_mille(150) {
            let delay = self.draw.random.between(5 * DAY, 60 * DAY);
            self.later(self.at + delay, Follow::SetAside(Arc::clone(&claim)));
        }
        Some(self.act(claim.respondent, None, Kind::Resolved { claim, resolution, statement_at }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::world::Size;
    use super::*;
    use std::collections::{HashMap, HashSet};

    fn ledger(seed: u64) -> Vec<Act> {
        let extent = Extent { entries: 30_000, start: 0, end: 200 * DAY };
        let world = World::new(seed, Size { subjects: 40, evaluators: 120, reporters: 20 }, extent.start, extent.end);
        Planner::new(&world, seed, extent, true).collect()
    }

    #[test]
    fn a_seed_gives_one_ledger() {
        assert_eq!(format!("{:?}", ledger(1)), format!("{:?}", ledger(1)));
        assert_ne!(format!("{:?}", ledger(1)), format!("{:?}", ledger(2)));
    }

    #[test]
    fn what_follows_comes_after_what_it_follows() {
        let (mut facts, mut actions, mut at) = (HashMap::new(), HashSet::new(), 0);
        for (place, act) in ledger(3).iter().enumerate() {
            assert_eq!(act.seq, place as u64 + 1);
            assert!(act.at >= at, "instants never fall");
            at = act.at;
            actions.insert(act.kind.action());
            match &act.kind {
                Kind::Fact(fact) => {
                    assert!(fact.started_at <= fact.ended_at && fact.ended_at <= act.at);
                    assert!(facts.insert(fact.interaction, (act.subject, act.capability, fact.caller)).is_none());
                }
                Kind::Attested(attestation) => {
                    assert_eq!(
                        facts.get(&attestation.interaction),
                        Some(&(act.subject, act.capability, attestation.evaluator))
                    );
                    assert!(attestation.statement_at <= act.at);
                }
                Kind::Excluded { target, .. } => assert!(*target < act.seq && act.seq - target <= 3, "at once"),
                Kind::Corrected { target, .. } => assert!(*target < act.seq),
                _ => {}
            }
        }
        assert_eq!(actions.len(), 13, "all twelve actions and an unknown one: {actions:?}");
    }
}
