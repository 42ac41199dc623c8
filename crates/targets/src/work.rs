use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use units::Moment;

/// What the users of a run with a fixed amount of work have done, added up
/// across workers. A user keeps a [`Share`] of its own and hands it in at the
/// end, so that no two meet on the way.
#[derive(Debug)]
pub struct WorkDone {
    calls: AtomicU64,
    failed: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    first_start: AtomicU64,
    last_end: AtomicU64,
}

/// One user's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    calls: u64,
    failed: u64,
    sent: u64,
    received: u64,
    span: Option<(Moment, Moment)>,
}

/// All of it, read when the run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Calls that ended, failed ones included.
    pub calls: u64,
    pub failed: u64,
    /// Bytes of messages or bodies sent, of calls that did not fail.
    pub sent: u64,
    /// The same of those received.
    pub received: u64,
    /// From the start of the first call to the end of the last.
    pub makespan: Duration,
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
    /// Counts a call that was answered: bytes of payload, without heads and
    /// framing.
    pub fn answered(&mut self, sent: u64, received: u64, started: Moment, ended: Moment) {
        self.sent += sent;
        self.received += received;
        self.count(started, ended);
    }

    /// Counts a call that failed. What it sent or received is no throughput.
    pub fn failed(&mut self, started: Moment, ended: Moment) {
        self.failed += 1;
        self.count(started, ended);
    }

    fn count(&mut self, started: Moment, ended: Moment) {
        self.calls += 1;
        self.span = Some(match self.span {
            None => (started, ended),
            Some((first, last)) => (first.min(started), last.max(ended)),
        });
    }
}

/// A user's share, handed in when the user is gone; nothing is counted where nobody wants it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    work: Option<Arc<WorkDone>>,
    share: Share,
}

impl Tally {
    pub(crate) fn of(work: Option<Arc<WorkDone>>) -> Tally {
        Tally {
            work,
            share: Share::default(),
        }
    }

    /// Counts a call by its payload each way; none if it failed.
    pub(crate) fn count(&mut self, payload: Option<(u64, u64)>, started: Moment, ended: Moment) {
        if self.work.is_none() {
            return;
        }
        match payload {
            Some((sent, received)) => self.share.answered(sent, received, started, ended),
            None => self.share.failed(started, ended),
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        if let Some(work) = &self.work {
            work.add(&self.share);
        }
    }
}

impl WorkDone {
    /// Takes a user's share in.
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

    /// The sum so far.
    pub fn read(&self) -> Work {
        let first = self.first_start.load(Ordering::Relaxed);
        let last = self.last_end.load(Ordering::Relaxed);
        Work {
            calls: self.calls.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
            makespan: Duration::from_nanos(last.saturating_sub(first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makespan_is_that_of_all_shares_and_failures_carry_nothing() {
        let at = Moment::from_nanos;
        let done = WorkDone::default();
        assert_eq!(done.read().makespan, Duration::ZERO);
        let mut one = Share::default();
        one.answered(10, 1, at(100), at(200));
        one.answered(10, 1, at(200), at(300));
        let mut other = Share::default();
        other.failed(at(50), at(400));
        done.add(&one);
        done.add(&other);
        done.add(&Share::default());
        let work = done.read();
        assert_eq!((work.calls, work.failed), (3, 1));
        assert_eq!((work.sent, work.received), (20, 2));
        assert_eq!(work.makespan, Duration::from_nanos(350));
    }
}
