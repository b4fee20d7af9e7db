//! Who there is: owners with their agents, companies with their charters, reporters. All of it is settled before the first
//! entry is made, and lasts from years before the ledger.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::random::{Random, mix};
use super::time::DAY;
use super::words::{AGENTS, PEOPLE, PLACES, TRADES};

/// How large the world is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub subjects: usize,
    pub evaluators: usize,
    pub reporters: usize,
}

/// A key from an instant on, until the next one.
pub struct Key {
    pub from: i64,
    pub signing: SigningKey,
    /// The public key in base64.
    pub public: String,
}

/// The key of an instant.
pub fn key_at(keys: &[Key], at: i64) -> &Key {
    let later = keys.iter().position(|key| key.from > at).unwrap_or(keys.len());
    &keys[later.saturating_sub(1)]
}

/// Whoever stands behind an anchor.
#[derive(Debug, Default)]
pub struct Owner {
    pub anchor: String,
    pub is_domain: bool,
    pub anchor_hash: String,
    pub operator: Option<String>,
    pub account: Option<String>,
    pub bound_at: i64,
    pub unbound_at: Option<i64>,
    /// One number a party.
    pub party: usize,
    /// Companies that it belongs to through their charter, `[from, to)`.
    pub memberships: Vec<(usize, i64, i64)>,
    pub has_key: bool,
    /// Its agents that are subjects.
    pub subjects: Vec<usize>,
}

/// An agent: a subject, or a mere caller.
pub struct Agent {
    pub handle: String,
    pub owner: usize,
    pub keys: Vec<Key>,
}

/// A company, with its charter where it has one.
#[derive(Debug, Default)]
pub struct Company {
    pub domain: String,
    pub charter: Option<Charter>,
}

#[derive(Debug, Default)]
pub struct Charter {
    pub id: String,
    pub proof: Vec<(i64, Option<i64>)>,
    pub mandates: Vec<(String, i64, Option<i64>)>,
}

/// A reporter. The last few of a world run probes.
pub struct Reporter {
    pub name: String,
    pub keys: Vec<Key>,
    pub until: Option<i64>,
}

pub struct World {
    pub salt: String,
    pub owners: Vec<Owner>,
    pub agents: Vec<Agent>,
    /// Places in `agents`, the busiest first.
    pub subjects: Vec<usize>,
    pub evaluators: Vec<usize>,
    /// Evaluators whose owner has subjects, too.
    pub insiders: Vec<usize>,
    pub companies: Vec<Company>,
    pub reporters: Vec<Reporter>,
    /// How many of the reporters, from the last, run probes.
    pub probing: usize,
    /// Owner keys by owner.
    pub owner_keys: HashMap<usize, Key>,
}

impl World {
    /// The world of a seed, for a ledger of `[start, end)`.
    pub fn new(seed: u64, size: Size, start: i64, end: i64) -> World {
        let mut maker = Maker { random: Random::new(seed ^ 0x0077_6f72_6c64), seed, start, end };
        let salt = hex(&Sha256::digest(format!("salt {seed}")));
        let mut companies = maker.companies((size.subjects + size.evaluators) / 12 + 3);
        let (mut owners, plans) = maker.owners(size, &companies);
        maker.memberships(&mut owners, &mut companies);
        for owner in &mut owners {
            owner.anchor_hash = hashed(&[salt.as_bytes(), b":", owner.anchor.as_bytes()]);
        }
        let agents = maker.agents(&mut owners, &plans);
        let (subjects, evaluators): (Vec<usize>, Vec<usize>) =
            (0..agents.len()).partition(|agent| plans[*agent].subject);
        let insiders = evaluators.iter().copied().filter(|e| !owners[agents[*e].owner].subjects.is_empty()).collect();
        let owner_keys = owners.iter().enumerate().filter(|(_, owner)| owner.has_key);
        let owner_keys =
            owner_keys.map(|(place, owner)| (place, key(seed, "owner", place, 0, owner.bound_at))).collect();
        let probing = (size.reporters / 10).max(1);
        let mut world = World {
            salt,
            owners,
            agents,
            subjects,
            evaluators,
            insiders,
            companies,
            reporters: maker.reporters(size.reporters.max(2)),
            probing,
            owner_keys,
        };
        maker.random.shuffle(&mut world.subjects);
        maker.random.shuffle(&mut world.evaluators);
        world
    }

    /// Whether two owners share an anchor, a party or an organization at an instant.
    pub fn related(&self, a: usize, b: usize, at: i64) -> bool {
        let (one, other) = (&self.owners[a], &self.owners[b]);
        let in_force = |from: i64, to: i64| from <= at && at < to;
        a == b
            || one.party == other.party
            || one.memberships.iter().any(|&(company, from, to)| {
                let same = |&(theirs, since, until): &(usize, i64, i64)| theirs == company && in_force(since, until);
                in_force(from, to) && other.memberships.iter().any(same)
            })
    }

    /// The owner of an agent.
    pub fn owner_of(&self, agent: usize) -> &Owner {
        &self.owners[self.agents[agent].owner]
    }

    /// Whether the agent may act: it is still bound, and stays so for the day.
    pub fn is_bound(&self, agent: usize, at: i64) -> bool {
        self.owner_of(agent).unbound_at.is_none_or(|until| at + DAY < until)
    }
}

/// What an agent is going to be.
struct AgentPlan {
    owner: usize,
    subject: bool,
}

struct Maker {
    random: Random,
    seed: u64,
    start: i64,
    end: i64,
}

impl Maker {
    fn companies(&mut self, count: usize) -> Vec<Company> {
        let companies = (0..count).map(|place| {
            let (town, trade) = (self.random.pick(&PLACES), self.random.pick(&TRADES));
            Company { domain: format!("{town}-{trade}-{place}.example"), charter: None }
        });
        companies.collect()
    }

    /// Owners and, one after the other, their agents. One in seven of those with subjects runs evaluators as well.
    fn owners(&mut self, size: Size, companies: &[Company]) -> (Vec<Owner>, Vec<AgentPlan>) {
        let (mut owners, mut plans) = (Vec::new(), Vec::new());
        let (mut subjects, mut evaluators) = (size.subjects.max(4), size.evaluators.max(4));
        let mut domains: Vec<usize> = (0..companies.len()).step_by(3).collect();
        while subjects + evaluators > 0 {
            let owner = owners.len();
            let theirs = subjects.min(1 + self.random.below(3) as usize);
            let callers = match theirs {
                0 => 1 + usize::from(self.random.per_mille(200)),
                _ => usize::from(self.random.per_mille(150)),
            };
            let callers = callers.min(evaluators);
            plans.extend((0..theirs + callers).map(|place| AgentPlan { owner, subject: place < theirs }));
            (subjects, evaluators) = (subjects - theirs, evaluators - callers);
            owners.push(self.owner(owner, theirs + callers, companies, &mut domains));
        }
        (owners, plans)
    }

    fn owner(&mut self, place: usize, agents: usize, companies: &[Company], domains: &mut Vec<usize>) -> Owner {
        let domain = if self.random.per_mille(80) { domains.pop() } else { None };
        let person = self.random.pick(&PEOPLE);
        let anchor = match domain {
            Some(company) => companies[company].domain.clone(),
            None if self.random.per_mille(500) => format!("{person}{place}@post-{}.example", self.random.below(20)),
            None => format!("{person}{place}@{}", companies[self.random.below(companies.len() as u64) as usize].domain),
        };
        let bound_at = self.start - self.random.between(60, 1500) * DAY;
        // A handle alone of its anchor, in the last quarter before the end: a former member, where it was one.
        let leaves = agents == 1 && self.random.per_mille(20);
        let operator =
            self.random.per_mille(120).then(|| format!("works-{}.example", self.random.below(1 + place as u64 / 6)));
        Owner {
            anchor,
            is_domain: domain.is_some(),
            account: self.random.per_mille(250).then(|| format!("acct.{place}")),
            bound_at,
            unbound_at: leaves.then(|| self.end - self.random.between(2, 80) * DAY),
            operator,
            has_key: self.random.per_mille(250),
            ..Owner::default()
        }
    }

    /// Parties by operator, charters of a quarter of the companies, and who belongs to a company through its charter.
    fn memberships(&mut self, owners: &mut [Owner], companies: &mut [Company]) {
        let mut operators: BTreeMap<String, usize> = BTreeMap::new();
        for (place, owner) in owners.iter_mut().enumerate() {
            owner.party = match &owner.operator {
                Some(operator) => *operators.entry(operator.clone()).or_insert(place),
                None => place,
            };
        }
        let mut staff: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, owner) in owners.iter().enumerate() {
            let domain = owner.anchor.rsplit('@').next().unwrap_or_default();
            staff.entry(domain.to_owned()).or_default().push(place);
        }
        for (place, company) in companies.iter_mut().enumerate().step_by(4) {
            let charter = self.charter(place, owners);
            for &member in staff.get(&company.domain).into_iter().flatten() {
                let owner = &mut owners[member];
                let always = [(i64::MIN, None)];
                for (from, to) in if owner.is_domain { &always[..] } else { &charter.proof } {
                    join(owner, place, *from, *to);
                }
            }
            company.charter = Some(charter);
        }
    }

    fn charter(&mut self, place: usize, owners: &mut [Owner]) -> Charter {
        let (early, middle) = (self.start - 2000 * DAY, self.random.between(self.start, self.end));
        let proof = match self.random.below(8) {
            0 => vec![(early, Some(middle))],
            1 => vec![(early, Some(middle)), (middle + 20 * DAY, None)],
            _ => vec![(early, None)],
        };
        let mut mandates: Vec<(String, i64, Option<i64>)> = Vec::new();
        for _ in 0..3 {
            let holder = self.random.below(owners.len() as u64) as usize;
            let Some(account) = owners[holder].account.clone() else { continue };
            if mandates.iter().any(|(other, ..)| *other == account) {
                continue;
            }
            let from = self.random.between(early, self.end - 10 * DAY);
            let to = self.random.per_mille(300).then(|| self.random.between(from, self.end));
            join(&mut owners[holder], place, from, to);
            mandates.push((account, from, to));
        }
        Charter { id: format!("org_{:016x}", mix(self.seed ^ place as u64)), proof, mandates }
    }

    fn agents(&mut self, owners: &mut [Owner], plans: &[AgentPlan]) -> Vec<Agent> {
        let mut handles = Vec::with_capacity(plans.len());
        for (place, plan) in plans.iter().enumerate() {
            let owner = &mut owners[plan.owner];
            if plan.subject {
                owner.subjects.push(place);
            }
            let name = self.random.pick(&AGENTS);
            let handle = match owner.is_domain {
                true => format!("ans://v1.{}.0.{}{place}.{}", self.random.below(9), name.to_lowercase(), owner.anchor),
                false => format!("{name}{place}.{}", owner.anchor),
            };
            let rotated = self.random.per_mille(100).then(|| self.random.between(self.start, self.end));
            handles.push((handle, owner.bound_at, rotated));
        }
        let seed = self.seed;
        let agents =
            handles.into_par_iter().zip(plans).enumerate().map(|(place, ((handle, bound_at, rotated), plan))| {
                let keys = [Some(bound_at), rotated].into_iter().flatten().enumerate();
                let keys = keys.map(|(turn, from)| key(seed, "agent", place, turn, from)).collect();
                Agent { handle, owner: plan.owner, keys }
            });
        agents.collect()
    }

    fn reporters(&mut self, count: usize) -> Vec<Reporter> {
        let reporters = (0..count).map(|place| {
            let rotated = (place % 3 == 1).then(|| self.random.between(self.start, self.end));
            let keys = [Some(self.start - 900 * DAY), rotated].into_iter().flatten().enumerate();
            let keys = keys.map(|(turn, from)| key(self.seed, "reporter", place, turn, from)).collect();
            let until =
                (place % 12 == 7).then(|| self.random.between(self.start + (self.end - self.start) / 2, self.end));
            Reporter { name: format!("https://runtime-{place}.{}.example", self.random.pick(&PLACES)), keys, until }
        });
        reporters.collect()
    }
}

/// A membership, as long as the owner is bound.
fn join(owner: &mut Owner, company: usize, from: i64, to: Option<i64>) {
    let (first, last) = (owner.bound_at, owner.unbound_at.unwrap_or(i64::MAX));
    owner.memberships.push((company, from.max(first), to.unwrap_or(i64::MAX).min(last)));
}

fn key(seed: u64, role: &str, place: usize, turn: usize, from: i64) -> Key {
    let secret: [u8; 32] = Sha256::digest(format!("{role} {seed} {place} {turn}")).into();
    let signing = SigningKey::from_bytes(&secret);
    let public = STANDARD.encode(signing.verifying_key().as_bytes());
    Key { from, signing, public }
}

/// `sha256:` and the hex of SHA-256 of the parts.
pub fn hashed(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    format!("sha256:{}", hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
