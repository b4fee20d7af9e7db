//! What can be refused before any work is done: places that cannot be written, and what is no regular file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::command::{AS_OF, Place, assert_success, complaint};

#[track_caller]
fn one_line(output: &Output, code: i32, wanted: &str) {
    let said = complaint(output);
    assert_eq!((output.status.code(), said.lines().count()), (Some(code), 1), "{output:?}");
    assert!(said.contains(wanted), "{wanted:?} is not in {said:?}");
}

#[test]
fn an_out_that_cannot_be_written_is_told_before_the_load_and_nothing_is_left() {
    let place = Place::new("small");
    fs::write(place.path("file"), "x").unwrap();
    fs::create_dir(place.path("half")).unwrap();
    fs::write(place.path("half/snapshots"), "x").unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("dangling")).unwrap();
    let entries = || fs::read_dir(place.path(".")).unwrap().count();
    let before = entries();
    for (out, wanted) in [
        ("file", "file"),
        ("file/out", "file"),
        ("half", "half/snapshots"),
        ("dangling", "dangling"),
        ("/proc/out", "/proc/out"),
    ] {
        let output = place.night(out, &["--warehouse", "w"]);
        one_line(&output, 3, wanted);
        assert!(!String::from_utf8_lossy(&output.stderr).contains("load: begun"));
        // The warehouse in OUT, which is the default, is refused no later.
        one_line(&place.night(out, &[]), 3, wanted);
        assert_eq!(entries(), before, "{out}");
    }
    assert_eq!(fs::read_dir(place.path("half")).unwrap().count(), 1);
}

#[test]
fn a_folder_without_permission_is_told_before_the_load() {
    let place = Place::new("small");
    fs::create_dir(place.path("out")).unwrap();
    fs::set_permissions(place.path("out"), fs::Permissions::from_mode(0o555)).unwrap();
    // Nothing is without permission for root.
    if fs::write(place.path("out/probe"), "").is_ok() {
        return;
    }
    let output = place.night("out", &["--warehouse", "w"]);
    fs::set_permissions(place.path("out"), fs::Permissions::from_mode(0o755)).unwrap();
    one_line(&output, 3, "out/snapshots");
    assert!(!place.path("w").exists());
    assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 0);
}

#[test]
fn every_option_that_names_a_file_refuses_what_is_none_and_does_not_wait() {
    let place = Place::new("small");
    assert!(Command::new("mkfifo").arg(place.path("fifo")).status().unwrap().success());
    fs::create_dir(place.path("folder")).unwrap();
    fs::write(place.path("file"), "{}\n").unwrap();
    for (strange, found) in [("fifo", "a fifo"), ("folder", "a directory"), ("/dev/zero", "a device")] {
        let salt = ["load", "--export", "export", "--warehouse", "w", "--salt-file", strange];
        let publish = ["publish", "--warehouse", "w", "--out", "out", "--key"];
        let signing = [&publish[..], &[strange]].concat();
        let history = [&publish[..], &["key.pem", "--key-history", strange]].concat();
        let recompute = ["recompute", "file", "--report", "file", "--key", strange];
        for arguments in [
            &salt[..],
            &signing,
            &history,
            &["excerpt", "--warehouse", "w", "--subject", "x", "--out", "e", "--key", strange],
            &["check", "folder", "--key", strange],
            &recompute,
            &["recompute", strange, "--report", "file"],
        ] {
            let output = place.bureau(arguments);
            one_line(&output, 1, found);
            assert!(complaint(&output).contains(strange), "{arguments:?}: {}", complaint(&output));
        }
    }
    assert!(!place.path("w").exists() && !place.path("out").exists());
}

#[test]
fn an_excerpt_takes_the_place_of_no_device_and_its_folder_is_tried_first() {
    let place = Place::new("small");
    assert_success(&place.load("w", &[]));
    assert!(Command::new("mkfifo").arg(place.path("fifo")).status().unwrap().success());
    let excerpt =
        |out: &str| place.bureau(&["excerpt", "--warehouse", "w", "--subject", "x", "--out", out, "--as-of", AS_OF]);
    one_line(&excerpt("fifo"), 1, "fifo: a fifo, where a regular file should be");
    one_line(&excerpt("nowhere/e"), 3, "nowhere/e");
    // With a place to write to, what is missing is the report stage; and nothing is left there.
    one_line(&excerpt("e"), 1, "bureau report");
    let names = fs::read_dir(place.path(".")).unwrap().map(|item| item.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|name| name.starts_with('.') || name == "e").collect();
    assert!(left.is_empty(), "{left:?}");
}
