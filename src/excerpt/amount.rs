//! Exact decimals as text: units of 10^-places.

/// Writes units with all their places: `3.250000000000000`.
pub(super) fn write(units: i128, places: u32) -> String {
    let unit = 10u128.pow(places);
    let sign = if units < 0 { "-" } else { "" };
    let size = units.unsigned_abs();
    format!("{sign}{}.{:0width$}", size / unit, size % unit, width = places as usize)
}

/// Reads what [`write()`] writes; none where it is spelt in any other way.
pub(super) fn read(text: &str, places: u32) -> Option<i128> {
    let units: i128 = text.chars().filter(|c| *c != '.').collect::<String>().parse().ok()?;
    (write(units, places) == text).then_some(units)
}

/// Writes units rounded to fewer places, half away from zero, for a person.
pub(super) fn short(units: i128, places: u32, shown: u32) -> String {
    let cut = 10i128.pow(places - shown);
    let half = if units < 0 { -(cut / 2) } else { cut / 2 };
    write((units + half) / cut, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_comes_back_in_its_one_spelling() {
        for (units, places, text) in [(0, 2, "0.00"), (5, 2, "0.05"), (-105, 2, "-1.05"), (32_934_380, 6, "32.934380")]
        {
            assert_eq!(write(units, places), text);
            assert_eq!(read(text, places), Some(units));
        }
        for text in ["", "1", "1.5", "01.50", "1.50 ", "-0.00", "1.5.0", "x"] {
            assert_eq!(read(text, 2), None, "{text}");
        }
    }

    #[test]
    fn short_is_rounded_half_away_from_zero() {
        assert_eq!(short(1_234_500, 6, 3), "1.235");
        assert_eq!(short(-1_234_500, 6, 3), "-1.235");
        assert_eq!(short(1_234_499, 6, 3), "1.234");
    }
}
