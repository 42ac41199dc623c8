//! Runs this program as a child process, and reads the record of the run.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use plimsoll_results::record::{self, ReadError, Record};

/// The exit status of a run that a signal ended.
const INTERRUPTED: i32 = 105;

/// A folder for temporary records.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates the folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new() -> Result<Scratch, String> {
        // A private folder, because other users may write to the system's.
        let folder = std::env::temp_dir().join(format!("plimsoll-runs-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| {
            format!(
                "cannot create the directory {} for the runs' records: {error}; set TMPDIR",
                folder.display()
            )
        })?;
        Ok(Scratch(folder))
    }

    /// Runs the program with these arguments, which generate load. `name` is the run's name in
    /// error messages.
    ///
    /// # Errors
    /// If the run wrote no complete record, with its output.
    pub fn run(&self, name: &str, arguments: &[String]) -> Result<Record, String> {
        let path = self.0.join("run.jsonl");
        let program = std::env::current_exe()
            .map_err(|error| format!("cannot find this program: {error}"))?;
        // Do not read the record of an earlier run if this one writes none.
        let _ = std::fs::remove_file(&path);
        let mut child = Command::new(program)
            .args(arguments)
            .arg("--record")
            .arg(&path)
            // A page of each run would need a port of its own.
            .env_remove("K6_WEB_DASHBOARD")
            // A job of GitHub Actions gets one summary, not one for each run.
            .env_remove("GITHUB_ACTIONS")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run {name}: {error}"))?;
        let mut talk = Vec::new();
        if let Some(mut errors) = child.stderr.take() {
            // The start of its messages is enough, but the rest must be read too.
            let _ = errors.by_ref().take(1 << 16).read_to_end(&mut talk);
            let _ = std::io::copy(&mut errors, &mut std::io::sink());
        }
        let status = child
            .wait()
            .map_err(|error| format!("{name} was lost: {error}"))?;
        let record = File::open(&path)
            .map_err(ReadError::from)
            .and_then(|file| record::read(BufReader::new(file)));
        match record {
            // A run that a threshold aborted has a complete record; one that Ctrl-C ended does not
            // count.
            Ok(record) if record.end.is_some() && status.code() != Some(INTERRUPTED) => Ok(record),
            _ => Err(format!(
                "{name} gave no result ({status}): {}",
                String::from_utf8_lossy(&talk).trim()
            )),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
