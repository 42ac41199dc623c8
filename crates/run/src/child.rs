//! Runs this program as a child process, and reads the record of that run.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use plimsoll_results::record::{self, Follower, ReadError, Record, Second};
use plimsoll_results::run_seed;

/// The exit status of a run that a signal ended.
const INTERRUPTED: i32 = 105;

/// How often the record is read during the run.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A folder for temporary records of runs.
pub struct Scratch {
    folder: PathBuf,
    /// The number of runs started so far.
    runs: Cell<u64>,
}

impl Scratch {
    /// Creates the folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new() -> Result<Scratch, String> {
        // A private folder, because other users may be able to write to the system's temporary folder.
        let folder = std::env::temp_dir().join(format!("plimsoll-runs-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| {
            format!(
                "cannot create the directory {} for the runs' records: {error}; set TMPDIR",
                folder.display()
            )
        })?;
        Ok(Scratch {
            folder,
            runs: Cell::new(0),
        })
    }

    /// Runs the program with these arguments, which must generate load. `name` is the run's name in error messages.
    /// Each run gets a new seed for random arrivals.
    ///
    /// # Errors
    /// If the run wrote no complete record. The error includes its output.
    pub fn run(&self, name: &str, arguments: &[String]) -> Result<Record, String> {
        let path = self.path();
        let ended = execute(name, arguments, &path, self.next_seed())?;
        record(name, &path, &ended)
    }

    /// Like [`Scratch::run`], and calls `show` with each second of the run soon after its end.
    ///
    /// # Errors
    /// If the run wrote no complete record. The error includes its output.
    pub fn watch(
        &self,
        name: &str,
        arguments: &[String],
        mut show: impl FnMut(&Second) + Send,
    ) -> Result<Record, String> {
        let (path, seed) = (self.path(), self.next_seed());
        let mut follower = Follower::new(path.clone());
        let (running, over) = channel::<()>();
        let ended = thread::scope(|scope| {
            scope.spawn(move || {
                while over.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    follower.seconds().iter().for_each(&mut show);
                }
            });
            let ended = execute(name, arguments, &path, seed);
            drop(running);
            ended
        })?;
        record(name, &path, &ended)
    }

    /// The seed of the next run.
    fn next_seed(&self) -> u64 {
        self.runs.set(self.runs.get() + 1);
        run_seed::of_run(run_seed::of_this_process(), self.runs.get())
    }

    /// The path of a run's record.
    fn path(&self) -> PathBuf {
        let path = self.folder.join("run.jsonl");
        // Do not read an earlier run's record if this run writes none.
        let _ = std::fs::remove_file(&path);
        path
    }
}

/// A process that has ended.
struct ExitedProcess {
    status: ExitStatus,
    /// The start of its stderr.
    messages: Vec<u8>,
}

/// Reads the record of a run that has ended.
fn record(name: &str, path: &Path, ended: &ExitedProcess) -> Result<Record, String> {
    let record = File::open(path)
        .map_err(ReadError::from)
        .and_then(|file| record::read(BufReader::new(file)));
    let was_interrupted = ended.status.code() == Some(INTERRUPTED);
    match record {
        // The record is complete even if a threshold aborted the run. A run that Ctrl-C ended does not count.
        Ok(record) if record.end.is_some() && !was_interrupted => Ok(record),
        _ => Err(format!(
            "{name} produced no result ({}): {}",
            ended.status,
            String::from_utf8_lossy(&ended.messages).trim()
        )),
    }
}

/// Runs the program until it exits.
fn execute(
    name: &str,
    arguments: &[String],
    path: &Path,
    seed: u64,
) -> Result<ExitedProcess, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut child = Command::new(program)
        .args(arguments)
        .arg("--record")
        .arg(path)
        .env(run_seed::VARIABLE, seed.to_string())
        // Each run's page would need its own port.
        .env_remove("K6_WEB_DASHBOARD")
        // A job of GitHub Actions gets one summary, not one per run.
        .env_remove("GITHUB_ACTIONS")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run {name}: {error}"))?;
    let mut messages = Vec::new();
    if let Some(mut errors) = child.stderr.take() {
        // The start of the messages is enough, but the pipe must be drained.
        let _ = errors.by_ref().take(1 << 16).read_to_end(&mut messages);
        let _ = std::io::copy(&mut errors, &mut std::io::sink());
    }
    let status = child
        .wait()
        .map_err(|error| format!("could not wait for {name}: {error}"))?;
    Ok(ExitedProcess { status, messages })
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
