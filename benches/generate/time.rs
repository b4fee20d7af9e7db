//! Instants as text. Milliseconds since 1970 UTC in, RFC 3339 out.

/// A second, a minute, an hour and a day in milliseconds.
pub const SECOND: i64 = 1000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// 2026-11-30T00:00:00Z, the instant that an export ends at.
pub const END: i64 = 20_787 * DAY;

/// `2026-11-30T00:00:00.000Z`.
pub fn stamp(instant: i64) -> String {
    spelt(instant, "", "Z")
}

/// The same instant with an offset of hours, `2026-11-30T02:00:00.000+02:00`.
pub fn stamp_with_offset(instant: i64, hours: i64) -> String {
    let sign = if hours < 0 { '-' } else { '+' };
    spelt(instant + hours * HOUR, "", &format!("{sign}{:02}:00", hours.abs()))
}

/// The same millisecond with three more digits, which whoever reads it cuts off.
pub fn stamp_with_micros(instant: i64, micros: u64) -> String {
    spelt(instant, &format!("{:03}", micros % 1000), "Z")
}

fn spelt(instant: i64, digits: &str, zone: &str) -> String {
    let (year, month, day) = date(instant.div_euclid(DAY));
    let of_day = instant.rem_euclid(DAY);
    let (hour, minute) = (of_day / HOUR, of_day % HOUR / MINUTE);
    let (second, ms) = (of_day % MINUTE / SECOND, of_day % SECOND);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}{digits}{zone}")
}

/// The civil date of a day since 1970, by years that begin in March, so that the leap day comes last.
fn date(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_spelt_as_rfc_3339() {
        assert_eq!(stamp(END), "2026-11-30T00:00:00.000Z");
        assert_eq!(stamp(END - 1), "2026-11-29T23:59:59.999Z");
        assert_eq!(stamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(stamp(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(stamp(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(stamp(1_709_251_199_000), "2024-02-29T23:59:59.000Z");
        assert_eq!(stamp_with_offset(END, -3), "2026-11-29T21:00:00.000-03:00");
        assert_eq!(stamp_with_offset(END, 2), "2026-11-30T02:00:00.000+02:00");
        assert_eq!(stamp_with_micros(END, 7), "2026-11-30T00:00:00.000007Z");
    }
}
