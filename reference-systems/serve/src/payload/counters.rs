//! Counts of responses.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plimsoll_serving::counters::{Metric, PerWorker};

/// One worker's counters, on their own cache lines.
#[derive(Default)]
#[repr(align(128))]
pub struct Counters {
    /// Number of responses, by request.
    pub payloads: AtomicU64,
    pub others: AtomicU64,
    pub calls: AtomicU64,
}

/// All workers' counts.
pub type AllCounters = PerWorker<Counters>;

pub const METRICS: &[Metric<Counters>] = &[
    ("plimsoll_serve_payloads_total", "Payloads sent.", |c| {
        c.payloads.load(Relaxed)
    }),
    (
        "plimsoll_serve_other_answers_total",
        "Other HTTP responses.",
        |c| c.others.load(Relaxed),
    ),
    ("plimsoll_serve_calls_total", "gRPC calls completed.", |c| {
        c.calls.load(Relaxed)
    }),
];
