//! Runs a script with this program, in the same way as its user will.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The checks of a run.
#[derive(Debug, Default)]
pub struct Checks {
    pub passed: u64,
    /// The names of the checks that failed.
    pub failed: Vec<String>,
    /// The first lines that the run wrote to stderr.
    pub messages: Vec<String>,
}

/// Maximum number of stderr lines to show.
const MAX_LINES: usize = 10;

fn plimsoll() -> Result<Command, String> {
    let program = std::env::current_exe();
    let program =
        program.map_err(|error| format!("cannot find this program to run the script: {error}"))?;
    let mut command = Command::new(program);
    command.args(["run", "--quiet", "--no-color", "-e", "THINK_TIME=0"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Ok(command)
}

/// A temporary directory of this process. It is removed when this value is dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// Creates the directory.
    pub fn new() -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("plimsoll-new-{}", std::process::id()));
        // This fails if the directory exists, so the directory belongs to this process.
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

/// Runs a script once, and reads the results of its checks.
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
    checks.messages = lines.lines().take(MAX_LINES).map(str::to_owned).collect();
    Ok(checks)
}

/// Runs a comparison script twice. The responses are written to `output`.
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
    // A request may fail here. The smoke run reports which one.
    ended
        .map(drop)
        .map_err(|error| format!("cannot run the script: {error}"))
}

/// Adds the checks of a group and of the groups inside it.
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

/// Maximum size in bytes of the file that a comparison run writes.
const MAX_OUTPUT: u64 = 256 << 20;

/// The output of a run. Empty if it wrote no file.
pub fn read(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(file) {
        // Ignore an unreadable part, as if the run had ended earlier.
        let _ = file.take(MAX_OUTPUT).read_to_end(&mut bytes);
    }
    bytes
}
