//! Measures the resource use of this process and others.

use std::fs;
use std::time::Duration;

use plimsoll_units::Bytes;

/// The processor time of all threads of this process so far.
#[cfg(target_os = "linux")]
pub fn cpu_time() -> Duration {
    clock_time(rustix::time::ClockId::ProcessCPUTime)
}

#[cfg(target_os = "linux")]
pub(crate) fn clock_time(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    Duration::new(
        time.tv_sec.try_into().unwrap_or(0),
        time.tv_nsec.try_into().unwrap_or(0),
    )
}

#[cfg(not(target_os = "linux"))]
pub fn cpu_time() -> Duration {
    Duration::ZERO
}

/// Peak memory of this process, or zero if the system does not report it.
pub fn peak_memory() -> Bytes {
    status_field("self", "VmHWM:")
}

/// Current memory of this process, or zero if the system does not report it.
pub fn memory() -> Bytes {
    status_field("self", "VmRSS:")
}

/// Reads a line such as `VmRSS:   1234 kB` from `/proc/PID/status` (proc_pid_status(5)).
fn status_field(process: &str, key: &str) -> Bytes {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kibibytes: Option<u64> = status
        .lines()
        .find(|line| line.starts_with(key))
        .and_then(|line| line.split_ascii_whitespace().nth(1))
        .and_then(|figure| figure.parse().ok());
    Bytes(kibibytes.unwrap_or(0) * 1024)
}

/// Number of processors that this process may use, or one if the system does not report it.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Processor time and memory of a process. Faster to read than [`ProcessReading`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessUse {
    /// Processor time of all threads of the process.
    pub cpu_seconds: f64,
    /// Current memory.
    pub memory: Bytes,
}

impl ProcessUse {
    /// Reads the current values of a process, or `None` if the process does not exist.
    pub fn of(pid: u32) -> Option<ProcessUse> {
        Some(ProcessUse {
            cpu_seconds: cpu_seconds(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?,
            memory: status_field(&pid.to_string(), "VmRSS:"),
        })
    }
}

/// The processor time in the contents of `/proc/PID/stat`.
pub(crate) fn cpu_seconds(stat: &str) -> Option<f64> {
    // proc(5): utime and stime are fields 14 and 15, in ticks of 1/100 s. The name is in
    // parentheses and may contain any characters.
    const TICKS: f64 = 100.0;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS)
}

/// The resource use of a process so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessReading {
    /// Processor time of all threads of the process.
    pub cpu_seconds: f64,
    /// Current memory.
    pub rss_bytes: u64,
    /// Current number of threads.
    pub threads: u32,
    /// Current number of open file descriptors.
    pub files: u32,
    /// Context switches of all threads: voluntary and involuntary.
    pub switches: (u64, u64),
}

impl ProcessReading {
    /// Reads the current values of a process, or `None` if the process does not exist.
    pub fn of(pid: u32) -> Option<ProcessReading> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let of = |key: &str| -> u64 {
            status
                .lines()
                .find_map(|line| line.strip_prefix(key))
                .and_then(|rest| rest.trim_start_matches(':').split_whitespace().next())
                .and_then(|value| value.parse().ok())
                .unwrap_or(0)
        };
        let files = fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        // The kernel counts context switches per thread, and `status` has only those of the first thread.
        let mut switches = (0, 0);
        for thread in fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let text = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
            for line in text.lines() {
                let value = || {
                    line.split_whitespace()
                        .last()
                        .and_then(|value| value.parse().ok())
                        .unwrap_or(0)
                };
                if line.starts_with("voluntary_ctxt_switches") {
                    switches.0 += value();
                } else if line.starts_with("nonvoluntary_ctxt_switches") {
                    switches.1 += value();
                }
            }
        }
        Some(ProcessReading {
            cpu_seconds: cpu_seconds(&stat).unwrap_or(0.0),
            rss_bytes: of("VmRSS") * 1024,
            threads: u32::try_from(of("Threads")).unwrap_or(u32::MAX),
            files: u32::try_from(files).unwrap_or(u32::MAX),
            switches,
        })
    }
}

/// All descendants of a process, without zombies.
pub fn descendants(root: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let parents: Vec<(u32, u32)> = entries
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // proc(5): the name is in parentheses and may contain any characters.
            let mut fields = text.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?;
            let parent = fields.next()?.parse().ok()?;
            (state != "Z").then_some((pid, parent))
        })
        .collect();
    let mut found = vec![root];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        for (pid, its) in &parents {
            if *its == parent && !found.contains(pid) {
                found.push(*pid);
            }
        }
        at += 1;
    }
    found.split_off(1)
}
