//! Cleans up after a lab, however the lab ends.
//!
//! Two processes run a lab: the *keeper*, which the user started, and the *worker*, which does all
//! the work. Both adopt orphans (PR_SET_CHILD_SUBREAPER). If the worker exits for any reason, the
//! keeper kills its remaining processes and removes the private directory. If the keeper exits, the
//! worker's stdin is closed, and the worker cleans up in the same way.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plimsoll_machine::descendants;
use rustix::process::{Pid, Signal, WaitOptions};

/// The environment variable that contains the worker's private directory.
pub const PRIVATE: &str = "PLIMSOLL_LAB_PRIVATE";

/// The directory for temporary files of a worker's processes.
static TEMPORARY: OnceLock<PathBuf> = OnceLock::new();

/// The directory for temporary files of this worker's processes.
pub fn temporary_directory() -> Option<&'static Path> {
    TEMPORARY.get().map(PathBuf::as_path)
}

/// How the worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// It exited with this status.
    Status(i32),
    /// It was killed.
    Killed,
    /// The keeper was asked to stop.
    Stopped,
}

/// The private directory, if this process is a worker.
pub fn private_directory() -> Option<PathBuf> {
    std::env::var_os(PRIVATE).map(PathBuf::from)
}

/// Runs this program again with `arguments` as a worker, until it exits or `stop` is set. Then all
/// its processes and files are removed.
///
/// # Errors
/// The system's error if the worker cannot be started.
pub fn keep(
    arguments: impl Iterator<Item = std::ffi::OsString>,
    stop: &AtomicBool,
) -> Result<WorkerEnd, String> {
    adopt_orphans();
    let directory = private_name("lab");
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env(PRIVATE, &directory)
        .stdin(Stdio::piped());
    // Only the keeper receives Ctrl-C, and it then stops the worker.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut worker = command
        .spawn()
        .map_err(|error| format!("cannot start the lab's worker: {error}"))?;
    let ended = loop {
        match worker.try_wait() {
            Ok(Some(status)) => break status.code().map_or(WorkerEnd::Killed, WorkerEnd::Status),
            Ok(None) => {}
            Err(_) => break WorkerEnd::Killed,
        }
        if stop.load(Ordering::Relaxed) {
            let _ = worker.kill();
            let _ = worker.wait();
            break WorkerEnd::Stopped;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    clean(&directory);
    Ok(ended)
}

/// Makes this process a worker: it exits, with all processes that it started, when the keeper
/// exits.
///
/// # Errors
/// The system's error.
pub fn work(directory: &Path) -> Result<(), String> {
    adopt_orphans();
    let watched = directory.to_owned();
    std::thread::Builder::new()
        .name("keeper's end".to_owned())
        .spawn(move || {
            let mut byte = [0];
            // Nothing is ever sent. Reading returns when the keeper has exited.
            while matches!(std::io::stdin().read(&mut byte), Ok(1..)) {}
            super::start::close();
            clean(&watched);
            std::process::exit(255);
        })
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    make_private(directory)
}

/// Cleans up before a worker exits. The keeper may no longer exist, and the thread that would
/// otherwise clean up ends with the process.
pub fn finish(directory: &Path) {
    super::start::close();
    clean(directory);
}

/// Makes orphaned descendants children of this process.
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // If this fails, other processes adopt the orphans, which can then only be found through their
    // process group.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// A name for a private directory that no other process uses. The worker creates the directory
/// after the keeper has started to watch it.
/// keeper watches it.
pub(super) fn private_name(of: &str) -> PathBuf {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let name = format!(
        "plimsoll-{of}-{}-{:x}",
        std::process::id(),
        since.as_nanos()
    );
    std::env::temp_dir().join(name)
}

fn make_private(directory: &Path) -> Result<(), String> {
    super::start::unless_ending(|| fs::create_dir(directory)).map_err(|error| {
        format!(
            "cannot create the private directory {}: {error}",
            directory.display()
        )
    })?;
    // Services that run as another user need access to their own part of the directory.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
    let _ = fs::set_permissions(directory, open);
    let temporary = directory.join("tmp");
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    if fs::create_dir(&temporary).is_ok() && fs::set_permissions(&temporary, all).is_ok() {
        let _ = TEMPORARY.set(temporary);
    }
    Ok(())
}

/// Kills every descendant and removes the directory.
fn clean(directory: &Path) {
    kill_descendants();
    // A process may have created another file while it was being killed.
    for _ in 0..100 {
        if fs::remove_dir_all(directory).is_ok() || !directory.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Kills all descendants of this process until none are left.
pub fn kill_descendants() {
    const MAX_WAIT: Duration = Duration::from_secs(10);
    let end = Instant::now() + MAX_WAIT;
    loop {
        let all = descendants(std::process::id());
        for pid in &all {
            signal(*pid, Signal::KILL);
        }
        while matches!(rustix::process::wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        if all.is_empty() || Instant::now() > end {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process, which may have exited already.
pub fn signal(pid: u32, which: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, which);
    }
}

/// Sends a signal to a process group.
pub fn signal_group(pid: u32, which: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, which);
    }
}
