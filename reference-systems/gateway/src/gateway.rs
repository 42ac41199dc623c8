//! The state that all connections share: the plan, the journal and the counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arc_swap::ArcSwap;
use hyper::StatusCode;
use plimsoll_serving::counters::{Exposition, PerWorker, count};

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
}

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
        let mut put = |name: &str, help: &str, value: u64| {
            text.metric(&format!("plimsoll_gateway_{name}"), help, value);
        };
        for (class, help) in [
            (1, "Responses 101: another protocol."),
            (2, "Responses 200 to 299."),
            (3, "Responses 300 to 399."),
            (4, "Responses 400 to 499."),
            (5, "Responses 500 to 599."),
        ] {
            let answered = self.counts.sum(|c| c.answered[class].load(Relaxed));
            put(&format!("answers_{class}xx_total"), help, answered);
        }
        let sum = |read: fn(&Counts) -> &AtomicU64| self.counts.sum(|c| read(c).load(Relaxed));
        let help = "Requests that got 429: too many for their key.";
        put("rate_limited_total", help, sum(|c| &c.rate_limited));
        let help = "Requests that got 503: too many in progress or waiting.";
        put("overloaded_total", help, sum(|c| &c.overloaded));
        put("retries_total", "Requests sent again.", sum(|c| &c.retried));
        let help = "Attempts at a target that got no response.";
        put("attempts_failed_total", help, sum(|c| &c.failed));
        let help = "Connections that went on in another protocol.";
        put("tunnels_total", help, sum(|c| &c.tunnels));

        let plan = self.plan();
        let upstreams = plan.upstreams();
        let targets = || upstreams.iter().flat_map(|upstream| upstream.targets());
        put("targets", "Targets of upstreams.", targets().count() as u64);
        let well = targets().filter(|target| target.health.is_well());
        put(
            "targets_well",
            "Targets that are asked.",
            well.count() as u64,
        );
        let under_way = targets().map(|target| target.under_way()).sum();
        put(
            "requests_at_targets",
            "Requests in progress at targets.",
            under_way,
        );
        let idle = upstreams.iter().map(|upstream| upstream.idle()).sum();
        put(
            "connections_idle",
            "Idle connections kept to targets.",
            idle,
        );
        let services = plan.services().iter();
        let waiting: usize = services.map(|service| service.gate.waiting()).sum();
        put(
            "requests_waiting",
            "Requests that wait for their turn.",
            waiting as u64,
        );
        let limiters = plan
            .routes()
            .iter()
            .filter_map(|route| route.limiter.as_ref());
        let keys: usize = limiters.map(|limiter| limiter.keys()).sum();
        put(
            "rate_limit_keys",
            "Keys whose tokens are counted.",
            keys as u64,
        );

        let help = "Lines that the access log could not keep up with.";
        put("access_log_left_out_total", help, self.journal.left_out());
        let reloads = self.reloads.load(Relaxed);
        put("reloads_total", "Configurations taken up.", reloads);
        let refused = self.reloads_refused.load(Relaxed);
        put(
            "reloads_refused_total",
            "Configurations that were wrong.",
            refused,
        );
    }
}
