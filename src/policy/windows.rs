//! Days and hours of the policy as exact instants and spans of whole milliseconds.
//!
//! Instants are whole milliseconds (profile 1.2) and a policy's days need not be. For a whole `x` and any real `d`:
//!
//! ```text
//! x >  T − d   ⟺   x >  T − ⌈d⌉        window_from, claim_record_from, the rate window
//! x + d ≤ T    ⟺   x ≤  T − ⌈d⌉        cooling_from
//! x + d < T    ⟺   x <  T − ⌊d⌋        claim_open_from
//! x ≤  y + d   ⟺   x ≤  y + ⌊d⌋        the attestation and the filing window
//! x <  y + d   ⟺   x <  y + ⌈d⌉        takes_effect_at
//! ```
//!
//! so each comparison gets the span that is rounded its way, and no comparison ever sees a fraction. Results are cut to the years
//! 0 to 9999 with a margin, outside of which RFC 3339 writes no instant; no comparison with a written instant notices.

use super::{Decimal, Policy};
use crate::instant::DAY_MS;

/// Before every instant that RFC 3339 can write, whatever its offset.
const EARLIEST: i64 = -62_167_219_200_000 - 2 * DAY_MS;
/// After every instant that RFC 3339 can write, whatever its offset.
const LATEST: i64 = 253_402_300_800_000 + 2 * DAY_MS;
/// The last instant that is published: 9999-12-30T00:00:00Z, which every calendar library writes.
const LAST_WRITTEN: i64 = 253_402_128_000_000;
const HOUR_MS: i64 = 3_600_000;

/// The borders that a run's queries compare with, in milliseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// *T*.
    pub as_of: i64,
    /// `x > window_from` ⟺ x > T − `window_days`.
    pub window_from: i64,
    /// `withdrew_at <= cooling_from` ⟺ the withdrawal took effect by T (2.4).
    pub cooling_from: i64,
    /// `filed < claim_open_from` ⟺ T > filed + `claim_open_days` (2.8).
    pub claim_open_from: i64,
    /// `latest > claim_record_from` ⟺ latest > T − `claim_record_days` (2.8).
    pub claim_record_from: i64,
}

impl Windows {
    /// Whether an instant lies in `(T − window_days, T]`.
    pub fn in_window(&self, instant: i64) -> bool {
        self.window_from < instant && instant <= self.as_of
    }
}

/// The spans that the audit compares with, in milliseconds, each rounded for the comparison that its method makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spans {
    /// `at <= ended_at + attestation_window` is in time (§6.2).
    pub attestation_window: i64,
    /// `at - rate_window < x <= at` counts towards the ceiling (§6.4).
    pub rate_window: i64,
    /// `withdrew_at + cooling_off <= x` is in effect at x (§3.3).
    pub cooling_off: i64,
    /// `filed <= duties_end + claim_filing` is in time (§4.8).
    pub claim_filing: i64,
    /// Added to an `issued_at` it gives the `expires_at`, cut to the millisecond.
    pub report_ttl: i64,
}

impl Spans {
    /// Whether an attestation entered at `at` lies within the attestation window of an interaction that ended at `ended_at`.
    pub fn attested_in_time(&self, at: i64, ended_at: i64) -> bool {
        at <= ended_at.saturating_add(self.attestation_window)
    }

    /// Whether an attestation entered at `x` lies in the rate window `(at − rate_window_days, at]`.
    pub fn in_rate_window(&self, x: i64, at: i64) -> bool {
        at.saturating_sub(self.rate_window) < x && x <= at
    }

    /// Whether a claim entered at `filed` is filed in time where the duties ended at `duties_end`.
    pub fn filed_in_time(&self, filed: i64, duties_end: i64) -> bool {
        filed <= duties_end.saturating_add(self.claim_filing)
    }
}

/// Days as milliseconds, rounded down.
fn days_floor_ms(days: Decimal) -> i64 {
    days.times(DAY_MS as u64).0
}

/// Days as milliseconds, rounded up.
fn days_ceil_ms(days: Decimal) -> i64 {
    days.times(DAY_MS as u64).1
}

fn shifted(instant: i64, by: i64) -> i64 {
    instant.saturating_add(by).clamp(EARLIEST, LATEST)
}

impl Policy {
    /// The borders of a run for `as_of`.
    pub fn windows(&self, as_of: i64) -> Windows {
        Windows {
            as_of,
            window_from: shifted(as_of, -days_ceil_ms(self.window_days)),
            cooling_from: shifted(as_of, -days_ceil_ms(self.cooling_off_days)),
            claim_open_from: shifted(as_of, -days_floor_ms(self.claim_open_days)),
            claim_record_from: shifted(as_of, -days_ceil_ms(self.claim_record_days)),
        }
    }

    /// The spans of the audit's rules.
    pub fn spans(&self) -> Spans {
        Spans {
            attestation_window: days_floor_ms(self.attestation_window_days),
            rate_window: days_ceil_ms(self.rate_window_days),
            cooling_off: days_ceil_ms(self.cooling_off_days),
            claim_filing: days_floor_ms(self.claim_filing_days),
            report_ttl: self.report_ttl_hours.times(HOUR_MS as u64).0,
        }
    }

    /// When a withdrawal of `withdrew_at` takes effect: it is in effect at `x` ⟺ `takes_effect_at <= x`, and something entered at `at` came
    /// before that ⟺ `at < takes_effect_at` (2.4, 2.5).
    pub fn takes_effect_at(&self, withdrew_at: i64) -> i64 {
        shifted(withdrew_at, days_ceil_ms(self.cooling_off_days))
    }

    /// When a document of `issued_at` expires: `report_ttl_hours` later, cut to the millisecond, and never after the year 9999.
    pub fn expires_at(&self, issued_at: i64) -> i64 {
        issued_at.saturating_add(self.spans().report_ttl).min(LAST_WRITTEN.max(issued_at))
    }
}
