//! What an entry has signed: the text or document, by whom, and when (profile 1.4).

use std::borrow::Cow;

use super::members::Raw;

/// A member that a signed text needs is missing or of another type, which another rule names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is missing or no text")]
pub struct StatementFault(pub &'static str);

/// A signature that an entry must carry, with all that its verdict needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// Which of the entry's signatures it is.
    pub part: Part,
    /// Whose key must have made it.
    pub signer: Signer,
    /// The signature's text, as the entry has it.
    pub signature: String,
    /// When the key must have been bound.
    pub signed_at: SignedAt,
    /// The bytes signed. `None` where the entry does not name them (an `envelope_digest` that is none): nothing verifies.
    pub message: Option<Vec<u8>>,
}

/// Which of an entry's signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `detail.signature`.
    Entry,
    /// `detail.sender_signature` of a stop.
    Sender,
}

/// Whose key a signature needs. `key` is the text of the key that the entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signer {
    /// An agent key of the handle.
    Agent {
        /// The handle or ANS name.
        handle: String,
        /// The key named.
        key: String,
    },
    /// An agent key or an owner key of the handle.
    AgentOrOwner {
        /// The handle or ANS name.
        handle: String,
        /// The key named.
        key: String,
    },
    /// An agent key of the claimant of a claim.
    Claimant {
        /// The claim's digest.
        claim: String,
        /// The key named.
        key: String,
    },
    /// Any key of the reporter.
    Reporter {
        /// The reporter's name.
        reporter: String,
    },
}

/// The instant at which a key must have been bound to its signer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedAt {
    /// The entry's own `at`.
    EntryAt,
    /// An instant of the signed text, RFC 3339.
    Instant(String),
}

/// Appends the signatures that an entry must carry: none, one, or two of a stop.
///
/// `canonical` is the entry in canonical form without its hash members, `bureau` the policy's own address. Entries that
/// carry no signature demand none: the bureau's own acts, unknown actions, resolutions neither acknowledged nor
/// withdrawn, and claims recorded as rejected.
///
/// # Errors
/// Where a member is missing that the signed text needs; nothing is appended then.
pub fn demands(canonical: &[u8], bureau: &str, out: &mut Vec<Demand>) -> Result<(), StatementFault> {
    let entry = Entry::new(canonical)?;
    match entry.action.as_ref() {
        "enrolled" | "amended" => out.push(entry.enrollment("fdbk-enroll-v1", bureau)?),
        "withdrew" => out.push(entry.enrollment("fdbk-withdraw-v1", bureau)?),
        "attested" => out.push(entry.attestation()?),
        "fact" => out.push(entry.report("fdbk-fact-v1")?),
        "probed" => out.push(entry.report("fdbk-probe-v1")?),
        "stopped" => out.extend([entry.report("fdbk-stop-v1")?, entry.sender()?]),
        "nda_claimed" => out.extend(entry.claim()?),
        "nda_answered" => out.push(entry.answer()?),
        "nda_resolved" => out.extend(entry.resolution()?),
        _ => {}
    }
    Ok(())
}

struct Entry<'a> {
    action: Cow<'a, str>,
    subject: Raw<'a>,
    capability: Option<Raw<'a>>,
    detail: Raw<'a>,
}

impl<'a> Entry<'a> {
    fn new(canonical: &'a [u8]) -> Result<Self, StatementFault> {
        let root = Raw(canonical);
        let need = |name| root.get(name).ok_or(StatementFault(name));
        Ok(Self {
            action: need("action")?.text().ok_or(StatementFault("action"))?,
            subject: need("subject")?,
            capability: root.get("capability").filter(|value| !value.is_null()),
            detail: need("detail")?,
        })
    }

    fn subject(&self) -> Result<Cow<'a, str>, StatementFault> {
        self.subject.text().ok_or(StatementFault("subject"))
    }

    /// A text of the detail.
    fn text(&self, name: &'static str) -> Result<Cow<'a, str>, StatementFault> {
        self.optional(name).ok_or(StatementFault(name))
    }

    fn optional(&self, name: &str) -> Option<Cow<'a, str>> {
        self.detail.get(name)?.text()
    }

    /// The capability in a signed line: empty where the entry has none.
    fn capability(&self) -> Result<Cow<'a, str>, StatementFault> {
        self.capability.map_or(Ok(Cow::Borrowed("")), |value| value.text().ok_or(StatementFault("capability")))
    }

    /// The demand of `detail.signature`, dated by `statement_at`.
    fn stated(&self, signer: Signer, message: Vec<u8>) -> Result<Demand, StatementFault> {
        Ok(Demand {
            part: Part::Entry,
            signer,
            signature: self.text("signature")?.into_owned(),
            signed_at: SignedAt::Instant(self.text("statement_at")?.into_owned()),
            message: Some(message),
        })
    }

    fn enrollment(&self, tag: &str, bureau: &str) -> Result<Demand, StatementFault> {
        let subject = self.subject()?;
        let message = line(&[tag, &subject, bureau, &self.text("statement_at")?]);
        let signer = Signer::Agent { handle: subject.into_owned(), key: self.text("key")?.into_owned() };
        self.stated(signer, message)
    }

    fn attestation(&self) -> Result<Demand, StatementFault> {
        let (interaction, subject, capability) = (self.text("interaction_id")?, self.subject()?, self.capability()?);
        let (outcome, statement_at) = (self.text("outcome")?, self.text("statement_at")?);
        let message = if matches!(outcome.as_ref(), "VALUE_OK" | "VALUE_POOR") {
            let [amount, currency, units] =
                ["amount", "currency", "units"].map(|n| self.optional(n).unwrap_or_default());
            let tag = "fdbk-value-v1";
            line(&[tag, &interaction, &subject, &capability, &outcome, &amount, &currency, &units, &statement_at])
        } else {
            line(&["fdbk-attest-v1", &interaction, &subject, &capability, &outcome, &statement_at])
        };
        let handle = self.text("evaluator")?.into_owned();
        self.stated(Signer::Agent { handle, key: self.text("key")?.into_owned() }, message)
    }

    /// A reporter's document: the capability, the detail without its signature, and the subject.
    fn report(&self, tag: &str) -> Result<Demand, StatementFault> {
        let mut message = Vec::with_capacity(self.detail.0.len() + 192);
        message.extend_from_slice(tag.as_bytes());
        message.extend_from_slice(b"\n{\"capability\":");
        message.extend_from_slice(self.capability.map_or(b"null", |value| value.0));
        message.extend_from_slice(b",\"detail\":");
        self.detail.write_without("signature", &mut message);
        message.extend_from_slice(b",\"subject\":");
        message.extend_from_slice(self.subject.0);
        message.push(b'}');
        Ok(Demand {
            part: Part::Entry,
            signer: Signer::Reporter { reporter: self.text("reporter")?.into_owned() },
            signature: self.text("signature")?.into_owned(),
            signed_at: SignedAt::EntryAt,
            message: Some(message),
        })
    }

    /// The sender's own signature in a stop, over the bytes of the digest.
    fn sender(&self) -> Result<Demand, StatementFault> {
        let key = self.text("sender_key")?.into_owned();
        Ok(Demand {
            part: Part::Sender,
            signer: Signer::Agent { handle: self.subject()?.into_owned(), key },
            signature: self.text("sender_signature")?.into_owned(),
            signed_at: SignedAt::EntryAt,
            message: digest_bytes(&self.text("envelope_digest")?),
        })
    }

    /// A claim that is open or uncounted; a rejected one is recorded as it came, and demands nothing.
    fn claim(&self) -> Result<Option<Demand>, StatementFault> {
        if self.text("state")? == "rejected" {
            return Ok(None);
        }
        let claim = self.detail.get("claim").ok_or(StatementFault("claim"))?;
        let text = |value: Raw<'a>, name| Some(value.get(name)?.text()?.into_owned());
        let claimant = claim.get("claimant").ok_or(StatementFault("claim.claimant"))?;
        let signer = Signer::Agent {
            handle: text(claimant, "handle").ok_or(StatementFault("claim.claimant.handle"))?,
            key: text(claimant, "agent").ok_or(StatementFault("claim.claimant.agent"))?,
        };
        Ok(Some(Demand {
            part: Part::Entry,
            signer,
            signature: self.text("signature")?.into_owned(),
            signed_at: SignedAt::Instant(text(claim, "at").ok_or(StatementFault("claim.at"))?),
            message: Some([b"fdbk-nda-claim-v1\n", claim.0].concat()),
        }))
    }

    /// `tag`, a newline, and the members of the detail named, the digest as `claim`.
    fn about_claim(&self, tag: &str, names: &[&'static str]) -> Result<Vec<u8>, StatementFault> {
        let mut message = [tag.as_bytes(), b"\n"].concat();
        let mut before = b'{';
        for &name in names {
            let value = self.detail.get(name).ok_or(StatementFault(name))?;
            message.push(before);
            before = b',';
            let member = if name == "claim_digest" { "claim" } else { name };
            for part in [b"\"", member.as_bytes(), b"\":", value.0] {
                message.extend_from_slice(part);
            }
        }
        message.push(b'}');
        Ok(message)
    }

    fn respondent(&self) -> Result<Signer, StatementFault> {
        Ok(Signer::AgentOrOwner { handle: self.subject()?.into_owned(), key: self.text("key")?.into_owned() })
    }

    fn answer(&self) -> Result<Demand, StatementFault> {
        let message = self.about_claim("fdbk-nda-answer-v1", &["claim_digest", "statement_at", "text"])?;
        self.stated(self.respondent()?, message)
    }

    /// An acknowledgment is the respondent's, a withdrawal the claimant's; one that lacks its key, signature or date is
    /// `claim.basis`, and leaves nothing to verify.
    fn resolution(&self) -> Result<Option<Demand>, StatementFault> {
        let resolution = self.text("resolution")?;
        let acknowledged = resolution == "upheld" && self.optional("basis").as_deref() == Some("acknowledged");
        let signed = ["key", "signature", "statement_at"].iter().all(|name| self.optional(name).is_some());
        let names = ["claim_digest", "statement_at"];
        if !signed {
            Ok(None)
        } else if acknowledged {
            self.stated(self.respondent()?, self.about_claim("fdbk-nda-ack-v1", &names)?).map(Some)
        } else if resolution == "withdrawn" {
            let claim = self.text("claim_digest")?.into_owned();
            let signer = Signer::Claimant { claim, key: self.text("key")?.into_owned() };
            self.stated(signer, self.about_claim("fdbk-nda-withdraw-v1", &names)?).map(Some)
        } else {
            Ok(None)
        }
    }
}

/// A signed line: fields with colons between them.
fn line(fields: &[&str]) -> Vec<u8> {
    fields.join(":").into_bytes()
}

/// The 32 bytes that `sha256:` and 64 hexadecimal digits name.
fn digest_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("sha256:").filter(|digits| digits.len() == 64)?;
    let nibble = |digit: u8| (digit as char).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, _) = digits.as_bytes().as_chunks::<2>();
    pairs.iter().map(|&[high, low]| Some(nibble(high)? << 4 | nibble(low)?)).collect()
}
