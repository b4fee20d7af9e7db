//! Findings: what a rule of profile 1.7 found at an entry.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

/// What a finding says is wrong, in words. It carries no secret and nothing of what an entry keeps private.
pub type Message = Cow<'static, str>;

/// How grave a finding is (1.7). An entry with an error counts for no figure and stops publication; warnings are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Stops publication unless the operator says otherwise.
    Error,
    /// Published as a count.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident $name:literal $severity:ident,)*) => {
        /// The rules of profile 1.7 that are judged entry by entry. `chain.hash`, `chain.link` and `chain.seq` are judged where the
        /// chain is read.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Rule { $($(#[$doc])* $variant,)* }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// The name of 1.7.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$variant => $name,)* }
            }

            /// Its severity (1.7).
            pub const fn severity(self) -> Severity {
                match self { $(Rule::$variant => Severity::$severity,)* }
            }
        }
    };
}

rules! {
    /// `at` is not before that of the entry before.
    ChainClock "chain.clock" Warning,
    /// The members of 1.2 and 1.5, with their value sets.
    EntrySchema "entry.schema" Error,
    /// The action is known.
    EntryAction "entry.action" Warning,
    /// Every signature verifies.
    SigInvalid "sig.invalid" Error,
    /// The key was its signer's at the signed instant.
    SigKey "sig.key" Error,
    /// `statement_at` is at most 24 hours before the entry's `at`, and not after it.
    SigDate "sig.date" Error,
    /// The reporter was configured.
    ReporterUnconfigured "reporter.unconfigured" Error,
    /// A fact witnesses the attestation.
    AttestUnwitnessed "attest.unwitnessed" Error,
    /// The evaluator is the fact's caller.
    AttestNotCaller "attest.not_caller" Error,
    /// The attestation came within its window.
    AttestLate "attest.late" Error,
    /// There was work to judge.
    AttestNoWork "attest.no_work" Error,
    /// The outcome is one that this fact allows.
    AttestCode "attest.code" Error,
    /// The subject was enrolled.
    AttestUnenrolled "attest.unenrolled" Error,
    /// What must be excluded is.
    ExcludeMissing "exclude.missing" Error,
    /// What is excluded must be.
    ExcludeUnfounded "exclude.unfounded" Error,
    /// One fact an interaction and subject.
    FactDuplicate "fact.duplicate" Warning,
    /// The instants of a fact or probe are in order.
    FactTimes "fact.times" Error,
    /// A promise check names a promise.
    FactPromise "fact.promise" Warning,
    /// The named sender is the caller.
    FactSender "fact.sender" Warning,
    /// A stop has a class, a ground and, for screening, a resolution.
    StopForbidden "stop.forbidden" Error,
    /// A claim is recorded in the state that the checks give it.
    ClaimState "claim.state" Error,
    /// An answer or resolution rests on what it needs.
    ClaimBasis "claim.basis" Error,
    /// A correction names what it may correct.
    CorrectTarget "correct.target" Error,
}

impl Rule {
    /// The rule of a name of 1.7.
    pub fn parse(name: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.name() == name)
    }

    /// True for the rules that look at an entry, its signer's keys and nothing else of the ledger, so that a later night need not
    /// judge them again.
    pub const fn is_of_the_entry_alone(self) -> bool {
        matches!(
            self,
            Rule::EntrySchema
                | Rule::EntryAction
                | Rule::SigInvalid
                | Rule::SigKey
                | Rule::SigDate
                | Rule::ReporterUnconfigured
        )
    }
}

impl Rule {
    /// True for a rule of stage 1 whose findings are errors: what the later stages ask about other entries.
    pub(super) const fn is_error_of_stage_one(self) -> bool {
        let one = matches!(self, Rule::FactTimes | Rule::StopForbidden | Rule::ClaimState | Rule::CorrectTarget);
        (one || self.is_of_the_entry_alone()) && matches!(self.severity(), Severity::Error)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The entry.
    pub seq: i64,
    /// The rule that it breaks.
    pub rule: Rule,
    /// What is wrong.
    pub message: Message,
}

impl Finding {
    /// A finding.
    pub fn new(seq: i64, rule: Rule, message: impl Into<Message>) -> Finding {
        Finding { seq, rule, message: message.into() }
    }
}

/// Findings while they are gathered, in any order.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    /// Adds a finding where a rule found something.
    pub fn judge(&mut self, seq: i64, rule: Rule, found: Option<Message>) {
        if let Some(message) = found {
            self.list.push(Finding::new(seq, rule, message));
        }
    }

    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.list.extend(findings);
    }

    pub fn append(&mut self, mut others: Findings) {
        self.list.append(&mut others.list);
    }

    /// Drops what was found at these entries under a rule.
    pub fn forget(&mut self, entries: &HashSet<i64>, rule: impl Fn(Rule) -> bool) {
        if !entries.is_empty() {
            self.list.retain(|finding| !(rule(finding.rule) && entries.contains(&finding.seq)));
        }
    }

    /// The entries with an error, each once, rising.
    pub fn in_error(&self) -> Vec<i64> {
        let errors = self.list.iter().filter(|finding| finding.rule.severity() == Severity::Error);
        let mut entries: Vec<i64> = errors.map(|finding| finding.seq).collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// By entry and name of the rule, one an entry and rule: the first that was added.
    pub fn finish(mut self) -> Vec<Finding> {
        self.list.sort_by(|a, b| (a.seq, a.rule.name()).cmp(&(b.seq, b.rule.name())));
        self.list.dedup_by(|later, first| later.seq == first.seq && later.rule == first.rule);
        self.list
    }
}

/// What an audit found.
#[derive(Debug)]
pub struct Audit {
    pub(super) findings: Vec<Finding>,
    pub(super) withheld: Vec<i64>,
}

impl Audit {
    /// By entry, then name of the rule.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The entries that count for nothing though there is no finding yet: self-dealing, competitors and over-ceiling ones whose
    /// exclusion the bureau may still record, since T ≤ `at` + 24 h (exclude.missing). Rising.
    pub fn withheld(&self) -> &[i64] {
        &self.withheld
    }

    /// How many findings each rule has that has any.
    pub fn counts(&self) -> BTreeMap<&'static str, (Severity, u64)> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            counts.entry(finding.rule.name()).or_insert((finding.rule.severity(), 0)).1 += 1;
        }
        counts
    }

    /// How many findings are errors.
    pub fn errors(&self) -> u64 {
        self.of(Severity::Error)
    }

    /// How many findings are warnings.
    pub fn warnings(&self) -> u64 {
        self.of(Severity::Warning)
    }

    fn of(&self, severity: Severity) -> u64 {
        self.findings.iter().map(|finding| u64::from(finding.rule.severity() == severity)).sum()
    }

    /// The `finding` table.
    pub fn finding_table(&self) -> Result<RecordBatch, ArrowError> {
        let text = |of: fn(&Finding) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(self.findings.iter().map(of)))
        };
        let columns = vec![
            Arc::new(Int64Array::from_iter_values(self.findings.iter().map(|finding| finding.seq))) as ArrayRef,
            text(|finding| finding.rule.name()),
            text(|finding| finding.rule.severity().as_str()),
            text(|finding| &finding.message),
        ];
        let field = |name| Field::new(name, DataType::Utf8, false);
        let schema = Schema::new(vec![
            Field::new("seq", DataType::Int64, false),
            field("rule"),
            field("severity"),
            field("message"),
        ]);
        RecordBatch::try_new(Arc::new(schema), columns)
    }

    /// The `withheld` table.
    pub fn withheld_table(&self) -> Result<RecordBatch, ArrowError> {
        entries(&self.withheld)
    }
}

/// A table of entries: `seq`.
pub(super) fn entries(seqs: &[i64]) -> Result<RecordBatch, ArrowError> {
    let schema = Schema::new(vec![Field::new("seq", DataType::Int64, false)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int64Array::from(seqs.to_vec()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_finding_an_entry_and_rule_in_order() {
        let mut found = Findings::default();
        found.judge(7, Rule::SigKey, Some("first".into()));
        found.judge(7, Rule::SigKey, Some("second".into()));
        found.judge(7, Rule::AttestCode, Some("code".into()));
        found.judge(3, Rule::ChainClock, Some("clock".into()));
        found.judge(4, Rule::ChainClock, None);
        assert_eq!(found.in_error(), [7]);
        let audit = Audit { findings: found.finish(), withheld: vec![9] };
        let list: Vec<_> = audit.findings().iter().map(|f| (f.seq, f.rule.name(), &*f.message)).collect();
        assert_eq!(list, [(3, "chain.clock", "clock"), (7, "attest.code", "code"), (7, "sig.key", "first")]);
        assert_eq!((audit.errors(), audit.warnings()), (2, 1));
        assert_eq!(audit.counts()["chain.clock"], (Severity::Warning, 1));
        assert_eq!(audit.finding_table().map(|table| table.num_rows()).ok(), Some(3));
        assert_eq!(audit.withheld_table().map(|table| table.num_rows()).ok(), Some(1));
    }

    #[test]
    fn every_rule_has_its_own_name_and_reads_back() {
        for rule in Rule::ALL {
            assert_eq!(Rule::parse(rule.name()), Some(*rule));
        }
        assert_eq!(Rule::parse("sig.maybe"), None);
    }

    #[test]
    fn what_is_forgotten_is_gone_for_that_rule_only() {
        let mut found = Findings::default();
        found.judge(7, Rule::SigKey, Some("key".into()));
        found.judge(7, Rule::SigDate, Some("date".into()));
        found.judge(8, Rule::SigKey, Some("key".into()));
        found.forget(&HashSet::from([7]), |rule| rule == Rule::SigKey);
        assert_eq!(
            found.finish().iter().map(|f| (f.seq, f.rule)).collect::<Vec<_>>(),
            [(7, Rule::SigDate), (8, Rule::SigKey)]
        );
    }
}
