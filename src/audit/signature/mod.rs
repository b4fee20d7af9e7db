//! Ed25519 signatures: one strict verdict, decided singly or by the thousand, and the texts that are signed (profile 1.4).
//!
//! | file | what it knows |
//! | --- | --- |
//! | `key.rs` | base64 of one spelling; a key decoded and classified once |
//! | `strict.rs` | the reference verdict on one signature |
//! | `batch.rs`, `sums.rs`, `wide.rs` | the same verdicts on a batch, several times faster |
//! | `any.rs` | signatures with several candidate keys |
//! | `statement.rs`, `members.rs` | what an entry has signed, by whom, and when |
//!
//! # Why a batch says what single verification says
//!
//! Let L be the prime order of the base point B, and E the curve's group, which is the direct product of the group
//! ⟨B⟩ and the eight points of torsion E\[8\], a cyclic group. A signature (R, S) of M under A is *good* where
//! [`verify_strict`] accepts it, that is, where A and R are canonical encodings of points not of small order,
//! S < L, and for k = SHA-512(R ‖ A ‖ M) mod L
//!
//! (1)   \[S\]B − \[k\]A = R.
//!
//! **Before any equation.** Keys that are not canonical or of small order do not come to be ([`Key`]); signatures
//! whose key has a torsion component are decided singly; those with S ≥ L, with an R that is no point, not reduced,
//! or of small order are rejected, as strict verification rejects them. What is left has A in ⟨B⟩ and a canonical
//! R, so that (1) holds of the points exactly where it holds of the encodings that strict verification compares.
//!
//! **The checks.** For the n signatures left, coefficients z₁ … zₙ of 128 bits are drawn from the operating system
//! after the signatures are fixed. Write P_b = Σ {Rᵢ : bit b of zᵢ is set}, so that Σ zᵢRᵢ = Σ 2^b P_b. The batch
//! passes where
//!
//! (2)   \[L\]P_b = 0 for every b from 0 to 127, and
//!
//! (3)   Σ 2^b P_b + Σ_A \[Σ {zᵢkᵢ : Aᵢ = A}\]A − \[Σ zᵢSᵢ\]B = 0.
//!
//! The scalars of A and B may be reduced modulo L since those points lie in ⟨B⟩; zᵢ is below L and is never
//! reduced. Nothing is multiplied by the cofactor.
//!
//! **A batch of good signatures passes, always.** By (1) every Rᵢ lies in ⟨B⟩, hence every P_b, which is (2); and
//! (3) is the sum of zᵢ times (1). So a batch that fails has a bad signature in it, and a failure is never the
//! verdict on any signature: the batch is taken apart and in the end `verify_strict` decides.
//!
//! **A batch with a bad signature passes with probability at most 2^-128 for each of the two checks.** Two cases.
//!
//! - *Some Rᵢ has a torsion component t ≠ 0.* Fix all coefficients but zᵢ. Bit b of zᵢ adds t to the torsion
//!   component of P_b or does not, so at most one of its two values leaves that component 0. The 128 bits are
//!   independent and even: (2) holds with probability at most 2^-128. One R with torsion reaches that bound, whatever
//!   the order of t, which is why there are 128 sums.
//! - *None has, and (1) fails for some i.* Then Dᵢ = Rᵢ + \[kᵢ\]Aᵢ − \[Sᵢ\]B is not 0 and all the D lie in ⟨B⟩, of
//!   prime order. Fix all coefficients but zᵢ: (3) asks that \[zᵢ\]Dᵢ be one given point, which one residue modulo
//!   L does, and at most one zᵢ below 2^128 < L has it. (3) holds with probability at most 2^-128.
//!
//! Both checks use the same coefficients; the cases exclude each other, so no independence between them is needed.
//! In the second case the reuse saves the multiplication of the Rs: the sums of (2) are the digits of (3).
//!
//! Without (2), two Rs with the point of order 2 added to each would cancel in (3) whenever z₁ + z₂ is even, which
//! makes a verdict of chance. (The library's own batch verification is of that kind.)
//!
//! **Spoilt batches.** A batch that fails is searched in 16 parts, each checked with fresh coefficients, and the
//! parts of parts in turn, down to where single decisions are cheaper. Where (2) held and (3) failed, the parts
//! need only (3): the first case is excluded for all of them by the one proof. When the first parts of a search
//! fail one after another, the rest is decided singly, so that a batch with many bad signatures costs little more
//! than single decisions. A part passes wrongly with probability at most 2^-128 like any batch, and a night has
//! fewer than 2^30 parts. Randomness decides how long it takes and not what comes out.

mod any;
mod batch;
mod key;
mod members;
mod statement;
mod strict;
mod sums;
mod wide;

#[cfg(test)]
mod adversary;
#[cfg(test)]
mod statement_tests;
#[cfg(test)]
mod vectors;

pub use any::{AnyItem, verify_any};
pub use batch::{Item, verify_all};
pub use key::{Key, KeyFault, Keys, key_bytes, signature_bytes};
pub use statement::{Demand, Part, SignedAt, Signer, StatementFault, demands};
pub use strict::verify_strict;

/// How many signatures a batch should have: enough that the cost of its keys and sums is spread, few enough that its
/// points stay in the cache.
pub const BATCH: usize = 16_384;
