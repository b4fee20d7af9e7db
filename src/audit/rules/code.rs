//! The codes of spec 5 as the rules use them, and a fact's own code (profile 2.3, steps 3 to 5).

/// The codes with a quality value that an acceptance carries (spec 5).
pub const QUALITY: [&str; 5] = ["OK", "OK_CORRECTED", "FAILED", "FAILED_SILENT", "CONTRACT"];
/// The codes of a value judgment (spec 6.6).
pub const VALUE: [&str; 2] = ["VALUE_OK", "VALUE_POOR"];
/// The codes of a fact after which no broken promise is looked for (2.3, step 3).
const UNDONE: [&str; 4] = ["DECLINED", "REFUSED", "REFUSED_UNSTATED", "UNAVAILABLE"];
/// The observations of 1.5 that come with a null outcome.
const UNSCORED: [&str; 5] = ["input_required", "exhausted", "metering", "terminated_for_cause", "dispute_fallback"];

/// What a fact observed.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// `OK`, `UNREACHABLE`, `TIMEOUT` or `MALFORMED`.
    pub transport: &'a str,
    /// The outcome that the reporter derived.
    pub derived_outcome: Option<&'a str>,
    /// What it derived it from.
    pub derived_from: Option<&'a str>,
    /// Whether a promise check that counts was not held.
    pub broken: bool,
}

impl<'a> Observed<'a> {
    /// The code that the fact alone gives its interaction, or none.
    pub fn code(&self) -> Option<&'a str> {
        let undone = self.derived_outcome.is_some_and(|code| UNDONE.contains(&code));
        let unscored = self.derived_from.is_some_and(|from| UNSCORED.contains(&from));
        if self.broken && !undone && !unscored {
            return Some("CONTRACT");
        }
        self.derived_outcome.or(matches!(self.transport, "UNREACHABLE" | "TIMEOUT").then_some("UNREACHABLE"))
    }

    /// Whether the code has a quality value. A fact gives no value code.
    pub fn has_quality(&self) -> bool {
        self.code().is_some_and(|code| QUALITY.contains(&code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: Observed<'static> =
        Observed { transport: "OK", derived_outcome: Some("OK"), derived_from: None, broken: false };

    #[test]
    fn the_first_step_that_applies_gives_the_code() {
        assert_eq!(OK.code(), Some("OK"));
        assert_eq!(Observed { broken: true, ..OK }.code(), Some("CONTRACT"));
        for undone in UNDONE {
            let fact = Observed { broken: true, derived_outcome: Some(undone), ..OK };
            assert_eq!((fact.code(), fact.has_quality()), (Some(undone), false));
        }
        for from in UNSCORED {
            let fact = Observed { broken: true, derived_outcome: None, derived_from: Some(from), ..OK };
            assert_eq!(fact.code(), None);
        }
        let silent = Observed { derived_outcome: None, ..OK };
        assert_eq!(silent.code(), None);
        assert_eq!(Observed { transport: "MALFORMED", ..silent }.code(), None);
        assert_eq!(Observed { transport: "TIMEOUT", ..silent }.code(), Some("UNREACHABLE"));
        assert_eq!(Observed { transport: "TIMEOUT", broken: true, ..silent }.code(), Some("CONTRACT"));
        assert_eq!(Observed { transport: "UNREACHABLE", ..OK }.code(), Some("OK"));
        assert!(OK.has_quality() && !silent.has_quality());
    }
}
