use std::time::Duration;

use plimsoll_units::Moment;

/// How a worker fared in one window: evidence for whether its figures can be
/// believed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PulseReading {
    /// How long the window was: a second, or more where the thread was kept waiting.
    pub span: Duration,
    /// Processor time of this thread in the window.
    pub cpu: Duration,
    /// How long this thread was runnable and had no processor.
    pub run_queue_wait: Option<Duration>,
    /// By how much timers of this thread were late, sorted.
    pub lateness: Vec<Duration>,
}

/// Feels a worker's event loop and its thread's share of the processor.
pub(crate) struct Pulse {
    began: Moment,
    lateness: Vec<Duration>,
    cpu: Duration,
    run_queue_wait: Option<Duration>,
}

impl Pulse {
    /// How often the loop is felt. Coarse enough to cost nothing.
    pub const STEP: Duration = Duration::from_millis(10);

    pub fn new() -> Self {
        Pulse {
            began: plimsoll_clock::now(),
            lateness: Vec::with_capacity(128),
            cpu: thread_cpu(),
            run_queue_wait: run_queue_wait(),
        }
    }

    pub fn felt(&mut self, lateness: Duration) {
        self.lateness.push(lateness);
    }

    /// The readings since the last call.
    pub fn take(&mut self) -> PulseReading {
        let (cpu, wait) = (thread_cpu(), run_queue_wait());
        let mut lateness = std::mem::replace(&mut self.lateness, Vec::with_capacity(128));
        lateness.sort_unstable();
        let now = plimsoll_clock::now();
        let reading = PulseReading {
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

/// Processor time that the calling thread has used so far.
#[cfg(target_os = "linux")]
fn thread_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or(0),
        time.tv_nsec.try_into().unwrap_or(0),
    )
}

#[cfg(not(target_os = "linux"))]
fn thread_cpu() -> Duration {
    Duration::ZERO
}

/// The second figure of `/proc/thread-self/schedstat`: nanoseconds spent
/// waiting on a run queue (Documentation/scheduler/sched-stats.rst).
fn run_queue_wait() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
