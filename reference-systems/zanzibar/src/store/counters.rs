//! The counters of a store.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plimsoll_serving::counters::{Metric, PerWorker};

/// One worker's counters, on their own cache lines.
#[derive(Default)]
#[repr(align(128))]
pub struct Counters {
    pub checks: AtomicU64,
    /// Queries of checks; with PostgreSQL each is a round trip.
    pub queries: AtomicU64,
    /// How often a check first had to prepare its query on a new connection.
    pub prepared: AtomicU64,
}

/// All workers' counts.
pub type AllCounters = PerWorker<Counters>;

pub const METRICS: &[Metric<Counters>] = &[
    (
        "plimsoll_serve_zanzibar_checks_total",
        "Checks that reached the storage.",
        |c| c.checks.load(Relaxed),
    ),
    (
        "plimsoll_serve_zanzibar_check_queries_total",
        "Queries made by checks; with PostgreSQL, each is a round trip.",
        |c| c.queries.load(Relaxed),
    ),
    (
        "plimsoll_serve_zanzibar_prepared_total",
        "Queries that had to be prepared first, on a new connection.",
        |c| c.prepared.load(Relaxed),
    ),
];
