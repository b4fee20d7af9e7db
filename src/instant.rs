//! Instants: RFC 3339 text in, whole milliseconds since 1970-01-01 UTC out (profile 1.2).
//!
//! Every instant is cut to the millisecond before anything compares it. A local time, a leap second and `24:00`
//! are no instants.

use jiff::Timestamp;

/// Why a text is no instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 instant with Z or an offset")]
pub struct InstantFault;

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// Parses `YYYY-MM-DDTHH:MM:SS[.fraction](Z|±HH:MM)`, any number of fraction digits, into milliseconds since 1970 UTC, cut, not
/// rounded. `T` and `Z` may be lower case (RFC 3339 §5.6).
pub fn parse(text: &str) -> Result<i64, InstantFault> {
    let b = text.as_bytes();
    if b.len() < 20 || b[4] != b'-' || b[7] != b'-' || !matches!(b[10], b'T' | b't') || b[13] != b':' || b[16] != b':' {
        return Err(InstantFault);
    }
    let year = number(&b[0..4])?;
    let (month, day) = (number(&b[5..7])?, number(&b[8..10])?);
    let (hour, minute, second) = (number(&b[11..13])?, number(&b[14..16])?, number(&b[17..19])?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) || hour > 23 || minute > 59 || second > 59 {
        return Err(InstantFault);
    }
    let (milli, rest) = fraction(&b[19..])?;
    let offset = offset_minutes(rest)?;
    let minutes = days_from_civil(year, month, day) * 1440 + hour * 60 + minute - offset;
    Ok((minutes * 60 + second) * 1000 + milli)
}

/// Writes milliseconds since 1970 UTC as RFC 3339 UTC with milliseconds and `Z`, the one spelling that is published (3.2).
pub fn format(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(instant) => format!("{instant:.3}"),
        Err(_) => format!("{ms}ms"),
    }
}

fn number(digits: &[u8]) -> Result<i64, InstantFault> {
    digits
        .iter()
        .try_fold(0, |sum, d| if d.is_ascii_digit() { Ok(sum * 10 + i64::from(d - b'0')) } else { Err(InstantFault) })
}

/// The milliseconds of `.fraction`, and what stands behind it.
fn fraction(text: &[u8]) -> Result<(i64, &[u8]), InstantFault> {
    let Some(digits) = text.strip_prefix(b".") else { return Ok((0, text)) };
    let count = digits.iter().take_while(|d| d.is_ascii_digit()).count();
    if count == 0 {
        return Err(InstantFault);
    }
    let milli = (0..3).fold(0, |sum, i| sum * 10 + if i < count { i64::from(digits[i] - b'0') } else { 0 });
    Ok((milli, &digits[count..]))
}

fn offset_minutes(text: &[u8]) -> Result<i64, InstantFault> {
    match text {
        [b'Z' | b'z'] => Ok(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
            if hours > 23 || minutes > 59 {
                return Err(InstantFault);
            }
            let total = hours * 60 + minutes;
            Ok(if *sign == b'-' { -total } else { total })
        }
        _ => Err(InstantFault),
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a proleptic Gregorian date, with the year counted from March so that the leap day is its last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_cut_to_the_millisecond_in_utc() {
        assert_eq!(parse("1970-01-01T00:00:00Z"), Ok(0));
        assert_eq!(parse("2026-11-30T00:00:00.000Z"), Ok(1_796_000_000_000 - 3_200_000));
        assert_eq!(parse("2026-11-30T01:00:00.0009999+01:00"), parse("2026-11-30T00:00:00Z"));
        assert_eq!(parse("1969-12-31T23:59:59.999999Z"), Ok(-1));
        assert_eq!(parse("2024-02-29t12:00:00.5z").map(format).as_deref(), Ok("2024-02-29T12:00:00.500Z"));
    }

    #[test]
    fn what_is_local_leap_or_no_date_is_refused() {
        for text in [
            "2026-11-30T00:00:00",
            "2026-11-30 00:00:00Z",
            "2026-11-30T24:00:00Z",
            "2016-12-31T23:59:60Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-30T00:00:00.Z",
            "2026-11-30T00:00Z",
            "2026-11-30T00:00:00+0100",
            "2026-11-30T00:00:00+24:00",
            "",
            "x",
            "2026-11-30T00:00:00ZZ",
            "٢٠26-11-30T00:00:00Z",
        ] {
            assert_eq!(parse(text), Err(InstantFault), "{text}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_agrees_with_the_calendar_library() {
        let mut ms = parse("1850-01-01T00:00:00.007Z").unwrap();
        while ms < parse("2250-01-01T00:00:00Z").unwrap() {
            assert_eq!(parse(&format(ms)), Ok(ms));
            ms += DAY_MS + 61_001;
        }
    }
}
