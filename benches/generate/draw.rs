//! What happens by itself: facts, probes of their own, stops, claims, drawn at random around the subjects that are busy.

use super::act::{Attestation, Claim, Declaration, Fact, Forum, Resolution, Stop};
use super::queue::Seen;
use super::random::{Random, Zipf, mix};
use super::time::{DAY, HOUR, MINUTE, SECOND};
use super::words::{
    CAPABILITIES, CATEGORIES, DERIVED_BAD, DERIVED_CORRECTED, DERIVED_GOOD, DISCLOSURES, GROUNDS, NOTES, PROMISES,
    PROVIDERS, REASONS, VERIFIABLE,
};
use super::world::World;

/// Draws who and what.
pub struct Drawer<'w> {
    pub world: &'w World,
    pub random: Random,
    subjects: Zipf,
    evaluators: Zipf,
    reporters: Zipf,
}

impl<'w> Drawer<'w> {
    pub fn new(world: &'w World, random: Random) -> Drawer<'w> {
        Drawer {
            world,
            random,
            subjects: Zipf::new(world.subjects.len()),
            evaluators: Zipf::new(world.evaluators.len()),
            reporters: Zipf::new(world.reporters.len() - world.probing),
        }
    }

    /// A subject, the busy ones often.
    pub fn subject(&mut self) -> usize {
        self.world.subjects[self.subjects.draw(&mut self.random)]
    }

    /// An evaluator that is still bound, the busy ones often.
    pub fn evaluator(&mut self, at: i64) -> usize {
        loop {
            let evaluator = self.world.evaluators[self.evaluators.draw(&mut self.random)];
            if self.world.is_bound(evaluator, at) {
                return evaluator;
            }
        }
    }

    /// Two agents that have to do with each other: who asks, and a subject. Now and then they are of one owner.
    pub fn couple(&mut self, at: i64, of_one_owner: u64) -> (usize, usize) {
        loop {
            let (caller, subject) = match self.random.below(1000) {
                draw if draw < of_one_owner && !self.world.insiders.is_empty() => {
                    let insider = self.random.pick(&self.world.insiders);
                    (insider, self.random.pick(&self.world.owner_of(insider).subjects))
                }
                draw if draw < of_one_owner + 30 => (self.subject(), self.subject()),
                _ => (self.evaluator(at), self.subject()),
            };
            if caller != subject && self.world.is_bound(caller, at) && self.world.is_bound(subject, at) {
                return (caller, subject);
            }
        }
    }

    /// A reporter that is configured, the large ones often.
    pub fn reporter(&mut self, at: i64) -> usize {
        loop {
            let reporter = self.reporters.draw(&mut self.random);
            if reporter == 0 || self.world.reporters[reporter].until.is_none_or(|until| at < until) {
                return reporter;
            }
        }
    }

    /// A reporter that runs probes.
    pub fn prober(&mut self) -> usize {
        self.world.reporters.len() - 1 - self.random.below(self.world.probing as u64) as usize
    }

    /// A capability of the declaration, the first often, and now and then one of three that it never declared.
    pub fn capability(&mut self, subject: usize, declaration: Option<&Declaration>) -> &'static str {
        match declaration {
            Some(declaration) if !self.random.per_mille(5) => match self.random.per_mille(600) {
                true => declaration.capabilities[0],
                false => self.random.pick(&declaration.capabilities),
            },
            _ => {
                let undeclared = mix(subject as u64 + (self.random.below(3) << 32));
                CAPABILITIES[(undeclared % CAPABILITIES.len() as u64) as usize]
            }
        }
    }

    /// What a subject offers. An amendment keeps its first capability.
    pub fn declaration(&mut self, earlier: Option<&Declaration>) -> Declaration {
        let mut capabilities: Vec<&'static str> =
            earlier.iter().filter_map(|earlier| earlier.capabilities.first().copied()).collect();
        for _ in 0..1 + self.random.below(3) {
            let capability = self.random.pick(&CAPABILITIES);
            if !capabilities.contains(&capability) {
                capabilities.push(capability);
            }
        }
        let promises = (0..PROMISES.len()).filter(|_| self.random.per_mille(450)).collect();
        let mut competitors = Vec::new();
        if self.random.per_mille(150) {
            for _ in 0..1 + self.random.below(2) {
                let evaluator = self.world.evaluators[self.evaluators.draw(&mut self.random)];
                competitors.push(self.world.agents[evaluator].owner);
            }
            competitors.dedup();
        }
        Declaration { capabilities, promises, competitors }
    }

    /// A fact about `subject`, its interaction named by `seq`.
    pub fn fact(
        &mut self,
        seq: u64,
        at: i64,
        (caller, subject): (usize, usize),
        declaration: Option<&Declaration>,
    ) -> Fact {
        let random = &mut self.random;
        let transport = match random.below(1000) {
            0..10 => "TIMEOUT",
            10..18 => "UNREACHABLE",
            18..24 => "MALFORMED",
            _ => "OK",
        };
        let (outcome, from) = observed(random, subject, transport);
        let latency_ms = match transport {
            "OK" => Some(40 + random.between(0, 900) + if random.per_mille(100) { random.between(0, 9000) } else { 0 }),
            "TIMEOUT" => Some(30_000),
            _ => None,
        };
        // A late reporter, once in fifty; the work itself takes its time beyond the answer's latency.
        let ended_at =
            at - random.between(200, 2 * MINUTE) - if random.per_mille(20) { random.between(0, 6 * HOUR) } else { 0 };
        let started_at = ended_at - latency_ms.unwrap_or(0) - random.between(0, 10 * SECOND);
        let verifiable = declaration.map_or(&[][..], |declaration| &declaration.promises);
        let verifiable = verifiable.iter().copied().filter(|promise| *promise < VERIFIABLE && transport == "OK");
        let checks = verifiable.map(|promise| (promise, !random.per_mille(8))).collect();
        let spending = matches!(from, Some("exhausted" | "metering"));
        let engagement = (spending || random.per_mille(150)).then(|| mix(!(seq / 16)));
        let screening = (outcome == Some("REFUSED") && random.per_mille(400)).then(|| {
            let verdict = if random.per_mille(600) { "held" } else { "flagged" };
            (verdict, random.pick(&PROVIDERS))
        });
        Fact {
            interaction: mix(seq),
            parent: (seq > 64 && random.per_mille(120)).then(|| mix(seq - 1 - random.below(60))),
            reporter: self.reporter(at),
            caller,
            started_at,
            ended_at,
            transport,
            latency_ms,
            checks,
            outcome,
            from,
            engagement,
            names_sender: self.random.per_mille(350),
            screening,
        }
    }

    /// A request that never reached its recipient.
    pub fn stop(&mut self, seq: u64, at: i64) -> (usize, Stop) {
        let (sender, recipient) = self.couple(at, 10);
        let (class, stage, ground) = self.random.pick(&GROUNDS);
        let screened = class == "screening";
        let resolution = screened.then(|| match self.random.below(20) {
            0..12 => "blocked",
            12..17 => "released",
            _ => "open",
        });
        let decided_by = match (resolution, self.random.per_mille(500)) {
            (Some("open"), _) => "screener",
            (Some(_), _) | (None, true) => "person",
            (None, false) => "rule",
        };
        let stop = Stop {
            interaction: mix(seq),
            reporter: self.reporter(at),
            class,
            stage,
            ground,
            decided_by,
            resolution,
            provider: screened.then(|| self.random.pick(&PROVIDERS)),
            recipient: self.world.agents[recipient].owner,
            solicited: self.random.per_mille(50),
            stopped_at: at - self.random.between(SECOND, 10 * MINUTE),
        };
        (sender, stop)
    }

    /// A claim of breach, in the state that its parties give it.
    pub fn claim(&mut self, seq: u64, at: i64) -> Claim {
        let (claimant, respondent) = self.couple(at, 40);
        let (ours, theirs) = (self.world.agents[claimant].owner, self.world.agents[respondent].owner);
        let random = &mut self.random;
        let state = match self.world.related(ours, theirs, at) {
            true => "uncounted",
            false if random.per_mille(50) => "rejected",
            false => "open",
        };
        let effective_at = at - random.between(130, 700) * DAY;
        let ends_at = random.per_mille(600).then(|| at - random.between(-200, 100) * DAY);
        let duties_end_at = ends_at.filter(|_| random.per_mille(700)).map(|end| end + random.between(30, 400) * DAY);
        let last = ends_at.unwrap_or(at).min(at - DAY);
        let disclosed = random.between(effective_at + DAY, last);
        let mut disclosures = vec![(random.pick(&DISCLOSURES), disclosed)];
        if random.per_mille(250) {
            disclosures.push((random.pick(&DISCLOSURES), random.between(disclosed, last)));
        }
        let mut categories = vec![random.pick(&CATEGORIES)];
        if random.per_mille(200) && categories[0] != "technical" {
            categories.push("technical");
        }
        let mut orgs = self.world.owners[theirs].memberships.iter().map(|(company, ..)| *company);
        let claimed_at = at - random.between(MINUTE, 12 * HOUR);
        Claim {
            number: seq,
            state,
            claimant,
            respondent,
            respondent_org: orgs.next().filter(|_| random.per_mille(500)),
            direction: if random.per_mille(500) { "mutual" } else { "one_way" },
            effective_at,
            ends_at,
            duties_end_at,
            categories,
            disclosures,
            found_at: claimed_at - random.between(0, 20) * HOUR,
            breach_at: random.per_mille(400).then_some(disclosed),
            claimed_at,
        }
    }

    /// What the caller says of a fact, in an entry of `at`.
    pub fn judgment(&mut self, fact: &Seen, at: i64) -> Attestation {
        let evaluator = fact.caller;
        let random = &mut self.random;
        let outcome = match fact.outcome {
            _ if fact.spending && random.per_mille(750) => "VALUE_OK",
            _ if fact.spending => "VALUE_POOR",
            // One evaluator in eight is content with everything.
            _ if mix(evaluator as u64).is_multiple_of(8) => "OK",
            Some(derived) if random.per_mille(880) => derived,
            _ => worked(random, fact.subject),
        };
        let statement_at = (at - random.between(SECOND, 30 * MINUTE)).max(fact.ended_at);
        Attestation {
            interaction: fact.interaction,
            evaluator,
            outcome,
            statement_at,
            note: random.per_mille(250).then(|| random.pick(&NOTES)),
            engagement: fact.engagement,
            spend: (fact.spending && random.per_mille(800))
                .then(|| (random.between(500, 900_000), random.between(1, 400))),
            reason: (outcome == "VALUE_POOR").then(|| random.pick(&REASONS)),
        }
    }

    /// How long a caller takes to judge: most an hour at most, a few for weeks.
    pub fn patience(&mut self) -> i64 {
        let random = &mut self.random;
        match random.below(100) {
            0..60 => random.between(10 * SECOND, HOUR),
            60..90 => random.between(HOUR, DAY),
            90..99 => random.between(DAY, 7 * DAY),
            _ => random.between(7 * DAY, 28 * DAY),
        }
    }

    /// How a claim ends.
    pub fn resolution(&mut self) -> Resolution {
        let forum = self.random.pick(&[Forum::Arbiter, Forum::Owners, Forum::Court]);
        match self.random.below(10) {
            0..2 => Resolution::Withdrawn,
            2..4 => Resolution::Acknowledged,
            4..7 => Resolution::Upheld(forum),
            _ => Resolution::Dismissed(forum),
        }
    }
}

/// What the reporter derives. How often a subject's work is good depends on the subject.
fn observed(random: &mut Random, subject: usize, transport: &str) -> (Option<&'static str>, Option<&'static str>) {
    match transport {
        "TIMEOUT" | "UNREACHABLE" => return (random.per_mille(500).then_some("UNREACHABLE"), None),
        "MALFORMED" => return (random.per_mille(500).then_some("FAILED"), Some("unreadable-answer")),
        _ => {}
    }
    match random.below(1000) {
        0..8 => (None, Some("input_required")),
        8..16 => (None, Some("exhausted")),
        16..20 => (None, Some("metering")),
        20..22 => (None, Some("terminated_for_cause")),
        22..24 => (None, Some("dispute_fallback")),
        24..54 => (Some("DECLINED"), None),
        54..66 => (Some("REFUSED"), None),
        66..69 => (Some("REFUSED_UNSTATED"), None),
        69..77 => (Some("UNAVAILABLE"), None),
        77..240 => (None, None),
        _ => {
            let code = worked(random, subject);
            let from = match code {
                "OK" => random.pick(&DERIVED_GOOD),
                "OK_CORRECTED" => random.pick(&DERIVED_CORRECTED),
                _ => random.pick(&DERIVED_BAD),
            };
            (Some(code), Some(from))
        }
    }
}

/// A quality code, as good as the subject's work is.
pub fn worked(random: &mut Random, subject: usize) -> &'static str {
    let good = 600 + mix(subject as u64) % 390;
    match (random.per_mille(good), random.below(100)) {
        (true, 0..86) => "OK",
        (true, _) => "OK_CORRECTED",
        (false, 0..45) => "FAILED",
        (false, 45..85) => "FAILED_SILENT",
        (false, _) => "CONTRACT",
    }
}
