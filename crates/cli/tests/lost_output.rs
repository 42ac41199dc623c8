//! A failure to write output is reported, and does not lose measurements.

mod plimsoll;

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use plimsoll::plimsoll;
use plimsoll_testkit::program::Ended;

/// A file on which every write fails, as on a full disk.
const FULL: &str = "/dev/full";
/// Runs of this test are short, because nothing is measured.
const CLOSED: &str = "http://127.0.0.1:1/";

fn folder_with_script(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("script.js"), script).unwrap();
    folder
}

fn run(folder: &Path, flags: &[&str]) -> Ended {
    let arguments = [&["run", "--quiet", "-i", "2", "script.js"], flags].concat();
    plimsoll(&arguments).inside(folder).run()
}

/// The exit status and stderr of the program if stdout is on a full disk.
fn with_full_stdout(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::from(File::options().write(true).open(FULL).unwrap()))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stderr)
}

const NOTHING: &str = "export default function () {}\n";

#[test]
fn results_that_stdout_rejects_go_to_stderr() {
    let folder = folder_with_script(NOTHING);
    for (arguments, figure) in [
        (&["http", "-n", "3", CLOSED][..], "3 failed"),
        (&["http", "-n", "3", "--json", CLOSED], "\"requests\": 3"),
        (&["run", "-i", "2", "script.js"], "iterations...........: 2"),
        (&["inspect", "script.js"], "{"),
        (&["version"], "plimsoll v"),
    ] {
        let (status, stderr) = with_full_stdout(folder.path(), arguments);
        assert!(
            status.is_some_and(|status| status != 0),
            "{arguments:?}: {stderr}"
        );
        assert!(
            stderr.contains("cannot write to stdout: No space left"),
            "{stderr}"
        );
        assert!(stderr.contains(figure), "{arguments:?}: {stderr}");
    }
    let (status, _) = with_full_stdout(folder.path(), &["http", "--help"]);
    assert_eq!(status, Some(255));
}

#[test]
fn results_of_an_attack_on_a_full_disk_fail_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), format!("GET {CLOSED}\n")).unwrap();
    let attack = ["attack", "-targets=t", "-rate=50", "-duration=100ms"];
    let (status, stderr) = with_full_stdout(folder.path(), &attack);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(
        stderr.contains("cannot write results to stdout"),
        "{stderr}"
    );
    assert!(stderr.contains("5 failed"), "the result is shown: {stderr}");
    let ended = plimsoll(&[&attack[..], &["-output=/dev/full"]].concat())
        .inside(folder.path())
        .run();
    assert!(
        ended.stderr.contains("cannot write results to /dev/full"),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("5 failed"), "{ended:?}");
    assert_ne!(ended.status, Some(0));
    assert_ne!(ended.status, Some(104), "no flag is wrong");
}

#[test]
fn results_that_stdout_rejects_count_as_lost_output() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), format!("GET {CLOSED}\n")).unwrap();
    let attack = [
        "attack",
        "-targets=t",
        "-rate=50",
        "-duration=100ms",
        "-output=r",
    ];
    plimsoll(&attack).inside(folder.path()).run();
    for command in [
        &["report"][..],
        &["encode"],
        &["encode", "-to=plimsoll"],
        &["plot"],
    ] {
        let arguments = [&["vegeta"], command, &["r"]].concat();
        let (status, stderr) = with_full_stdout(folder.path(), &arguments);
        assert_eq!(status, Some(255), "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("cannot write to stdout: No space left"),
            "{arguments:?}: {stderr}"
        );
    }
    let (status, _) = with_full_stdout(folder.path(), &["vegeta", "report", "missing"]);
    assert_eq!(
        status,
        Some(104),
        "invalid arguments still have their own status"
    );
}

#[test]
fn samples_on_a_full_disk_fail_the_run_and_leave_the_summary() {
    let folder = folder_with_script(NOTHING);
    for out in ["json=/dev/full", "csv=/dev/full"] {
        let ended = run(folder.path(), &["--out", out]);
        assert_eq!(ended.status, Some(255), "{out}: {ended:?}");
        assert!(
            ended.stderr.contains("No space left"),
            "{out}: {}",
            ended.stderr
        );
        let is_summary = ended.stdout.contains("iterations...........: 2");
        // CSV starts with a header, so a write error is detected before the run.
        assert!(is_summary || out.starts_with("csv"), "{}", ended.stdout);
    }
}

#[test]
fn an_unwritable_summary_export_is_reported_before_the_run() {
    let folder = folder_with_script("export default function () { console.log('ran'); }\n");
    for place in ["nowhere/end.json", "."] {
        let ended = run(folder.path(), &["--summary-export", place]);
        assert_eq!(ended.status, Some(104), "{ended:?}");
        assert!(
            ended.stderr.contains("--summary-export"),
            "{}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("ran"), "{}", ended.stderr);
    }
    let ended = run(folder.path(), &["--summary-export", FULL]);
    assert_eq!(ended.status, Some(255), "{ended:?}");
    assert!(
        ended.stderr.contains("\"iterations\""),
        "the summary is not lost: {}",
        ended.stderr
    );
    let ended = run(folder.path(), &["--summary-export", "end.json"]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let export = fs::read_to_string(folder.path().join("end.json")).unwrap();
    assert!(export.contains("\"iterations\""), "{export}");
}

#[test]
fn a_write_error_of_handle_summary_fails_the_run_but_not_the_summary() {
    let folder = folder_with_script(
        "export default function () {}\n\
         export function handleSummary() { return { 'nowhere/a.json': '{}' }; }\n",
    );
    let ended = run(folder.path(), &[]);
    assert_eq!(ended.status, Some(255), "{ended:?}");
    assert!(
        ended.stderr.contains("cannot write nowhere/a.json"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("iterations...........: 2"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_record_and_log_lines_on_a_full_disk_fail_the_run() {
    let folder = folder_with_script("export default function () { console.log('ran'); }\n");
    let ended = run(folder.path(), &["--record", FULL]);
    assert!(ended.stderr.contains("--record /dev/full"), "{ended:?}");
    assert_ne!(ended.status, Some(0));
    for flags in [
        ["--log-output", "file=/dev/full"],
        ["--console-output", FULL],
    ] {
        let ended = run(folder.path(), &flags);
        assert_eq!(ended.status, Some(255), "{flags:?}: {ended:?}");
        assert!(
            ended.stderr.contains("cannot write log lines"),
            "{}",
            ended.stderr
        );
        assert!(
            ended.stdout.contains("iterations...........: 2"),
            "{}",
            ended.stdout
        );
    }
}

#[test]
fn a_closed_stdout_is_not_a_failure() {
    let folder = folder_with_script(NOTHING);
    for arguments in [
        &["run", "-i", "2", "--out", "json=-", "script.js"][..],
        &["run", "-i", "2", "script.js"],
    ] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .args(arguments)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {ended:?}");
        assert!(
            !String::from_utf8_lossy(&ended.stderr).contains("error"),
            "{ended:?}"
        );
    }
}

#[test]
fn files_that_commands_write_fail_them_on_a_full_disk() {
    let folder = folder_with_script(NOTHING);
    for arguments in [
        &["archive", "-O", FULL, "script.js"][..],
        &["new", "--force", FULL],
    ] {
        let ended = plimsoll(arguments).inside(folder.path()).run();
        assert_eq!(ended.status, Some(255), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains("No space left"), "{ended:?}");
    }
}
