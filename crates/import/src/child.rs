//! Runs a script with this program, as its user will.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The checks of a run.
#[derive(Debug, Default)]
pub struct Checks {
    pub passed: u64,
    /// Names of those that failed.
    pub failed: Vec<String>,
    /// The first lines that the run wrote to stderr.
    pub messages: Vec<String>,
}

/// Maximum number of stderr lines to show.
const MOST_LINES: usize = 10;

fn plimsoll() -> Result<Command, String> {
    let program = std::env::current_exe();
    let program =
        program.map_err(|error| format!("cannot find this program to run the script: {error}"))?;
    let mut command = Command::new(program);
    command.args(["run", "--quiet", "--no-color", "-e", "THINK_TIME=0"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Ok(command)
}

/// A directory for files of this process, which is removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// Creates it.
    pub fn new() -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("plimsoll-new-{}", std::process::id()));
        // It fails if the directory exists, so that it belongs to this process.
        let made = std::fs::create_dir(&path);
        made.map_err(|error| format!("cannot create {}: {error}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed, the system's cleanup of temporary files removes it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a script once, and reads its checks.
pub fn smoke(file: &Path) -> Result<Checks, String> {
    let folder = Scratch::new()?;
    let summary = folder.0.join("summary.json");
    let mut command = plimsoll()?;
    command
        .args(["-u", "1", "-i", "1", "--summary-export"])
        .arg(&summary)
        .arg(file);
    let ended = command
        .output()
        .map_err(|error| format!("cannot run the script: {error}"))?;
    let text = std::fs::read_to_string(&summary).unwrap_or_default();
    let mut checks = Checks::default();
    if let Ok(summary) = serde_json::from_str::<Value>(&text) {
        count(&summary["root_group"], &mut checks, 0);
    }
    let lines = String::from_utf8_lossy(&ended.stderr);
    checks.messages = lines.lines().take(MOST_LINES).map(str::to_owned).collect();
    Ok(checks)
}

/// Runs a script for comparison twice, with the responses in `output`.
pub fn capture(script: &Path, output: &Path) -> Result<(), String> {
    let mut command = plimsoll()?;
    command.args([
        "-u",
        "1",
        "-i",
        "2",
        "--no-thresholds",
        "--summary-mode",
        "disabled",
    ]);
    command
        .args(["--log-format", "raw", "--console-output"])
        .arg(output)
        .arg(script);
    command.stderr(Stdio::null());
    let ended = command.status();
    // A request may fail here; the smoke run says which one.
    ended
        .map(drop)
        .map_err(|error| format!("cannot run the script: {error}"))
}

/// Adds the checks of a group and of those in it.
fn count(group: &Value, checks: &mut Checks, depth: usize) {
    for check in group["checks"]
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::values)
    {
        let number = |name: &str| check[name].as_u64().unwrap_or(0);
        checks.passed += number("passes");
        if number("fails") > 0 {
            checks
                .failed
                .push(check["name"].as_str().unwrap_or_default().to_owned());
        }
    }
    if depth < 8 {
        for inner in group["groups"]
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::values)
        {
            count(inner, checks, depth + 1);
        }
    }
}

/// Largest file that a run for comparison may write, in bytes.
const LARGEST: u64 = 256 << 20;

/// The output of a run; empty if it wrote no file.
pub fn read(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(file) {
        // An unreadable part is missing, as if the run had ended earlier.
        let _ = file.take(LARGEST).read_to_end(&mut bytes);
    }
    bytes
}
