//! The detail of each action (profile 1.5), signed.

use sha2::{Digest, Sha256};

use super::act::{Act, Attestation, Declaration, Fact, Kind, Repair, Stop};
use super::claims;
use super::json::{Json, object};
use super::random::mix;
use super::sign::Pen;
use super::time::stamp;
use super::words::{BUREAU, LIBRARIES, PROGRAMS, PROMISES};
use super::world::{World, hashed, key_at};

/// Writes details.
#[derive(Clone, Copy)]
pub struct Desk<'w> {
    pub world: &'w World,
    pub pen: Pen,
}

impl<'w> Desk<'w> {
    /// The signed detail of an entry.
    pub fn detail(self, act: &Act) -> Json<'w> {
        let handle = self.world.agents[act.subject].handle.as_str();
        match &act.kind {
            Kind::Declared { statement_at, declaration, .. } => {
                let mut detail = self.statement("fdbk-enroll-v1", act.subject, *statement_at);
                self.declare(act.subject, declaration, &mut detail);
                detail
            }
            Kind::Withdrew { statement_at } => self.statement("fdbk-withdraw-v1", act.subject, *statement_at),
            Kind::Fact(fact) => {
                let mut detail = self.fact(fact);
                let key = &key_at(&self.world.reporters[fact.reporter].keys, act.at).signing;
                self.pen.report(key, "fdbk-fact-v1", act.capability, handle, &mut detail);
                detail
            }
            Kind::Attested(attestation) => self.attestation(attestation, handle, act.capability.unwrap_or_default()),
            Kind::Probed { interaction, lone, reporter, passed, ended_at } => {
                let draw = mix(*interaction) as usize;
                let prefix = if *lone { "probe" } else { "call" };
                let reporter = &self.world.reporters[*reporter];
                let mut detail = object([
                    ("interaction_id", format!("{prefix}-{interaction:016x}").into()),
                    ("reporter", reporter.name.as_str().into()),
                    ("program", PROGRAMS[draw % PROGRAMS.len()].into()),
                    ("library_version", LIBRARIES[draw / 8 % LIBRARIES.len()].into()),
                    ("result", if *passed { "PASS" } else { "FAIL" }.into()),
                    ("ended_at", stamp(*ended_at).into()),
                ]);
                self.pen.report(
                    &key_at(&reporter.keys, act.at).signing,
                    "fdbk-probe-v1",
                    act.capability,
                    handle,
                    &mut detail,
                );
                detail
            }
            Kind::Stopped(stop) => {
                let mut detail = self.stop(act, stop);
                let key = &key_at(&self.world.reporters[stop.reporter].keys, act.at).signing;
                self.pen.report(key, "fdbk-stop-v1", act.capability, handle, &mut detail);
                detail
            }
            Kind::Claimed(claim) => claims::claimed(self, claim),
            Kind::Answered { claim, statement_at } => claims::answered(self, claim, *statement_at),
            Kind::Resolved { claim, resolution, statement_at } => {
                claims::resolved(self, claim, *resolution, *statement_at)
            }
            Kind::Excluded { target, reason, evaluator, interaction } => {
                let mut detail = object([
                    ("target_seq", (*target as i64).into()),
                    ("reason", (*reason).into()),
                    ("interaction_id", call(*interaction).into()),
                ]);
                detail.put_some("evaluator", evaluator.map(|agent| self.world.agents[agent].handle.as_str()));
                detail
            }
            Kind::Corrected { target, repair } => self.correction(*target, *repair),
            Kind::Noted => object([("probe_library", LIBRARIES[act.seq as usize % LIBRARIES.len()].into())]),
        }
    }

    /// A statement of the subject about itself.
    fn statement(self, tag: &str, subject: usize, statement_at: i64) -> Json<'w> {
        let agent = &self.world.agents[subject];
        let (key, signed_at) = (key_at(&agent.keys, statement_at), stamp(statement_at));
        let signature = self.pen.line(&key.signing, &[tag, &agent.handle, BUREAU, &signed_at]);
        object([
            ("statement_at", signed_at.into()),
            ("bureau", BUREAU.into()),
            ("key", key.public.as_str().into()),
            ("signature", signature.into()),
        ])
    }

    fn declare(self, subject: usize, declaration: &Declaration, detail: &mut Json<'w>) {
        let promises = declaration.promises.iter().map(|place| {
            let promise = &PROMISES[*place];
            let mut item =
                object([("id", promise.id.into()), ("class", promise.class.into()), ("text", promise.text.into())]);
            item.put_some("kind", promise.kind);
            item.put_some("bound", promise.bound);
            item
        });
        let rivals = declaration.competitors.iter().map(|owner| self.world.owners[*owner].anchor_hash.as_str().into());
        detail.put("anchor_hash", self.world.owner_of(subject).anchor_hash.as_str());
        detail.put("capabilities", Json::List(declaration.capabilities.iter().map(|tag| (*tag).into()).collect()));
        detail.put("promises", Json::List(promises.collect()));
        detail.put("competitor_anchors", Json::List(rivals.collect()));
    }

    fn fact(self, fact: &Fact) -> Json<'w> {
        let checks = fact
            .checks
            .iter()
            .map(|(promise, held)| object([("promise_id", PROMISES[*promise].id.into()), ("held", (*held).into())]));
        let mut detail = object([
            ("interaction_id", call(fact.interaction).into()),
            ("reporter", self.world.reporters[fact.reporter].name.as_str().into()),
            ("caller_anchor_hash", self.world.owner_of(fact.caller).anchor_hash.as_str().into()),
            ("started_at", stamp(fact.started_at).into()),
            ("ended_at", stamp(fact.ended_at).into()),
            ("transport", fact.transport.into()),
            ("promise_checks", Json::List(checks.collect())),
            ("derived_outcome", fact.outcome.into()),
        ]);
        detail.put_some("derived_from", fact.from);
        detail.put_some("latency_ms", fact.latency_ms);
        detail.put_some("parent_id", fact.parent.map(call));
        detail.put_some("engagement_id", fact.engagement.map(engagement));
        detail.put_some("sender", fact.names_sender.then(|| self.world.agents[fact.caller].handle.as_str()));
        detail.put_some(
            "screening",
            fact.screening
                .map(|(verdict, provider)| object([("verdict", verdict.into()), ("provider", provider.into())])),
        );
        detail
    }

    fn attestation(self, attestation: &Attestation, subject: &str, capability: &str) -> Json<'w> {
        let evaluator = &self.world.agents[attestation.evaluator];
        let key = key_at(&evaluator.keys, attestation.statement_at);
        let (interaction, signed_at) = (call(attestation.interaction), stamp(attestation.statement_at));
        let spend =
            attestation.spend.map(|(cents, units)| (format!("{}.{:02}", cents / 100, cents % 100), units.to_string()));
        let signature = match attestation.outcome {
            "VALUE_OK" | "VALUE_POOR" => {
                let (amount, units) = spend.as_ref().map_or(("", ""), |(amount, units)| (amount, units));
                let currency = if spend.is_some() { "EUR" } else { "" };
                let head = ["fdbk-value-v1", &interaction, subject, capability, attestation.outcome];
                self.pen.line(&key.signing, &[&head[..], &[amount, currency, units, &signed_at]].concat())
            }
            outcome => {
                self.pen.line(&key.signing, &["fdbk-attest-v1", &interaction, subject, capability, outcome, &signed_at])
            }
        };
        let mut detail = object([
            ("interaction_id", interaction.into()),
            ("evaluator", evaluator.handle.as_str().into()),
            ("evaluator_anchor_hash", self.world.owner_of(attestation.evaluator).anchor_hash.as_str().into()),
            ("outcome", attestation.outcome.into()),
            ("statement_at", signed_at.into()),
            ("key", key.public.as_str().into()),
            ("signature", signature.into()),
        ]);
        detail.put_some("note", attestation.note);
        detail.put_some("engagement_id", attestation.engagement.map(engagement));
        detail.put_some("reason", attestation.reason);
        if let Some((amount, units)) = spend {
            detail.put("amount", amount);
            detail.put("currency", "EUR");
            detail.put("units", units);
        }
        detail
    }

    fn stop(self, act: &Act, stop: &Stop) -> Json<'w> {
        let (recipient, sender) = (&self.world.owners[stop.recipient], &self.world.agents[act.subject]);
        let key = key_at(&sender.keys, act.at);
        let digest: [u8; 32] = Sha256::digest(stop.interaction.to_be_bytes()).into();
        let mut detail = object([
            ("interaction_id", call(stop.interaction).into()),
            ("reporter", self.world.reporters[stop.reporter].name.as_str().into()),
            ("class", stop.class.into()),
            ("stage", stop.stage.into()),
            ("ground", stop.ground.into()),
            ("decided_by", stop.decided_by.into()),
            ("recipient_anchor_hash", recipient.anchor_hash.as_str().into()),
            ("solicited", stop.solicited.into()),
            ("envelope_digest", hashed(&[&stop.interaction.to_be_bytes()]).into()),
            ("sender_key", key.public.as_str().into()),
            // Never spoiled: one signature of an entry is enough.
            ("sender_signature", Pen { spoils: false }.sign(&key.signing, &digest).into()),
            ("at", stamp(stop.stopped_at).into()),
        ]);
        let operator = recipient.operator.as_ref();
        let salted = |operator: &String| hashed(&[self.world.salt.as_bytes(), b":", operator.as_bytes()]);
        detail.put_some("recipient_operator_hash", operator.map(salted));
        detail.put_some("resolution", stop.resolution);
        detail.put_some(
            "screening_provider",
            stop.provider.map(|id| object([("id", id.into()), ("policy_version", "2026-02".into())])),
        );
        detail
    }

    fn correction(self, target: u64, repair: Repair) -> Json<'w> {
        let (kind, error, set) = match repair {
            Repair::Void(error) => ("void", error, None),
            Repair::Subject(subject) => (
                "amend",
                "wrong_subject",
                Some(object([("subject", self.world.agents[subject].handle.as_str().into())])),
            ),
            Repair::Capability(capability) => {
                ("amend", "wrong_interaction", Some(object([("capability", capability.into())])))
            }
            Repair::Interaction(id) => {
                ("amend", "wrong_interaction", Some(object([("interaction_id", call(id).into())])))
            }
        };
        let mut detail =
            object([("target_seq", (target as i64).into()), ("kind", kind.into()), ("error", error.into())]);
        detail.put_some("set", set);
        detail
    }
}

/// An interaction's name.
fn call(interaction: u64) -> String {
    format!("call-{interaction:016x}")
}

fn engagement(number: u64) -> String {
    format!("sow-{number:016x}")
}
