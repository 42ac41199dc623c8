//! What this process used of the machine.

use std::time::Duration;

use plimsoll_units::Bytes;

/// Processor time of all threads so far.
#[cfg(target_os = "linux")]
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or(0),
        time.tv_nsec.try_into().unwrap_or(0),
    )
}

#[cfg(not(target_os = "linux"))]
pub fn cpu_time() -> Duration {
    Duration::ZERO
}

/// The most memory this process had; zero where the system does not tell.
pub fn peak_rss() -> Bytes {
    status_field("VmHWM:")
}

/// Memory this process has now; zero where the system does not tell.
pub fn rss() -> Bytes {
    status_field("VmRSS:")
}

/// A line like `VmRSS:   1234 kB` of `/proc/self/status` (proc_pid_status(5)).
fn status_field(key: &str) -> Bytes {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes: Option<u64> = status
        .lines()
        .find(|line| line.starts_with(key))
        .and_then(|line| line.split_ascii_whitespace().nth(1))
        .and_then(|figure| figure.parse().ok());
    Bytes(kibibytes.unwrap_or(0) * 1024)
}

/// How many worker threads to use: as asked, else one for each processor that
/// this process may use.
pub fn workers(asked: Option<usize>) -> usize {
    asked
        .or_else(|| std::thread::available_parallelism().ok().map(usize::from))
        .unwrap_or(1)
        .max(1)
}
