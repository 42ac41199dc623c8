//! Runs a command until it exits, with a time limit.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::keeper::signal_group;
use super::start::start;

/// The result of a command.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit status as text.
    pub status: String,
    /// Its exit status, unless a signal killed it.
    pub code: Option<i32>,
    /// Its stdout.
    pub output: String,
    /// Its stderr.
    pub talk: String,
}

impl Finished {
    /// The last lines of its output.
    pub fn last_lines(&self) -> String {
        let output = if self.talk.trim().is_empty() {
            &self.output
        } else {
            &self.talk
        };
        let lines: Vec<&str> = output
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let from = lines.len().saturating_sub(6);
        match lines.get(from..) {
            None | Some([]) => "it printed nothing".to_owned(),
            Some(last) => last.join("\n    "),
        }
    }
}

/// Runs the command until it exits.
///
/// # Errors
/// If the command cannot be run, or takes too long.
pub fn run(command: &mut Command, cpus: &[u32], within: Duration) -> Result<Finished, String> {
    run_watched(command, cpus, within, |_| {})
}

/// Runs the command until it exits, and regularly calls `watch` with its process id.
///
/// # Errors
/// If the command cannot be run, or takes too long.
pub fn run_watched(
    command: &mut Command,
    cpus: &[u32],
    within: Duration,
    mut watch: impl FnMut(u32),
) -> Result<Finished, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = start(command, cpus).map_err(|error| format!("cannot run {name}: {error}"))?;
    let output = reader(child.stdout.take());
    let talk = reader(child.stderr.take());
    let status = wait(&mut child, within, &mut watch);
    if status.is_none() {
        signal_group(child.id(), Signal::KILL);
        let _ = child.wait();
    }
    let output = output.join().unwrap_or_default();
    let talk = talk.join().unwrap_or_default();
    match status {
        Some(status) => Ok(Finished {
            status: status.to_string(),
            code: status.code(),
            output,
            talk,
        }),
        None => Err(format!(
            "{name} did not exit within {} and was stopped; raise the limit with within",
            plimsoll_units::duration::format(within)
        )),
    }
}

fn wait(
    child: &mut Child,
    within: Duration,
    watch: &mut impl FnMut(u32),
) -> Option<std::process::ExitStatus> {
    let end = Instant::now() + within;
    loop {
        watch(child.id());
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            _ => return None,
        }
    }
}

/// Reads a stream to its end, so the writer never blocks. Keeps only the first megabytes.
fn reader(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    const MAX_KEPT: usize = 16 << 20;
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 1 << 14];
        let Some(mut stream) = stream else {
            return String::new();
        };
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            let space = MAX_KEPT.saturating_sub(kept.len()).min(read);
            kept.extend_from_slice(buffer.get(..space).unwrap_or_default());
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}
