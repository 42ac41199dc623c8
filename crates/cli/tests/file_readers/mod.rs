//! Independent readers of output files: npm packages in locked versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use plimsoll_testkit::npm;
use plimsoll_testkit::program::Program;
use serde_json::Value;

const PACKAGE: &str = include_str!("package.json");
const LOCK: &str = include_str!("package-lock.json");
const SCRIPT: &str = include_str!("read.mjs");

/// The contents of a file, as read by its reader.
#[track_caller]
pub fn read(file: &Path) -> Value {
    let ended = Program::at("node")
        .arg(installed().join("read.mjs"))
        .arg(file)
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// The directory with the packages, installed once below `target`.
fn installed() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("file-readers");
        npm::install(&directory, PACKAGE, LOCK);
        fs::write(directory.join("read.mjs"), SCRIPT).unwrap();
        directory
    })
}
