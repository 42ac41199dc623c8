//! Independent readers of output files, from npm in locked versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use plimsoll_testkit::program::Program;
use serde_json::Value;

const PACKAGE: &str = include_str!("package.json");
const LOCK: &str = include_str!("package-lock.json");
const SCRIPT: &str = include_str!("read.mjs");

/// The contents of a file, as its reader sees them.
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
        let stamp = directory.join("installed");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("read.mjs"), SCRIPT).unwrap();
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == LOCK) {
            return directory;
        }
        fs::write(directory.join("package.json"), PACKAGE).unwrap();
        fs::write(directory.join("package-lock.json"), LOCK).unwrap();
        let status = Command::new("npm")
            .args(["ci", "--omit=optional", "--ignore-scripts", "--no-audit"])
            .args(["--no-fund", "--prefer-offline", "--loglevel=error"])
            .current_dir(&directory)
            .status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "this test needs Node.js with npm, and npm's registry or a copy of it"
        );
        fs::write(stamp, LOCK).unwrap();
        directory
    })
}
