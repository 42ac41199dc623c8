//! Opens the pages in a real browser: Debian's Chromium, driven by `browser/check.mjs`.
//! Screenshots of faulty pages are kept in `target/screenshots`; with `ALL_SCREENSHOTS=1`, those of all pages.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_testkit::chromium::chromium;
use plimsoll_testkit::npm;
use support::fixture;

const PACKAGE: &str = include_str!("browser/package.json");
const LOCK: &str = include_str!("browser/package-lock.json");
const CHECK: &str = include_str!("browser/check.mjs");

fn below_target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn run(command: &mut Command, hint: &str) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot run {command:?}: {error}; {hint}"));
    assert!(
        output.status.success(),
        "{command:?} failed; {hint}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A folder with the script and its one package, in the locked version. Created once, so that later
/// runs need no registry.
fn driver() -> PathBuf {
    let directory = below_target("pages-browser");
    npm::install(&directory, PACKAGE, LOCK);
    fs::write(directory.join("check.mjs"), CHECK).expect("a file below target");
    directory
}

#[test]
fn pages_work_in_a_browser() {
    let chromium = chromium();
    let pages = below_target("pages-in-browser");
    let _ = fs::remove_dir_all(&pages);
    for (name, result) in fixture::all() {
        let directory = pages.join(name);
        fs::create_dir_all(&directory).expect("a directory below target");
        fs::write(
            directory.join("report.html"),
            plimsoll_report::html(&result),
        )
        .expect("a file below target");
    }
    for (name, page) in support::runs::pages() {
        let directory = pages.join(name);
        fs::create_dir_all(&directory).expect("a directory below target");
        fs::write(directory.join("report.html"), page).expect("a file below target");
    }
    // The published lab reports, too.
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reports");
    for entry in fs::read_dir(&published).expect("published reports") {
        let page = entry.expect("an entry").path().join("report.html");
        if !page.exists() {
            continue;
        }
        let name = page.parent().and_then(Path::file_name).expect("a name");
        let directory = pages.join(format!("published-{}", name.to_string_lossy()));
        fs::create_dir_all(&directory).expect("a directory below target");
        fs::copy(&page, directory.join("report.html")).expect("a copy below target");
    }
    let screenshots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../screenshots");
    let directory = driver();
    run(
        Command::new("node")
            .arg("check.mjs")
            .arg(&pages)
            .arg(&screenshots)
            .env("CHROMIUM", chromium)
            .current_dir(&directory),
        "see above for what is wrong with which page",
    );
}
