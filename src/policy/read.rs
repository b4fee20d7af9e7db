//! `policy.toml` into a [`Policy`]: each value by its name, with its default and bound (profile 2.1).

use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Decimal, EVALUATOR_WEIGHTING, FAULT_LIMIT, FORMULA_VERSION, MAX_BYTES, Policy, PolicyFault};

/// One half: the default and the recommended most of `value_weight`.
pub(super) const HALF: Decimal = Decimal::tenths(5);

/// Values that belong to the formula and to no policy (2.1).
const CONSTANTS: [&str; 2] = ["failed_value", "ok_corrected_value"];

/// What a number must keep to. None of them admits a negative number, which no [`Decimal`] is.
#[derive(Clone, Copy)]
enum Bound {
    None,
    Positive,
    AtLeast(u64),
    Between(u64, u64),
}

impl Bound {
    fn admits(self, number: Decimal) -> bool {
        match self {
            Bound::None => true,
            Bound::Positive => !number.is_zero(),
            Bound::AtLeast(least) => number >= Decimal::whole(least),
            Bound::Between(least, most) => number >= Decimal::whole(least) && number <= Decimal::whole(most),
        }
    }

    fn words(self) -> String {
        match self {
            Bound::None => "not negative".to_owned(),
            Bound::Positive => "above 0".to_owned(),
            Bound::AtLeast(least) => format!("at least {least}"),
            Bound::Between(least, most) => format!("{least} to {most}"),
        }
    }
}

/// How many characters of the file's own text a fault repeats.
const SHOWN: usize = 100;

/// Reads the whole file. The faults are those of all its values, the first [`FAULT_LIMIT`] of them; of a file that is no TOML, the
/// first syntax error alone, since what follows one is a guess.
pub(super) fn policy(text: &str, file: &str) -> Result<Policy, Vec<PolicyFault>> {
    let broken = |line: usize, what: String| {
        vec![PolicyFault { file: file.to_owned(), line, name: String::new(), section: "TOML", what }]
    };
    if text.len() > MAX_BYTES {
        return Err(broken(1, format!("has {} bytes; a policy has at most {MAX_BYTES}", text.len())));
    }
    if text.starts_with('\u{feff}') {
        return Err(broken(1, "begins with a byte order mark; save the file as UTF-8 without one".to_owned()));
    }
    let newlines: Vec<usize> = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect();
    let line_of = |byte: usize| 1 + newlines.partition_point(|newline| *newline < byte);
    let table = DeTable::parse(text).map_err(|error| {
        broken(error.span().map_or(1, |span| line_of(span.start)), cut(error.message()).into_owned())
    })?;
    let mut values = Values { file, text, given: BTreeMap::new(), faults: Vec::new() };
    for (key, value) in table.into_inner() {
        values.given.insert(key.get_ref().to_string(), (line_of(key.span().start), value));
    }
    let policy = values.policy();
    values.leftover();
    values.faults.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
    values.faults.truncate(FAULT_LIMIT);
    if values.faults.is_empty() { Ok(policy) } else { Err(values.faults) }
}

/// The first [`SHOWN`] characters of a text, with a mark where that is not all.
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// The values of a file that nobody asked for yet, and the faults found so far.
struct Values<'t> {
    file: &'t str,
    text: &'t str,
    given: BTreeMap<String, (usize, Spanned<DeValue<'t>>)>,
    faults: Vec<PolicyFault>,
}

impl<'t> Values<'t> {
    fn policy(&mut self) -> Policy {
        let bureau = self.words("bureau", "§10.3", "a URL", is_url);
        if bureau.is_none() && !self.faults.iter().any(|fault| fault.name == "bureau") {
            self.fault(1, "bureau", "§10.3", "is missing, and has no default: a URL".to_owned());
        }
        let default = Policy::with_defaults(&bureau.unwrap_or_default());
        self.fixed("formula_version", "§7.3", FORMULA_VERSION);
        self.fixed("evaluator_weighting", "§6.5", EVALUATOR_WEIGHTING);
        Policy {
            half_life_days: self.decimal("half_life_days", "§7.2", Bound::Positive, default.half_life_days),
            unproven_threshold: self.decimal("unproven_threshold", "§7.4", Bound::None, default.unproven_threshold),
            value_weight: self.decimal("value_weight", "§7.6", Bound::Between(0, 1), default.value_weight),
            portfolio_prior: self.flag("portfolio_prior", "§7.5", default.portfolio_prior),
            prior_weight_events: self.decimal(
                "prior_weight_events",
                "§7.5",
                Bound::Between(0, 10),
                default.prior_weight_events,
            ),
            evaluator_min_volume: self.count(
                "evaluator_min_volume",
                "profile 2.1",
                Bound::AtLeast(3),
                default.evaluator_min_volume,
            ),
            cooling_off_days: self.decimal("cooling_off_days", "§3.3", Bound::AtLeast(14), default.cooling_off_days),
            attestation_window_days: self.decimal(
                "attestation_window_days",
                "§6.2",
                Bound::Positive,
                default.attestation_window_days,
            ),
            rate_ceiling: self.count("rate_ceiling", "§6.4", Bound::None, default.rate_ceiling),
            rate_window_days: self.decimal("rate_window_days", "§6.4", Bound::None, default.rate_window_days),
            window_days: self.decimal("window_days", "§8.2", Bound::Positive, default.window_days),
            sender_threshold: self.count("sender_threshold", "§4.7", Bound::AtLeast(3), default.sender_threshold),
            claim_filing_days: self.decimal("claim_filing_days", "§4.8", Bound::AtLeast(90), default.claim_filing_days),
            claim_open_days: self.decimal("claim_open_days", "§4.8", Bound::Positive, default.claim_open_days),
            claim_record_days: self.decimal(
                "claim_record_days",
                "§4.8",
                Bound::AtLeast(1095),
                default.claim_record_days,
            ),
            court_procedure: self.words("court_procedure", "§10.3", "text or a URL", |text| !text.trim().is_empty()),
            report_ttl_hours: self.decimal(
                "report_ttl_hours",
                "profile 2.1",
                Bound::Positive,
                default.report_ttl_hours,
            ),
            rating_window_decisions: self.count(
                "rating_window_decisions",
                "profile 2.1",
                Bound::Between(1, 1000),
                default.rating_window_decisions,
            ),
            ..default
        }
    }

    /// What is left has a name that no value has.
    fn leftover(&mut self) {
        for (name, (line, _)) in std::mem::take(&mut self.given) {
            let (section, what) = if CONSTANTS.contains(&name.as_str()) {
                ("§5", format!("is a constant of {FORMULA_VERSION} and no policy value"))
            } else {
                ("profile 2.1", "is no policy value".to_owned())
            };
            self.fault(line, &name, section, what);
        }
    }

    fn fault(&mut self, line: usize, name: &str, section: &'static str, what: String) {
        self.faults.push(PolicyFault { file: self.file.to_owned(), line, name: cut(name).into_owned(), section, what });
    }

    /// The line and the value of a name, and the value's own spelling for messages.
    fn take(&mut self, name: &str) -> Option<(usize, DeValue<'t>, Cow<'t, str>)> {
        let (line, value) = self.given.remove(name)?;
        let written = cut(self.text.get(value.span()).unwrap_or_default());
        Some((line, value.into_inner(), written))
    }

    fn decimal(&mut self, name: &str, section: &'static str, bound: Bound, default: Decimal) -> Decimal {
        let Some((line, value, written)) = self.take(name) else {
            return default;
        };
        let number = match &value {
            DeValue::Integer(integer) if integer.radix() == 10 => Decimal::parse(integer.as_str()),
            DeValue::Float(float) => Decimal::parse(float.as_str()),
            _ => Err(super::DecimalFault::NotADecimal),
        };
        match number {
            Ok(number) if bound.admits(number) => return number,
            Ok(_) => self.fault(line, name, section, format!("{written} is out of its bound: {}", bound.words())),
            Err(fault) => {
                self.fault(line, name, section, format!("{written} {fault}; the bound is: {}", bound.words()))
            }
        }
        default
    }

    fn count(&mut self, name: &str, section: &'static str, bound: Bound, default: u64) -> u64 {
        let line = self.given.get(name).map_or(1, |(line, _)| *line);
        let number = self.decimal(name, section, bound, Decimal::whole(default));
        // A table column is a signed integer of 64 bits.
        match number.as_whole().filter(|n| i64::try_from(*n).is_ok()) {
            Some(count) => count,
            None => {
                self.fault(line, name, section, format!("{number} is no count: a whole number, {}", bound.words()));
                default
            }
        }
    }

    fn flag(&mut self, name: &str, section: &'static str, default: bool) -> bool {
        match self.take(name) {
            None => default,
            Some((_, DeValue::Boolean(flag), _)) => flag,
            Some((line, _, written)) => {
                self.fault(line, name, section, format!("{written} is neither true nor false"));
                default
            }
        }
    }

    fn words(
        &mut self,
        name: &str,
        section: &'static str,
        bound: &str,
        admits: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let (line, value, written) = self.take(name)?;
        match value {
            DeValue::String(text) if admits(&text) => return Some(text.into_owned()),
            _ => self.fault(line, name, section, format!("{written} is out of its bound: {bound}")),
        }
        None
    }

    fn fixed(&mut self, name: &str, section: &'static str, only: &str) {
        let bound = format!("\"{only}\" alone");
        self.words(name, section, &bound, |text| text == only);
    }
}

/// `scheme://host…` with no white space or control character.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let letters = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(letters)
        && !host.is_empty()
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}
