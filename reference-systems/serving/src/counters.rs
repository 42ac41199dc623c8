//! The servers' counters, for `/metrics`.
//!
//! Each worker has its own, so that threads do not contend for cache lines; they are added up when
//! read.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Adds one.
pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// One `T` of counters per worker. Give `T` `#[repr(align(128))]`, so that each has its own cache
/// lines.
pub struct PerWorker<T>(Arc<[Arc<T>]>);

impl<T> Clone for PerWorker<T> {
    fn clone(&self) -> Self {
        PerWorker(self.0.clone())
    }
}

impl<T: Default> PerWorker<T> {
    /// Counters for this number of workers.
    pub fn new(workers: usize) -> Self {
        PerWorker((0..workers.max(1)).map(|_| Arc::default()).collect())
    }

    /// The counters of one worker.
    pub fn of_worker(&self, index: usize) -> Arc<T> {
        self.0
            .get(index % self.0.len().max(1))
            .cloned()
            .unwrap_or_default()
    }

    /// All workers' counts of one kind.
    pub fn sum(&self, read: impl Fn(&T) -> u64) -> u64 {
        self.0.iter().map(|counters| read(counters)).sum()
    }
}

/// The counters of every system.
#[derive(Default)]
#[repr(align(128))]
pub struct Counters {
    /// Connections opened and closed.
    pub opened: AtomicU64,
    pub closed: AtomicU64,
    /// Connections closed because there were too many.
    pub rejected: AtomicU64,
    /// Connections that ended in an error, such as a failed handshake.
    pub broken: AtomicU64,
    /// Requests started and finished, except for health and metrics.
    pub started: AtomicU64,
    pub done: AtomicU64,
    /// Requests that got 503 because too many were in progress.
    pub overloaded: AtomicU64,
}

impl Counters {
    /// Connections open now.
    pub fn open(&self) -> u64 {
        let closed = self.closed.load(Relaxed);
        self.opened.load(Relaxed).saturating_sub(closed)
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> u64 {
        let done = self.done.load(Relaxed);
        self.started.load(Relaxed).saturating_sub(done)
    }
}

/// All workers' counts.
pub type AllCounters = PerWorker<Counters>;

/// A metric's name, its description, and how to read it.
pub type Metric<T> = (&'static str, &'static str, fn(&T) -> u64);

const METRICS: &[Metric<Counters>] = &[
    (
        "plimsoll_serve_connections_total",
        "Connections accepted.",
        |c| c.opened.load(Relaxed),
    ),
    (
        "plimsoll_serve_connections_open",
        "Connections open now.",
        Counters::open,
    ),
    (
        "plimsoll_serve_connections_rejected_total",
        "Connections closed immediately because too many were open.",
        |c| c.rejected.load(Relaxed),
    ),
    (
        "plimsoll_serve_connections_broken_total",
        "Connections that ended in an error.",
        |c| c.broken.load(Relaxed),
    ),
];

const REQUESTS: &[Metric<Counters>] = &[
    (
        "plimsoll_serve_requests_total",
        "Requests received, except for health and metrics.",
        |c| c.started.load(Relaxed),
    ),
    (
        "plimsoll_serve_requests_under_way",
        "Requests in progress.",
        Counters::in_flight,
    ),
    (
        "plimsoll_serve_requests_overloaded_total",
        "Requests that got 503 because too many were in progress.",
        |c| c.overloaded.load(Relaxed),
    ),
];

/// Text that Prometheus reads, format 0.0.4.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// Writes one metric: a counter if its name ends in `_total`, otherwise a gauge.
    pub fn metric(&mut self, name: &str, help: &str, value: u64) {
        let kind = if name.ends_with("_total") {
            "counter"
        } else {
            "gauge"
        };
        // Writing to a string cannot fail.
        let _ = write!(
            self.0,
            "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"
        );
    }

    /// Metrics that workers count.
    pub fn metrics<T: Default>(&mut self, metrics: &[Metric<T>], counters: &PerWorker<T>) {
        for (name, help, read) in metrics {
            self.metric(name, help, counters.sum(read));
        }
    }

    /// Writes the counters of connections, which every system has.
    pub fn connections(&mut self, counters: &AllCounters) {
        self.metrics(METRICS, counters);
    }

    /// Writes the counters of requests, for a system that [`crate::run`] runs.
    pub fn requests(&mut self, counters: &AllCounters) {
        self.metrics(REQUESTS, counters);
    }

    pub fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_added_up() {
        let all = AllCounters::new(2);
        count(&all.of_worker(0).opened);
        count(&all.of_worker(1).opened);
        count(&all.of_worker(1).closed);
        assert_eq!(all.sum(Counters::open), 1);
        let mut text = Exposition::default();
        text.connections(&all);
        let text = text.into_text();
        assert!(text.contains(
            "# TYPE plimsoll_serve_connections_total counter\nplimsoll_serve_connections_total 2\n"
        ));
        assert!(text.contains(
            "# TYPE plimsoll_serve_connections_open gauge\nplimsoll_serve_connections_open 1\n"
        ));
    }
}
