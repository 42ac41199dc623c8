//! Files of other projects that a test fetches when it runs. The repository contains none of them.

#![allow(dead_code)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Reports that a test did not run, visibly even if the test's output is captured.
pub fn skip(what: &str, reason: &str) {
    let stars = "*".repeat(72);
    let text = format!("\n{stars}\n*** SKIPPED: {what}\n*** {reason}\n{stars}\n");
    // The message is the only effect, so an error cannot be handled.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The folder of a Go module, which the `go` command fetches.
///
/// # Errors
/// Why the module is not available.
pub fn go_module(name: &str) -> Result<PathBuf, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let output = Command::new("go")
        .args(["mod", "download", "-json", name])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| format!("Go is not installed ({error})"))?;
    let found: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("Go cannot fetch {name} here"))?;
    match found["Dir"].as_str() {
        Some(folder) => Ok(folder.into()),
        None => Err(format!("Go cannot fetch {name}: {}", found["Error"])),
    }
}

/// Fetches a file with curl.
///
/// # Errors
/// Why the download failed.
pub fn web_file(address: &str, target: &Path) -> Result<(), String> {
    let status = Command::new("curl")
        .args(["-fsSL", "--connect-timeout", "5", "--max-time", "120", "-o"])
        .arg(target)
        .arg(address)
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("curl is not installed ({error})"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("this machine cannot fetch {address}")),
    }
}

/// All files below a folder with this extension, by their relative paths, sorted.
pub fn files_below(folder: &Path, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(inner) = path.strip_prefix(folder)
                && let Some(inner) = inner.to_str().filter(|inner| inner.ends_with(ending))
            {
                found.push(inner.to_owned());
            }
        }
    }
    found.sort();
    found
}
