//! Starts processes so that none of them can outlive the lab.
//!
//! Each process is in a separate process group, and the kernel kills it when the lab is killed
//! (prctl(2), PR_SET_PDEATHSIG, where available).
#![allow(unsafe_code)]

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

/// Whether processes may still be started. Locked while a process is started.
static MAY_START: Mutex<bool> = Mutex::new(true);

/// Prevents any further starts.
pub fn close() {
    *MAY_START.lock().unwrap_or_else(PoisonError::into_inner) = false;
}

/// Runs a function that must not run after the cleanup.
///
/// # Errors
/// The function's error, or that the lab is ending.
pub fn unless_ending<T>(act: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
    let open = MAY_START.lock().unwrap_or_else(PoisonError::into_inner);
    if !*open {
        return Err(std::io::Error::other("the lab is ending"));
    }
    act()
}

/// Starts a command on these processors, or on any processor if the list is empty.
///
/// # Errors
/// The system's error, or that the lab is ending.
pub fn start(command: &mut Command, cpus: &[u32]) -> std::io::Result<Child> {
    // The live page of each run would need a separate port.
    command
        .process_group(0)
        .env_remove(super::keeper::PRIVATE)
        .env_remove("K6_WEB_DASHBOARD")
        // A job of GitHub Actions gets the result of the lab, not one result for each run.
        .env_remove("GITHUB_ACTIONS");
    // Files that a killed process leaves in this temporary directory are removed with the lab.
    if let Some(directory) = super::keeper::temporary_directory() {
        command.env("TMPDIR", directory);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::Signal;
        use rustix::thread::CpuSet;
        let mut set = CpuSet::new();
        for cpu in cpus {
            let cpu = usize::try_from(*cpu).unwrap_or(usize::MAX);
            if cpu >= CpuSet::MAX_CPU {
                return Err(std::io::Error::other(format!(
                    "there is no processor {cpu}"
                )));
            }
            set.set(cpu);
        }
        let pinned = !cpus.is_empty();
        // SAFETY: between fork and exec only two system calls are made. Nothing is allocated, and no lock
        // is taken.
        unsafe {
            command.pre_exec(move || {
                // Call this after a change of user, which would reset it (prctl(2)).
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                if pinned {
                    rustix::thread::sched_setaffinity(None, &set)?;
                }
                Ok(())
            });
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = cpus;
    unless_ending(|| command.spawn())
}

/// Creates a network namespace. It exists while the returned file is open or a process runs in it.
///
/// # Errors
/// The system's error.
#[cfg(target_os = "linux")]
pub fn new_network_namespace() -> std::io::Result<std::fs::File> {
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    let made = std::thread::Builder::new()
        .name("new network".to_owned())
        .spawn(|| {
            // SAFETY: this changes the thread's network, but neither its files nor its memory. The thread ends
            // immediately afterwards.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            std::fs::File::open("/proc/thread-self/ns/net")
        })?;
    made.join().unwrap_or_else(|_| {
        Err(std::io::Error::other(
            "the thread that creates the namespace failed",
        ))
    })
}

/// Moves the calling thread into a network namespace. The processes that it starts later are also
/// in it.
///
/// # Errors
/// The system's error.
#[cfg(target_os = "linux")]
pub fn enter_network_namespace(namespace: std::os::fd::BorrowedFd<'_>) -> std::io::Result<()> {
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
    move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?;
    Ok(())
}

/// Other systems have no network namespaces.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn new_network_namespace() -> std::io::Result<std::fs::File> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Other systems have no network namespaces.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn enter_network_namespace(_: std::os::fd::BorrowedFd<'_>) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
