//! What the servers count, for `/metrics`.
//!
//! Each worker has counters of its own, so that no cache line is fought over; they
//! are added up when somebody asks.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One worker's counts, on cache lines of their own.
#[derive(Default)]
#[repr(align(128))]
pub struct Counters {
    /// Answers given, by what was asked for.
    pub payloads: AtomicU64,
    pub others: AtomicU64,
    pub calls: AtomicU64,
    /// Connections taken up and let go.
    pub opened: AtomicU64,
    pub closed: AtomicU64,
    /// Connections closed because there were too many.
    pub rejected: AtomicU64,
    /// Connections that ended in an error, such as a failed handshake.
    pub broken: AtomicU64,
}

/// Adds one.
pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// All workers' counts.
#[derive(Clone)]
pub struct AllCounters(Arc<[Arc<Counters>]>);

type Metric = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Counters) -> u64,
);

const METRICS: &[Metric] = &[
    (
        "plimsoll_serve_payloads_total",
        "counter",
        "Payloads answered.",
        |c| c.payloads.load(Relaxed),
    ),
    (
        "plimsoll_serve_other_answers_total",
        "counter",
        "Other HTTP answers.",
        |c| c.others.load(Relaxed),
    ),
    (
        "plimsoll_serve_calls_total",
        "counter",
        "gRPC calls answered.",
        |c| c.calls.load(Relaxed),
    ),
    (
        "plimsoll_serve_connections_total",
        "counter",
        "Connections taken up.",
        |c| c.opened.load(Relaxed),
    ),
    (
        "plimsoll_serve_connections_open",
        "gauge",
        "Connections open now.",
        Counters::open,
    ),
    (
        "plimsoll_serve_connections_rejected_total",
        "counter",
        "Connections closed at once: too many were open.",
        |c| c.rejected.load(Relaxed),
    ),
    (
        "plimsoll_serve_connections_broken_total",
        "counter",
        "Connections that ended in an error.",
        |c| c.broken.load(Relaxed),
    ),
];

impl Counters {
    fn open(&self) -> u64 {
        let closed = self.closed.load(Relaxed);
        self.opened.load(Relaxed).saturating_sub(closed)
    }
}

impl AllCounters {
    /// Counters for so many workers.
    pub fn new(workers: usize) -> Self {
        AllCounters((0..workers).map(|_| Arc::default()).collect())
    }

    /// The counters of one worker; there must be at least one.
    pub fn of_worker(&self, index: usize) -> Arc<Counters> {
        self.0
            .get(index % self.0.len().max(1))
            .cloned()
            .unwrap_or_default()
    }

    /// Connections open now.
    pub fn open(&self) -> u64 {
        self.0.iter().map(|counters| counters.open()).sum()
    }

    /// The text that Prometheus reads, format 0.0.4.
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        for (name, kind, help, read) in METRICS {
            let sum: u64 = self.0.iter().map(|counters| read(counters)).sum();
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {sum}\n"
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_added_up() {
        let all = AllCounters::new(2);
        count(&all.of_worker(0).payloads);
        count(&all.of_worker(1).payloads);
        count(&all.of_worker(1).opened);
        assert_eq!(all.open(), 1);
        let text = all.to_prometheus();
        assert!(text.contains(
            "# TYPE plimsoll_serve_payloads_total counter\nplimsoll_serve_payloads_total 2\n"
        ));
        assert!(text.contains("plimsoll_serve_connections_open 1\n"));
    }
}
