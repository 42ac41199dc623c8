//! `plimsoll new`: creates a script whose first run succeeds.

mod plimsoll;
#[cfg(target_os = "linux")]
#[path = "terminal/screen.rs"]
mod screen;

use std::fs;

use plimsoll::plimsoll;
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};
use plimsoll_testkit::ports;

/// Creates a script from a template, and runs it unchanged.
fn run_new(template: &str) {
    let server = LoggedServer::start(Behavior::Prompt).unwrap();
    let url = server.http_url();
    let folder = tempfile::tempdir().unwrap();
    let made = plimsoll(&["new", "--template", template, &url, "mine.js"])
        .inside(folder.path())
        .run();
    assert_eq!(made.status, Some(0), "{made:?}");
    assert!(made.stderr.contains("plimsoll run mine.js"), "{made:?}");
    assert!(made.stderr.contains(&url), "{made:?}");
    let ended = plimsoll(&["run", "mine.js"]).inside(folder.path()).run();
    assert_eq!(ended.status, Some(0), "{template}: {ended:?}");
    assert!(server.settled_log().entries.len() > 20);
}

#[test]
fn the_first_run_succeeds() {
    run_new("minimal");
}

#[test]
fn the_first_run_of_the_longer_template_succeeds() {
    run_new("protocol");
}

#[test]
fn a_silent_service_gets_one_request() {
    let nowhere = ports::closed();
    let folder = tempfile::tempdir().unwrap();
    let made = plimsoll(&["new", &nowhere.to_string(), "mine.js"])
        .inside(folder.path())
        .run();
    assert_eq!(made.status, Some(0), "{made:?}");
    let ended = plimsoll(&["run", "--quiet", "mine.js"])
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(108), "{ended:?}");
    for part in ["no response from", "plimsoll serve payload"] {
        assert!(ended.stderr.contains(part), "{ended:?}");
    }
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.js");
    fs::write(&file, "mine").unwrap();
    let refused = plimsoll(&["new", "http://h/", "mine.js"])
        .inside(folder.path())
        .run();
    assert_eq!(refused.status, Some(255), "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn an_unusable_url_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for wrong in ["ftp://h/", "http://h:port/"] {
        let refused = plimsoll(&["new", wrong]).inside(folder.path()).run();
        assert_eq!(refused.status, Some(104), "{refused:?}");
        assert!(!folder.path().join("script.js").exists());
    }
}

/// Without an argument, the program prompts for the URL.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_prompts_for_the_url() {
    use screen::{Session, Streams};
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.js");
    let path = file.to_str().unwrap();
    for (reply, target) in [
        ("http://127.0.0.1:9/there\n", "http://127.0.0.1:9/there"),
        ("\n", "http://127.0.0.1:10080/"),
    ] {
        let arguments = ["new", "--force", path];
        let mut session = Session::start(&arguments, 200, 20, Streams::All);
        session.wait_for("URL to load [http://127.0.0.1:10080/]:");
        session.enter(reply);
        session.wait_for("New script created");
        assert_eq!(session.finish(), Some(0));
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(&format!("'{target}'")), "{text}");
    }
}

/// The program of the reference systems is a second file, which may be missing.
#[test]
fn the_error_about_missing_reference_systems_explains_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("plimsoll");
    fs::copy(env!("CARGO_BIN_EXE_plimsoll"), &alone).unwrap();
    let ended = plimsoll_testkit::program::Program::at(&alone)
        .args(["serve", "payload"])
        .env("PATH", folder.path())
        .run();
    assert_eq!(ended.status, Some(255), "{ended:?}");
    for part in ["plimsoll-serve", "release archive", "cargo build"] {
        assert!(ended.stderr.contains(part), "{ended:?}");
    }
}
