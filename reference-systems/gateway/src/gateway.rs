//! The state that all connections share: the plan, the journal and the counters.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use plimsoll_serving::counters::{AllCounters, Exposition, PerWorker, count};

use crate::access_log::Journal;
use crate::plan::Plan;

pub struct Gateway {
    /// A request keeps the plan with which it began.
    pub plan: ArcSwap<Plan>,
    pub journal: Journal,
    /// Of connections to entries.
    pub connections: AllCounters,
    pub counts: PerWorker<Counts>,
    pub reloads: AtomicU64,
    pub reloads_refused: AtomicU64,
}

/// One worker's counters.
#[derive(Default)]
#[repr(align(128))]
pub struct Counts {
    responses: [AtomicU64; 6],
    pub rate_limited: AtomicU64,
    pub overloaded: AtomicU64,
    pub retried: AtomicU64,
    pub failed: AtomicU64,
    pub tunnels: AtomicU64,
}

impl Counts {
    /// Counts a response by its class.
    pub fn responded(&self, status: StatusCode) {
        if let Some(class) = self.responses.get(usize::from(status.as_u16() / 100)) {
            count(class);
        }
    }
}

impl Gateway {
    pub fn new(plan: Plan, workers: usize) -> Result<Gateway, String> {
        Ok(Gateway {
            journal: Journal::new(plan.config.access_log.as_deref())?,
            plan: ArcSwap::from_pointee(plan),
            connections: AllCounters::new(workers),
            counts: PerWorker::new(workers),
            reloads: AtomicU64::new(0),
            reloads_refused: AtomicU64::new(0),
        })
    }

    /// The response on the gateway's own port, which clients of entries must not see.
    pub fn admin<B>(&self, request: &Request<B>, draining: bool) -> Response<Full<Bytes>> {
        let reading = matches!(*request.method(), Method::GET | Method::HEAD);
        let (status, text) = match request.uri().path() {
            "/healthz" if reading && draining => {
                (StatusCode::SERVICE_UNAVAILABLE, "draining\n".to_owned())
            }
            "/healthz" if reading => (StatusCode::OK, "ok\n".to_owned()),
            "/metrics" if reading => (StatusCode::OK, self.metrics()),
            _ => (
                StatusCode::NOT_FOUND,
                "GET /healthz or /metrics\n".to_owned(),
            ),
        };
        let mut response = Response::new(Full::new(text.into()));
        *response.status_mut() = status;
        let kind = HeaderValue::from_static("text/plain; version=0.0.4");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }

    fn metrics(&self) -> String {
        let mut text = Exposition::default();
        text.connections(&self.connections);
        let mut put = |name: &str, value: u64| {
            // The names describe the counters.
            let help = name.replace('_', " ");
            text.metric(&format!("plimsoll_gateway_{name}"), &help, value);
        };
        for class in 1..=5 {
            let count = self.counts.sum(|c| c.responses[class].load(Relaxed));
            put(&format!("answers_{class}xx_total"), count);
        }
        let sum = |read: fn(&Counts) -> &AtomicU64| self.counts.sum(|c| read(c).load(Relaxed));
        put("rate_limited_total", sum(|c| &c.rate_limited));
        put("overloaded_total", sum(|c| &c.overloaded));
        put("retries_total", sum(|c| &c.retried));
        put("attempts_failed_total", sum(|c| &c.failed));
        put("tunnels_total", sum(|c| &c.tunnels));

        let plan = self.plan.load();
        let upstreams = || plan.upstreams.values();
        let targets = || upstreams().flat_map(|upstream| &upstream.targets);
        let well = targets().filter(|target| target.health.is_well());
        put("targets", targets().count() as u64);
        put("targets_well", well.count() as u64);
        let in_flight = targets().map(|target| target.in_flight());
        put("requests_at_targets", in_flight.sum());
        let services = plan.services.values();
        let waiting = services.map(|service| service.gate.waiting(&service.settings));
        put("requests_waiting", waiting.sum());

        let left_out = self.journal.left_out.load(Relaxed);
        put("access_log_left_out_total", left_out);
        put("reloads_total", self.reloads.load(Relaxed));
        put("reloads_refused_total", self.reloads_refused.load(Relaxed));
        text.into_text()
    }
}
