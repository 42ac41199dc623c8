//! Detects when the machine itself was paused.
//!
//! A virtual machine shares its processors with others: the host takes one away for milliseconds, and no program inside
//! can run meanwhile. Such a pause must not be attributed to the measured program. A thread with a higher priority than
//! everything measured wakes twice per millisecond on each processor. Only a pause of the machine can make it late.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::syscalls;

/// Above the relay's priority, and below what the kernel's own threads may have.
const PRIORITY: i32 = 50;
const INTERVAL: Duration = Duration::from_micros(500);
/// A wake-up that is this late counts as a pause. A processor needs a tenth of this time to leave the idle state.
const PAUSE: u64 = 300_000;

/// A pause of a processor, in nanoseconds of the monotonic clock.
pub type Pause = (u64, u64);

/// Threads that watch for pauses, one per processor.
pub struct Watch {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<io::Result<Vec<Pause>>>>,
}

impl Watch {
    /// Starts a thread on each of these processors.
    pub fn start(processors: &[usize]) -> Watch {
        let is_over = Arc::new(AtomicBool::new(false));
        let threads = processors
            .iter()
            .map(|&processor| {
                let is_over = Arc::clone(&is_over);
                thread::spawn(move || watch(processor, &is_over))
            })
            .collect();
        Watch { is_over, threads }
    }

    /// All pauses, sorted by their start.
    ///
    /// # Errors
    /// If the kernel does not permit the priority or the processor. Then pauses cannot be distinguished from delays of
    /// the program.
    pub fn end(self) -> io::Result<Vec<Pause>> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut pauses = Vec::new();
        for thread in self.threads {
            let ended = thread.join();
            pauses.extend(ended.map_err(|_| io::Error::other("the watch failed"))??);
        }
        pauses.sort_unstable();
        Ok(pauses)
    }
}

fn watch(processor: usize, is_over: &AtomicBool) -> io::Result<Vec<Pause>> {
    syscalls::pin_to_cpu(processor)?;
    syscalls::take_real_time_priority(PRIORITY)?;
    let mut pauses = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let due = syscalls::monotonic_nanos() + INTERVAL.as_nanos() as u64;
        thread::sleep(INTERVAL);
        let woken = syscalls::monotonic_nanos();
        if woken > due + PAUSE {
            pauses.push((due, woken));
        }
    }
    Ok(pauses)
}

/// Whether the machine paused at some time between `from` and `to`.
pub fn any_between(pauses: &[Pause], from: u64, to: u64) -> bool {
    // Sorted by start; there are few.
    pauses
        .iter()
        .take_while(|(begin, _)| *begin <= to)
        .any(|(_, end)| *end >= from)
}

#[cfg(test)]
mod tests {
    use super::any_between;

    #[test]
    fn a_pause_that_overlaps_in_part_is_found() {
        let pauses = [(10, 20), (15, 40), (100, 110)];
        for (from, to) in [(0, 10), (20, 25), (30, 31), (40, 90), (105, 106), (50, 200)] {
            assert!(any_between(&pauses, from, to), "{from} to {to}");
        }
        for (from, to) in [(0, 9), (41, 99), (111, 200)] {
            assert!(!any_between(&pauses, from, to), "{from} to {to}");
        }
    }
}
