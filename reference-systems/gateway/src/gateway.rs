//! The state that all connections share: the plan, the journal and the counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arc_swap::ArcSwap;
use hyper::StatusCode;
use plimsoll_serving::counters::{Exposition, Metric, PerWorker, count};

use crate::access_log::Journal;
use crate::plan::Plan;

pub struct Gateway {
    plan: ArcSwap<Plan>,
    pub journal: Arc<Journal>,
    pub counts: PerWorker<Counts>,
    pub reloads: AtomicU64,
    pub reloads_refused: AtomicU64,
}

/// One worker's counters.
#[derive(Default)]
#[repr(align(128))]
pub struct Counts {
    answered: [AtomicU64; 6],
    pub rate_limited: AtomicU64,
    pub overloaded: AtomicU64,
    pub retried: AtomicU64,
    pub failed: AtomicU64,
    pub tunnels: AtomicU64,
}

impl Counts {
    /// Counts a response by its class.
    pub fn answered(&self, status: StatusCode) {
        if let Some(class) = self.answered.get(usize::from(status.as_u16() / 100)) {
            count(class);
        }
    }

    fn class(&self, class: usize) -> u64 {
        self.answered
            .get(class)
            .map_or(0, |count| count.load(Relaxed))
    }
}

const METRICS: &[Metric<Counts>] = &[
    (
        "plimsoll_gateway_answers_1xx_total",
        "Responses 101: another protocol.",
        |c| c.class(1),
    ),
    (
        "plimsoll_gateway_answers_2xx_total",
        "Responses 200 to 299.",
        |c| c.class(2),
    ),
    (
        "plimsoll_gateway_answers_3xx_total",
        "Responses 300 to 399.",
        |c| c.class(3),
    ),
    (
        "plimsoll_gateway_answers_4xx_total",
        "Responses 400 to 499.",
        |c| c.class(4),
    ),
    (
        "plimsoll_gateway_answers_5xx_total",
        "Responses 500 to 599.",
        |c| c.class(5),
    ),
    (
        "plimsoll_gateway_rate_limited_total",
        "Requests that got 429: too many for their key.",
        |c| c.rate_limited.load(Relaxed),
    ),
    (
        "plimsoll_gateway_overloaded_total",
        "Requests that got 503: too many in progress or waiting.",
        |c| c.overloaded.load(Relaxed),
    ),
    (
        "plimsoll_gateway_retries_total",
        "Requests sent again.",
        |c| c.retried.load(Relaxed),
    ),
    (
        "plimsoll_gateway_attempts_failed_total",
        "Attempts at a target that got no response.",
        |c| c.failed.load(Relaxed),
    ),
    (
        "plimsoll_gateway_tunnels_total",
        "Connections that went on in another protocol.",
        |c| c.tunnels.load(Relaxed),
    ),
];

impl Gateway {
    pub fn new(plan: Arc<Plan>, workers: usize) -> Gateway {
        Gateway {
            plan: ArcSwap::new(plan),
            journal: Journal::new(),
            counts: PerWorker::new(workers),
            reloads: AtomicU64::new(0),
            reloads_refused: AtomicU64::new(0),
        }
    }

    /// The current plan; a request keeps the one with which it began.
    pub fn plan(&self) -> Arc<Plan> {
        self.plan.load_full()
    }

    pub fn set_plan(&self, plan: Arc<Plan>) {
        self.plan.store(plan);
    }

    /// Adds the counters to `/metrics`.
    pub fn metrics(&self, text: &mut Exposition) {
        text.metrics(METRICS, &self.counts);
        let plan = self.plan();
        let targets = || {
            plan.upstreams()
                .iter()
                .flat_map(|upstream| upstream.targets())
        };
        let well = targets().filter(|target| target.health.is_well()).count() as u64;
        let waiting: usize = plan
            .services()
            .iter()
            .map(|service| service.gate.waiting())
            .sum();
        let keys: usize = plan
            .routes()
            .iter()
            .filter_map(|route| route.limiter.as_ref())
            .map(|limiter| limiter.keys())
            .sum();
        for (name, help, value) in [
            ("targets", "Targets of upstreams.", targets().count() as u64),
            ("targets_well", "Targets that are asked.", well),
            (
                "requests_at_targets",
                "Requests under way at targets.",
                targets().map(|target| target.under_way()).sum(),
            ),
            (
                "connections_idle",
                "Idle connections kept to targets.",
                plan.upstreams()
                    .iter()
                    .map(|upstream| upstream.idle())
                    .sum(),
            ),
            (
                "requests_waiting",
                "Requests that wait for their turn.",
                waiting as u64,
            ),
            (
                "rate_limit_keys",
                "Keys whose tokens are counted.",
                keys as u64,
            ),
            (
                "access_log_left_out_total",
                "Lines that the access log could not keep up with.",
                self.journal.left_out(),
            ),
            (
                "reloads_total",
                "Configurations taken up.",
                self.reloads.load(Relaxed),
            ),
            (
                "reloads_refused_total",
                "Configurations that were wrong.",
                self.reloads_refused.load(Relaxed),
            ),
        ] {
            text.metric(&format!("plimsoll_gateway_{name}"), help, value);
        }
    }
}
