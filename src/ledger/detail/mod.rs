//! The typed detail of each action, with every check that 1.7 calls `entry.schema` (1.5).
//!
//! A field that is `Option` is null where the member may be absent or null, or where another rule judges it: what
//! `stop.forbidden`, `attest.code`, `claim.basis` and `correct.target` name is not a fault here. An unlisted member is no fault
//! anywhere. Instants are milliseconds since 1970 UTC.

mod attest;
mod bureau;
mod enroll;
mod nda;
mod report;
mod stop;

pub use attest::Attestation;
pub use bureau::{Correction, Exclusion};
pub use enroll::{Declaration, Promise, Withdrawal};
pub use nda::{Agreement, Court, Disclosure, NdaAnswer, NdaClaim, NdaResolution};
pub use report::{Fact, Probe, PromiseCheck, Screening};
pub use stop::{ScreeningProvider, Stop};

use super::members::{Object, SchemaFault};
use super::node::Node;

/// The actions of 1.5.
pub const ACTIONS: [&str; 12] = [
    "enrolled",
    "amended",
    "withdrew",
    "fact",
    "attested",
    "probed",
    "stopped",
    "nda_claimed",
    "nda_answered",
    "nda_resolved",
    "excluded",
    "corrected",
];

/// An entry's detail by its action.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one is alive at a time, on the stack")]
pub enum Detail<'a> {
    /// A subject declared itself.
    Enrolled(Declaration<'a>),
    /// A subject replaced its declaration.
    Amended(Declaration<'a>),
    /// A subject withdrew.
    Withdrew(Withdrawal<'a>),
    /// A reporter's record of an interaction.
    Fact(Fact<'a>),
    /// A caller's judgment.
    Attested(Attestation<'a>),
    /// A probe's result.
    Probed(Probe<'a>),
    /// A request stopped before the work.
    Stopped(Stop<'a>),
    /// A claim of breach of an agreement.
    NdaClaimed(NdaClaim<'a>),
    /// An answer to a claim.
    NdaAnswered(NdaAnswer<'a>),
    /// A claim's resolution.
    NdaResolved(NdaResolution<'a>),
    /// The bureau excluded an attestation or a fact.
    Excluded(Exclusion<'a>),
    /// The bureau repaired an error of its data.
    Corrected(Correction<'a>),
    /// An action that 1.5 does not know; the entry is kept and counts for nothing.
    Unknown,
    /// The entry has a fault.
    Faulty,
}

/// Types the members of a detail, which is an object.
pub(super) fn read<'a>(action: &str, detail: Node<'a>) -> Result<Detail<'a>, SchemaFault> {
    let detail = Object::new(detail, "detail");
    Ok(match action {
        "enrolled" => Detail::Enrolled(Declaration::read(&detail)?),
        "amended" => Detail::Amended(Declaration::read(&detail)?),
        "withdrew" => Detail::Withdrew(Withdrawal::read(&detail)?),
        "fact" => Detail::Fact(Fact::read(&detail)?),
        "attested" => Detail::Attested(Attestation::read(&detail)?),
        "probed" => Detail::Probed(Probe::read(&detail)?),
        "stopped" => Detail::Stopped(Stop::read(&detail)?),
        "nda_claimed" => Detail::NdaClaimed(NdaClaim::read(&detail)?),
        "nda_answered" => Detail::NdaAnswered(NdaAnswer::read(&detail)?),
        "nda_resolved" => Detail::NdaResolved(NdaResolution::read(&detail)?),
        "excluded" => Detail::Excluded(Exclusion::read(&detail)?),
        "corrected" => Detail::Corrected(Correction::read(&detail)?),
        _ => Detail::Unknown,
    })
}
