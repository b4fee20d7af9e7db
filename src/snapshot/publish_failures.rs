//! Every call that changes the disk fails in turn, before it, after it, halfway, and for good: whole or not at all.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::check::check;
use super::super::fsys::{Real, Seam};
use super::super::testing::{NEXT, T, reports};
use super::tests::{House, PLAIN, REPLACE};
use super::{Draft, Options, directory_name};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    /// Nothing happened.
    Before,
    /// It happened, and was reported as failed.
    After,
    /// It happened halfway, where a call can: a write writes half.
    Half,
    /// Nothing happened, and nothing after it either: the process died.
    Death,
}

/// A disk on which one call fails.
struct Failing {
    which: usize,
    how: How,
    calls: AtomicUsize,
}

impl Failing {
    fn new(which: usize, how: How) -> Self {
        Self { which, how, calls: AtomicUsize::new(0) }
    }
}

impl Seam for Failing {
    fn call(&self, action: &'static str, path: &Path, act: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let failed = || Err(io::Error::other(format!("injected: {action} {}", path.display())));
        match self.how {
            How::Death if number >= self.which => failed(),
            _ if number != self.which => act(),
            How::Before | How::Death => failed(),
            How::After => act().and_then(|()| failed()),
            How::Half if action == "write" => {
                use io::Write;
                fs::OpenOptions::new().append(true).open(path)?.write_all(b"{\"bureau")?;
                failed()
            }
            How::Half => act().and_then(|()| failed()),
        }
    }
}

/// What must hold after a run in which a call failed, then after the same run on a sound disk.
fn each_call_fails_in_turn(
    prepare: impl Fn(&House),
    draft_of: impl Fn(&House) -> Draft,
    options: Options,
    old: Option<&str>,
) {
    let counted = {
        let house = House::new();
        prepare(&house);
        let all = Failing::new(usize::MAX, How::Before);
        house.run_through(&all, &draft_of(&house), options).unwrap();
        all.calls.into_inner()
    };
    assert!(counted > 30, "{counted}");
    let mut failed = 0;
    for how in [How::Before, How::After, How::Half, How::Death] {
        for which in 0..counted {
            let house = House::new();
            prepare(&house);
            let draft = draft_of(&house);
            let sums_of_old = old.map(|old| fs::read(house.out().join(old).join("SHA256SUMS")).unwrap());
            let outcome = house.run_through(&Failing::new(which, how), &draft, options);
            let place =
                format!("call {which} of {counted}, {how:?}: {:?}", outcome.as_ref().err().map(ToString::to_string));
            failed += usize::from(outcome.is_err());
            if let Err(fault) = &outcome {
                assert_eq!(fault.exit_code(), 3, "{place}");
                assert!(fault.to_string().contains("injected"), "{place}");
            }
            // Whatever a reader sees by its name is whole, and `latest` names a whole one wherever there was one.
            if house.out().exists() {
                for name in house.names().iter().filter(|name| !name.starts_with('.')) {
                    if name != "latest" || old.is_some() || outcome.is_ok() {
                        check(&house.out().join(name), None, None)
                            .unwrap_or_else(|faults| panic!("{place}: {name}: {}", faults[0]));
                    }
                }
                assert!(old.is_none() || house.out().join("latest").exists(), "{place}");
            }
            if let (Some(old), false) = (old, options.replace) {
                assert_eq!(fs::read(house.out().join(old).join("SHA256SUMS")).ok(), sums_of_old, "{place}");
            }
            // A run that could clean up did, but for what `latest` still needs.
            if how == How::Before && house.out().exists() {
                let needed = fs::read_link(house.out().join("latest")).unwrap_or_default();
                let hidden: Vec<_> = house
                    .names()
                    .into_iter()
                    .filter(|name| name.starts_with('.') && Path::new(name) != needed)
                    .collect();
                assert!(hidden.is_empty() || outcome.is_ok(), "{place}: {hidden:?}");
            }
            // The same run on a sound disk puts everything right.
            house.run_through(&Real, &draft, options).unwrap_or_else(|fault| panic!("{place}, then {fault}"));
            check(&house.out().join("latest"), None, None).unwrap();
            assert_eq!(house.latest(), directory_name(draft.facts.as_of).unwrap(), "{place}");
            let names = house.names();
            assert!(names.iter().all(|name| !name.starts_with('.')), "{place}: {names:?}");
            for name in &names {
                check(&house.out().join(name), None, None).unwrap();
            }
        }
    }
    assert!(failed > 3 * counted);
}

#[test]
fn every_call_of_a_first_publication_fails_in_turn() {
    each_call_fails_in_turn(|_| {}, |house| house.draft(T, &reports(T)), PLAIN, None);
}

#[test]
fn every_call_of_the_next_night_fails_in_turn() {
    let prepare = |house: &House| drop(house.run(T, &reports(T), PLAIN).unwrap());
    each_call_fails_in_turn(prepare, |house| house.draft(NEXT, &reports(NEXT)), PLAIN, Some("2026-11-30T00-00-00Z"));
}

#[test]
fn every_call_of_a_replacement_fails_in_turn() {
    let prepare = |house: &House| drop(house.run(T, &reports(T), PLAIN).unwrap());
    let other = |house: &House| {
        let mut other = reports(T);
        other[1]["quality"]["mean"] = 0.75.into();
        house.draft(T, &other)
    };
    each_call_fails_in_turn(prepare, other, REPLACE, Some("2026-11-30T00-00-00Z"));
}
