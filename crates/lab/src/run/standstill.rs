//! Detects when a processor stands still. A hypervisor that assigns a processor to other machines
//! for a while stops everything on it, which the counters of this machine do not always show. A
//! program with real-time priority has the same effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval between the checks of each processor. It is long enough that the checks use only a
/// thousandth of the processor.
const INTERVAL: Duration = Duration::from_millis(10);

/// A thread on each of the given processors that wakes at regular intervals.
pub struct Standstill {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Duration>>,
}

impl Standstill {
    /// Starts to check these processors. Processors that this process may not use are skipped.
    pub fn watch(cpus: impl IntoIterator<Item = u32>) -> Standstill {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = cpus.into_iter().filter_map(|cpu| {
            let stop = stop.clone();
            std::thread::Builder::new()
                .name(format!("standstill {cpu}"))
                .spawn(move || longest(cpu, &stop))
                .ok()
        });
        Standstill {
            threads: threads.collect(),
            stop,
        }
    }

    /// The longest time for which one of the processors did not run its thread.
    pub fn end(self) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        let threads = self.threads.into_iter();
        let longest = threads.filter_map(|thread| thread.join().ok()).max();
        longest.unwrap_or(Duration::ZERO)
    }
}

fn longest(cpu: u32, stop: &AtomicBool) -> Duration {
    if !pin_to(cpu) {
        return Duration::ZERO;
    }
    let mut longest = Duration::ZERO;
    let mut last = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(INTERVAL);
        let now = Instant::now();
        longest = longest.max(now.duration_since(last).saturating_sub(INTERVAL));
        last = now;
    }
    longest
}

/// Pins this thread to a processor, if possible.
#[cfg(target_os = "linux")]
fn pin_to(cpu: u32) -> bool {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let cpu = cpu as usize;
    let mut set = CpuSet::new();
    if cpu < CpuSet::MAX_CPU {
        set.set(cpu);
    }
    sched_setaffinity(None, &set).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn pin_to(_: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standstill_is_measured() {
        let watch = Standstill::watch([0, 1_000_000]);
        std::thread::sleep(Duration::from_millis(60));
        let found = watch.end();
        assert!(
            found > Duration::ZERO && found < Duration::from_secs(30),
            "{found:?}"
        );
        assert_eq!(Standstill::watch([]).end(), Duration::ZERO);
    }
}
