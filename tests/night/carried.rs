//! A night that builds on what earlier ones left gives what a night from nothing gives, whatever came between.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::command::{AS_OF, Place, assert_success, chained, files};

/// A fixture whose ledger and identities are one plain file each.
struct Nights {
    place: Place,
    ledger: Vec<String>,
    identities: String,
}

/// What the stages left, without what tells one warehouse from another.
type Left = Vec<(PathBuf, Vec<u8>)>;

impl Nights {
    fn of(fixture: &str) -> Nights {
        let place = Place::new(fixture);
        let text = |name: &str| fs::read_to_string(place.path("export").join(name)).unwrap();
        let ledger = text("ledger.jsonl").split_inclusive('\n').map(str::to_owned).collect();
        let identities = text("identities.jsonl");
        Nights { ledger, identities, place }
    }

    /// Loads the first entries, audits and reports them. Returns what the log says was done anew, `audit` or `report`.
    fn night(&self, warehouse: &str, entries: usize, as_of: &str, more: &[&str]) -> Vec<String> {
        let shown = self.ledger.get(..entries).unwrap_or(&self.ledger).concat();
        fs::write(self.place.path("export/ledger.jsonl"), shown).unwrap();
        assert_success(&self.place.load(warehouse, &[]));
        let mut said = Vec::new();
        for stage in ["audit", "report"] {
            let ran = self.place.bureau(&[&[stage, "--warehouse", warehouse, "--as-of", as_of][..], more].concat());
            let log = String::from_utf8(ran.stderr).unwrap();
            assert!(log.contains(&format!("INFO {stage}: ")) && ran.status.code() < Some(2), "{log}");
            said.extend(log.lines().filter(|line| line.contains(" anew")).map(|line| {
                let (_, told) = line.split_once("INFO ").unwrap();
                told.to_owned()
            }));
        }
        said
    }

    /// Audits and reports what a warehouse holds, and leaves all entries in one file for a night from nothing.
    fn night_of_files(&self, warehouse: &str) {
        fs::remove_dir_all(self.place.path("export/ledger")).unwrap();
        fs::write(self.place.path("export/ledger.jsonl"), self.ledger.concat()).unwrap();
        assert_success(&self.place.load(warehouse, &[]));
        for stage in ["audit", "report"] {
            assert_success(&self.place.bureau(&[stage, "--warehouse", warehouse, "--as-of", AS_OF]));
        }
    }

    fn left(&self, warehouse: &str) -> Left {
        let of_figures = |path: &PathBuf| {
            path.starts_with("documents") && !path.ends_with("run.json")
                || path.ends_with("findings.jsonl") && path.components().count() == 1
                || path.ends_with("withheld.parquet")
        };
        files(&self.place.path(warehouse)).into_iter().filter(|(path, _)| of_figures(path)).collect()
    }

    /// That the warehouse holds what a night from nothing gives.
    fn is_as_from_nothing(&self, warehouse: &str, as_of: &str, about: &str) {
        let _ = fs::remove_dir_all(self.place.path("nothing"));
        self.night("nothing", usize::MAX, as_of, &["--full"]);
        let (carried, nothing) = (self.left(warehouse), self.left("nothing"));
        assert!(nothing.len() > 8, "{}", nothing.len());
        for ((path, ours), (other, theirs)) in carried.iter().zip(&nothing) {
            assert!(path == other && ours == theirs, "{about}: {} differs", path.display());
        }
        assert_eq!(carried.len(), nothing.len());
    }

    /// Changes lines of the identities: one operator joined with another, one handle gone, one unbound.
    fn meddle(&self, from: usize) {
        let mut lines: Vec<Value> = self.identities.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let operator = lines[from]["anchor"].clone();
        lines[from + 3]["operator"] = operator;
        lines[from + 5]["unbound_at"] = json!("2026-11-20T00:00:00Z");
        lines.remove(from + 7);
        let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.place.path("export/identities.jsonl"), text.concat()).unwrap();
    }

    fn mend(&self) {
        fs::write(self.place.path("export/identities.jsonl"), &self.identities).unwrap();
    }
}

const FIRST: &str = "anew: there is no earlier";

#[test]
fn any_entries_may_come_between_two_nights() {
    for (fixture, nights) in [
        ("small", [(5144, "2026-11-29T00:00:00Z"), (5144, AS_OF)]),
        ("small", [(1700, "2026-06-01T00:00:00Z"), (5090, "2026-11-28T00:00:00Z")]),
        ("attacks", [(3868, "2026-09-15T12:00:00Z"), (3868, "2026-11-28T00:00:00Z")]),
        ("attacks", [(900, AS_OF), (3840, AS_OF)]),
        ("attacks", [(3000, "2026-11-29T00:00:00Z"), (3700, "2026-11-30T00:00:00Z")]),
    ] {
        let world = Nights::of(fixture);
        for (nth, (entries, as_of)) in nights.into_iter().chain([(usize::MAX, AS_OF)]).enumerate() {
            let said = world.night("w", entries, as_of, &[]);
            let first = said.iter().filter(|line| line.contains(FIRST)).count();
            assert_eq!(first, if nth == 0 { 2 } else { 0 }, "{said:?}");
        }
        world.is_as_from_nothing("w", AS_OF, &format!("{fixture} {nights:?}"));
    }
}

#[test]
fn relations_may_change_between_two_nights() {
    for (fixture, from) in [("small", 20), ("attacks", 40), ("attacks", 80)] {
        let world = Nights::of(fixture);
        world.meddle(from);
        world.night("w", 3000, "2026-11-01T00:00:00Z", &[]);
        world.mend();
        world.night("w", usize::MAX, "2026-11-29T00:00:00Z", &[]);
        world.meddle(from + 2);
        world.night("w", usize::MAX, AS_OF, &[]);
        world.is_as_from_nothing("w", AS_OF, &format!("{fixture} {from}"));
    }
}

#[test]
fn a_correction_may_reach_back_over_any_number_of_nights() {
    let mut world = Nights::of("small");
    let lines: Vec<String> = world.ledger.iter().take(5102).map(|line| line.trim_end().to_owned()).collect();
    let entries: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let nth = |action: &str, n: usize| entries.iter().filter(|entry| entry["action"] == action).nth(n).unwrap();
    let other = nth("fact", 900);
    let moved = json!({ "kind": "amend", "reason": "misattributed", "set": { "interaction_id": other["detail"]["interaction_id"] } });
    let about = json!({ "kind": "amend", "reason": "misattributed", "set": { "subject": other["subject"] } });
    let void = json!({ "kind": "void", "reason": "failed_dedup" });
    let mut longer = lines.clone();
    for (target, detail) in [
        (nth("fact", 40), &moved),
        (nth("fact", 50), &about),
        (nth("fact", 60), &void),
        (nth("attested", 30), &about),
        (nth("attested", 40), &void),
        (nth("attested", 50), &moved),
        (nth("probed", 3), &moved),
        (nth("probed", 4), &void),
        (nth("excluded", 5), &void),
        (nth("stopped", 5), &void),
    ] {
        let mut members = detail.clone();
        members["target_seq"] = target["seq"].clone();
        longer.push(
            json!({
                "seq": longer.len() + 1, "at": "2026-11-29T23:59:59Z", "action": "corrected", "subject": target["subject"],
                "capability": target["capability"], "detail": members, "prev_hash": "", "entry_hash": "",
            })
            .to_string(),
        );
    }
    world.ledger = chained(&longer, lines.len()).into_iter().map(|line| line + "\n").collect();
    world.night("w", lines.len(), "2026-11-29T00:00:00Z", &[]);
    // One night at once, and one a correction.
    for entries in lines.len() + 1..=world.ledger.len() {
        world.night("w", entries, AS_OF, &[]);
    }
    world.is_as_from_nothing("w", AS_OF, "one by one");
    world.night("v", lines.len(), "2026-11-29T00:00:00Z", &[]);
    let said = world.night("v", usize::MAX, AS_OF, &[]);
    assert!(said.is_empty(), "{said:?}");
    world.is_as_from_nothing("v", AS_OF, "all at once");
}

#[test]
fn what_is_lost_stale_or_of_another_version_is_said_and_not_built_on() {
    let world = Nights::of("small");
    let night = |more: &[&str]| world.night("w", usize::MAX, AS_OF, more);
    night(&[]);
    assert_eq!(night(&[]), Vec::<String>::new());
    let path = |name: &str| world.place.path("w").join(name);
    let edit = |name: &str, is: &str, becomes: &str| {
        let text = fs::read_to_string(path(name)).unwrap();
        assert!(text.contains(is), "{name}: {is}");
        fs::write(path(name), text.replacen(is, becomes, 1)).unwrap();
    };
    let basis = "derived/before/basis.json";
    let report = |spoil: &dyn Fn(), told: &str| {
        spoil();
        let said = night(&[]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("report: every interaction anew") && said[0].contains(told), "{said:?}");
        assert_eq!(night(&[]), Vec::<String>::new(), "{told}");
    };
    report(&|| fs::remove_file(path(basis)).unwrap(), "no earlier report");
    report(&|| edit(basis, "\"program\": \"", "\"program\": \"0."), "another version");
    report(&|| edit(basis, "\"entry_hash\": \"", "\"entry_hash\": \"A"), "another ledger");
    report(&|| fs::write(path(basis), "{").unwrap(), "cannot be read");
    report(&|| fs::remove_dir_all(path("derived/event")).unwrap(), "No such file");
    report(&|| fs::remove_file(path("derived/interaction/000000-000-0.parquet")).unwrap(), "not all there");
    report(&|| fs::remove_file(path("derived/before/correction.parquet")).unwrap(), "not all there");
    report(&|| fs::write(path("derived/event/000000-000-0.parquet"), "PAR1").unwrap(), "not all there");
    world.is_as_from_nothing("w", AS_OF, "after all that");

    let audit = |spoil: &dyn Fn()| {
        spoil();
        let said = night(&[]);
        assert_eq!(said, ["audit: every entry anew: the earlier audit is not whole"]);
        assert_eq!(night(&[]), Vec::<String>::new());
    };
    audit(&|| fs::write(path("last-audit/findings.jsonl"), "").unwrap());
    audit(&|| fs::remove_file(path("last-audit/tables/correction_span.parquet")).unwrap());
    audit(&|| edit("last-audit/identities.jsonl", "\"bound_at\"", "\"bound_at \""));
    // An audit that breaks off leaves none to report on, and so does a load.
    fs::write(path("last-audit.new"), "").unwrap();
    let broken = world.place.bureau(&["audit", "--warehouse", "w", "--as-of", "2026-11-01T00:00:00Z"]);
    assert_eq!(broken.status.code(), Some(3));
    let report = || world.place.bureau(&["report", "--warehouse", "w", "--as-of", AS_OF]).status.code();
    assert_eq!(report(), Some(1));
    fs::remove_file(path("last-audit.new")).unwrap();
    night(&[]);
    assert_eq!(report(), Some(0));
    fs::remove_file(path("state.json")).unwrap();
    assert_success(&world.place.load("w", &[]));
    assert_eq!(report(), Some(1));
    night(&[]);
    world.is_as_from_nothing("w", AS_OF, "after that too");

    // Another policy is another rule book, for both.
    let policy = world.place.path("export/policy.toml");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace("half_life_days = 60", "half_life_days = 61")).unwrap();
    let said = night(&[]);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().all(|line| line.contains("policy")), "{said:?}");
    // So does an earlier instant.
    let said = world.night("w", usize::MAX, "2026-11-01T00:00:00Z", &[]);
    assert!(said.iter().any(|line| line.contains("later instant")), "{said:?}");
    world.is_as_from_nothing("w", "2026-11-01T00:00:00Z", "an earlier instant");
}

/// The first entries as the files of `ledger/`, so many in each.
fn in_files(world: &Nights, entries: usize, each: usize) {
    let folder = world.place.path("export/ledger");
    let _ = fs::remove_file(world.place.path("export/ledger.jsonl"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    for (nth, lines) in world.ledger[..entries].chunks(each).enumerate() {
        fs::write(folder.join(format!("{nth:04}.jsonl")), lines.concat()).unwrap();
    }
}

#[test]
fn files_that_were_read_are_known_by_their_bytes() {
    let world = Nights::of("small");
    let load = |more: &[&str]| {
        let ran = world.place.load("w", more);
        let log = String::from_utf8(ran.stderr).unwrap();
        let known = log.split(", ").find_map(|part| part.strip_suffix(" files known")).map(|n| n.parse().unwrap());
        (ran.status.code(), known.unwrap_or(0), log)
    };
    let state = || -> Value { serde_json::from_slice(&fs::read(world.place.path("w/state.json")).unwrap()).unwrap() };
    in_files(&world, 3000, 500);
    assert_eq!(load(&[]).1, 0);
    // The last file grew, and others came.
    in_files(&world, 3200, 500);
    assert_eq!(load(&[]).1, 6);
    in_files(&world, 5000, 500);
    assert_eq!(load(&[]).1, 6);
    assert_eq!((state()["head"]["seq"].as_i64(), state()["loads"].as_array().unwrap().len()), (Some(5000), 3));
    // Nothing new: no part more, and other inputs are kept all the same.
    assert_eq!(load(&[]).1, 10);
    assert_eq!((state()["loads"].as_array().unwrap().len(), state()["number"].as_u64()), (3, Some(4)));
    fs::write(world.place.path("export/ledger/0010.jsonl"), "").unwrap();
    assert_eq!(load(&[]).1, 10);
    assert_eq!(load(&["--full"]).1, 0);
    assert_eq!((state()["loads"].as_array().unwrap().len(), state()["head"]["seq"].as_i64()), (1, Some(5000)));

    // What a load from nothing refuses is refused, whatever is known.
    let refused = |about: &str, told: &str| {
        let before = state();
        let (code, _, log) = load(&[]);
        assert!(code == Some(1) && log.contains(told), "{about}: {log}");
        assert_eq!(state(), before, "{about}");
        in_files(&world, 5000, 500);
        assert_eq!((load(&[]).0, state()["head"]["seq"].as_i64()), (Some(0), Some(5000)), "{about}");
    };
    let file = |nth: usize| world.place.path(&format!("export/ledger/{nth:04}.jsonl"));
    in_files(&world, 4500, 500);
    refused("a file less at the end", "rewritten");
    in_files(&world, 5000, 500);
    fs::remove_file(file(7)).unwrap();
    refused("a file less in the middle", "seq");
    in_files(&world, 5000, 500);
    fs::copy(file(3), file(4)).unwrap();
    refused("a file twice", "seq");
    in_files(&world, 5000, 500);
    let text = fs::read_to_string(file(2)).unwrap();
    fs::write(file(2), text.replacen("\"seq\": 1200", "\"seq\": 1201", 1).replacen("\"seq\":1200", "\"seq\":1201", 1))
        .unwrap();
    refused("a changed byte in an old file", "0002.jsonl");
    in_files(&world, 5000, 500);
    let (first, second) = (fs::read(file(0)).unwrap(), fs::read(file(1)).unwrap());
    fs::write(file(0), second).unwrap();
    fs::write(file(1), first).unwrap();
    refused("the first two in turn", "seq");
    in_files(&world, 5000, 500);
    fs::rename(file(0), world.place.path("export/ledger/0000.jsonl.gz")).unwrap();
    refused("the same bytes under a name that says they are compressed", "0000.jsonl.gz");
    // An export that repeats a file and goes on says nothing of a whole one that has the file twice.
    in_files(&world, 5000, 500);
    (0..9).for_each(|nth| fs::remove_file(file(nth)).unwrap());
    fs::write(file(10), world.ledger[5000..5100].concat()).unwrap();
    assert_eq!((load(&[]).0, state()["head"]["seq"].as_i64()), (Some(0), Some(5100)));
    in_files(&world, 5100, 500);
    fs::copy(file(9), world.place.path("export/ledger/0009b.jsonl")).unwrap();
    let (code, _, log) = load(&[]);
    assert!(code == Some(1) && log.contains("0009b.jsonl"), "{log}");
    // Files without an entry before the first are no ledger yet.
    in_files(&world, 5100, 500);
    fs::write(world.place.path("export/ledger/0.jsonl"), "").unwrap();
    assert_eq!((load(&["--full"]).0, load(&[]).1), (Some(0), 12));
    let more = world.ledger[..501].concat();
    fs::write(file(0), more).unwrap();
    fs::write(file(1), world.ledger[501..1000].concat()).unwrap();
    assert_eq!((load(&[]).0, state()["head"]["seq"].as_i64()), (Some(0), Some(5100)));
    in_files(&world, 5000, 500);
    assert_eq!(load(&["--new-ledger"]).0, Some(0));

    // The same figures as from nothing.
    world.night_of_files("w");
    world.is_as_from_nothing("w", AS_OF, "files");
}
