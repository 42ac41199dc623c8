//! Packages from npm in locked versions, for tests that use JavaScript programs.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Installs the packages of these two files into `directory`, unless they are already there.
///
/// # Panics
/// If they cannot be installed.
pub fn install(directory: &Path, package_json: &str, package_lock_json: &str) {
    let stamp = directory.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == package_lock_json) {
        return;
    }
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("package.json"), package_json).unwrap();
    fs::write(directory.join("package-lock.json"), package_lock_json).unwrap();
    let status = Command::new("npm")
        .args(["ci", "--omit=optional", "--ignore-scripts", "--no-audit"])
        .args(["--no-fund", "--prefer-offline", "--loglevel=error"])
        .current_dir(directory)
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "this test needs Node.js with npm, and access to npm's registry or a mirror"
    );
    fs::write(stamp, package_lock_json).unwrap();
}
