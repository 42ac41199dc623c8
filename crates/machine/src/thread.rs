//! Measures one thread: processor time, waiting for a processor, and timer lateness.

use std::fs::File;
use std::time::Duration;

use plimsoll_units::Moment;

/// Measurements of a thread over a span of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadReading {
    pub span: Duration,
    /// Processor time of the thread.
    pub cpu: Duration,
    /// The time for which the thread was runnable but had no processor.
    pub run_queue_wait: Option<Duration>,
    /// How late the timers of the thread were, sorted.
    pub lateness: Vec<Duration>,
}

/// Measures the thread that creates it. Must be used only on that thread.
pub struct ThreadMeter {
    began: Moment,
    lateness: Vec<Duration>,
    cpu: Duration,
    /// Stays open, so that it can be read when a run has exhausted the file descriptors.
    scheduler_statistics: Option<File>,
    run_queue_wait: Option<Duration>,
}

impl Default for ThreadMeter {
    fn default() -> Self {
        ThreadMeter::new()
    }
}

impl ThreadMeter {
    /// Starts the first span.
    pub fn new() -> Self {
        let scheduler_statistics = File::open("/proc/thread-self/schedstat").ok();
        ThreadMeter {
            began: plimsoll_clock::now(),
            lateness: Vec::with_capacity(128),
            cpu: thread_cpu(),
            run_queue_wait: scheduler_statistics.as_ref().and_then(run_queue_wait),
            scheduler_statistics,
        }
    }

    /// Records how late a timer of the thread was.
    pub fn timer_was_late(&mut self, lateness: Duration) {
        self.lateness.push(lateness);
    }

    /// Returns the measurements since the last call, and starts the next span.
    pub fn take(&mut self) -> ThreadReading {
        let wait = self.scheduler_statistics.as_ref().and_then(run_queue_wait);
        let cpu = thread_cpu();
        let mut lateness = std::mem::replace(&mut self.lateness, Vec::with_capacity(128));
        lateness.sort_unstable();
        let now = plimsoll_clock::now();
        let reading = ThreadReading {
            span: now.since(self.began),
            cpu: cpu.saturating_sub(self.cpu),
            run_queue_wait: wait
                .zip(self.run_queue_wait)
                .map(|(now, before)| now.saturating_sub(before)),
            lateness,
        };
        self.began = now;
        self.cpu = cpu;
        self.run_queue_wait = wait;
        reading
    }
}

/// The processor time that the calling thread has used so far.
#[cfg(target_os = "linux")]
fn thread_cpu() -> Duration {
    crate::process::clock_time(rustix::time::ClockId::ThreadCPUTime)
}

#[cfg(not(target_os = "linux"))]
fn thread_cpu() -> Duration {
    Duration::ZERO
}

/// The second number in `/proc/thread-self/schedstat`: the nanoseconds that the thread which opened
/// the file has spent waiting on a run queue (Documentation/scheduler/sched-stats.rst).
#[cfg(unix)]
fn run_queue_wait(statistics: &File) -> Option<Duration> {
    use std::os::unix::fs::FileExt;

    // The file contains three numbers of at most 20 digits.
    let mut text = [0; 80];
    let length = statistics.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let nanos = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

#[cfg(not(unix))]
fn run_queue_wait(_statistics: &File) -> Option<Duration> {
    None
}
