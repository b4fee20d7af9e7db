//! What a check finds wrong, each with its file and, where it has lines, its line.

use std::fmt;
use std::io;

/// So many faults are told; the rest is counted.
const LIMIT: usize = 100;

/// What to do about a file that is not the one listed.
pub(super) const ANEW: &str = "fetch or publish the snapshot anew";

/// One thing that is wrong with a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFault {
    /// The file, by its path in the snapshot.
    pub file: String,
    /// The line from 1, where the file has lines and the fault one.
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// Whether the environment is at fault (a file that cannot be read) rather than the snapshot.
    pub environment: bool,
}

impl fmt::Display for CheckFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Either may hold words of a stranger's manifest: nothing of it reaches a terminal raw.
        let tame = |text: &str| -> String {
            text.chars()
                .flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
                .collect()
        };
        let (file, message) = (tame(&self.file), tame(&self.message));
        match self.line {
            Some(line) => write!(out, "{file}:{line}: {message}"),
            None => write!(out, "{file}: {message}"),
        }
    }
}

/// The exit code of a check that found these: 3 where one is the environment's, 1 otherwise.
pub fn exit_code(faults: &[CheckFault]) -> u8 {
    if faults.iter().any(|fault| fault.environment) { 3 } else { 1 }
}

/// Faults as they are found.
#[derive(Default)]
pub(super) struct Faults {
    list: Vec<CheckFault>,
    untold: u64,
}

impl Faults {
    pub(super) fn add(&mut self, file: &str, line: Option<u64>, message: impl Into<String>) {
        self.push(CheckFault { file: file.to_owned(), line, message: message.into(), environment: false });
    }

    /// A read that failed; a text of the reader's own (too long, cut off) is the snapshot's fault.
    pub(super) fn read(&mut self, file: &str, line: Option<u64>, fault: &io::Error) {
        let snapshots_own = matches!(
            fault.kind(),
            io::ErrorKind::InvalidData
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::Other
        );
        self.push(CheckFault {
            file: file.to_owned(),
            line,
            message: format!("cannot be read: {fault}"),
            environment: !snapshots_own,
        });
    }

    /// Said of a file that is not the one listed; `self` holds what was found in this file alone.
    ///
    /// The digest comes first. Whatever else was found follows from the changed bytes, and is told by its first fault and a count.
    pub(super) fn differs(&mut self, file: &str, expected: &str, found: &str) {
        // Of a file that the machine did not read whole, which is told, the digest says nothing.
        if self.list.iter().any(|fault| fault.environment) {
            return;
        }
        let rest = std::mem::take(self);
        let digest = expected.len() == 64 && expected.bytes().all(|byte| byte.is_ascii_hexdigit());
        let expected = if digest { expected } else { "what is no digest" };
        self.add(file, None, format!("its sha256 is {found}, the manifest says {expected}: it was changed; {ANEW}"));
        let more = (rest.list.len() as u64 + rest.untold).saturating_sub(1);
        if let Some(mut first) = rest.list.into_iter().next() {
            first.message += "; this follows from the change";
            if more > 0 {
                first.message += &format!(", as do {more} more faults of the file");
            }
            self.push(first);
        }
    }

    /// Adds the faults of one file.
    pub(super) fn join(&mut self, file: Faults) {
        file.list.into_iter().for_each(|fault| self.push(fault));
        self.untold += file.untold;
    }

    fn push(&mut self, fault: CheckFault) {
        if self.list.len() < LIMIT {
            self.list.push(fault);
        } else {
            self.untold += 1;
        }
    }

    /// Whether nothing was found.
    pub(super) fn none(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether so much is wrong that reading on tells nothing more.
    pub(super) fn full(&self) -> bool {
        self.untold > 0
    }

    /// Everything that was found.
    pub(super) fn finish(mut self) -> Vec<CheckFault> {
        if self.untold > 0 {
            let message = format!("more faults were found, of which {} are not told", self.untold);
            self.list.push(CheckFault { file: "snapshot".to_owned(), line: None, message, environment: false });
        }
        self.list
    }
}
