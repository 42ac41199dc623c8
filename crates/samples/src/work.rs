//! A fixed amount of work: its makespan, and the payload of its calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_units::{Bytes, Moment};
use serde::{Serialize, Serializer};

/// The work that the users of a scenario have done, summed over workers. Each worker has its own [`Share`] and adds it
/// at the end, so that a call does not access shared memory.
#[derive(Debug)]
pub struct WorkDone {
    calls: AtomicU64,
    failed: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    first_start: AtomicU64,
    last_end: AtomicU64,
}

/// The work of one worker since its share was last added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    calls: u64,
    failed: u64,
    sent: u64,
    received: u64,
    span: Option<(Moment, Moment)>,
}

/// The total work, to be read when the scenario has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Completed calls, including failed ones: HTTP exchanges, gRPC calls and streams, WebSocket
    /// sessions.
    pub calls: u64,
    /// How many of these calls failed.
    pub failed: u64,
    /// Bytes of messages or bodies sent by successful calls.
    #[serde(serialize_with = "count")]
    pub sent: Bytes,
    /// Bytes of messages or bodies received by successful calls.
    #[serde(serialize_with = "count")]
    pub received: Bytes,
    /// The time from the start of the first iteration to the end of the last one.
    pub makespan: Duration,
}

/// The fixed amount of work of one scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScenarioWork {
    /// Its name.
    pub scenario: String,
    /// Concurrent users.
    pub workers: u32,
    /// The configured iterations.
    pub loops: Loops,
    /// Completed iterations.
    pub iterations: u64,
    /// The results.
    pub done: Work,
}

/// How a fixed number of iterations is distributed over workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loops {
    /// This number for each worker.
    Each(u64),
    /// This number for all workers together.
    Shared(u64),
}

impl Loops {
    /// The number of iterations of this many workers together.
    pub fn of(self, workers: u32) -> u64 {
        match self {
            Loops::Each(loops) => u64::from(workers).saturating_mul(loops),
            Loops::Shared(loops) => loops,
        }
    }
}

impl ScenarioWork {
    /// The configured number of iterations of all workers together.
    pub fn wanted(&self) -> u64 {
        self.loops.of(self.workers)
    }
}

fn count<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(bytes.get())
}

impl Default for WorkDone {
    fn default() -> Self {
        WorkDone {
            calls: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            first_start: AtomicU64::new(u64::MAX),
            last_end: AtomicU64::new(0),
        }
    }
}

impl Share {
    /// Counts a call with its payload in each direction, in bytes without headers and framing. `None` if it failed,
    /// because its bytes are not throughput.
    pub fn call(&mut self, payload: Option<(u64, u64)>) {
        self.calls += 1;
        match payload {
            Some((sent, received)) => {
                self.sent += sent;
                self.received += received;
            }
            None => self.failed += 1,
        }
    }

    /// Counts the time of an iteration, complete or not.
    pub fn iteration(&mut self, started: Moment, ended: Moment) {
        self.span = Some(match self.span {
            None => (started, ended),
            Some((first, last)) => (first.min(started), last.max(ended)),
        });
    }
}

impl WorkDone {
    /// Adds the share of a worker.
    pub fn add(&self, share: &Share) {
        let pairs = [
            (&self.calls, share.calls),
            (&self.failed, share.failed),
            (&self.sent, share.sent),
            (&self.received, share.received),
        ];
        for (sum, more) in pairs {
            sum.fetch_add(more, Ordering::Relaxed);
        }
        if let Some((first, last)) = share.span {
            self.first_start
                .fetch_min(first.as_nanos(), Ordering::Relaxed);
            self.last_end.fetch_max(last.as_nanos(), Ordering::Relaxed);
        }
    }

    /// The current sum.
    pub fn read(&self) -> Work {
        let first = self.first_start.load(Ordering::Relaxed);
        let last = self.last_end.load(Ordering::Relaxed);
        Work {
            calls: self.calls.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            sent: Bytes(self.sent.load(Ordering::Relaxed)),
            received: Bytes(self.received.load(Ordering::Relaxed)),
            makespan: Duration::from_nanos(last.saturating_sub(first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makespan_covers_all_shares_and_failures_have_no_payload() {
        let at = Moment::from_nanos;
        let done = WorkDone::default();
        assert_eq!(done.read().makespan, Duration::ZERO);
        let mut one = Share::default();
        one.call(Some((10, 1)));
        one.iteration(at(100), at(200));
        one.call(Some((10, 1)));
        one.iteration(at(200), at(300));
        let mut other = Share::default();
        other.call(None);
        other.iteration(at(50), at(400));
        done.add(&one);
        done.add(&other);
        done.add(&Share::default());
        let work = done.read();
        assert_eq!((work.calls, work.failed), (3, 1));
        assert_eq!((work.sent, work.received), (Bytes(20), Bytes(2)));
        assert_eq!(work.makespan, Duration::from_nanos(350));
    }

    #[test]
    fn loops_are_per_worker_or_shared() {
        let work = |loops| ScenarioWork {
            scenario: "default".to_owned(),
            workers: 4,
            loops,
            iterations: 0,
            done: Work::default(),
        };
        assert_eq!(work(Loops::Each(10)).wanted(), 40);
        assert_eq!(work(Loops::Shared(10)).wanted(), 10);
    }
}
