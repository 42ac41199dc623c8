//! Adds the figures of a whole run to the evidence when the run ends.

use std::time::Duration;

use plimsoll_machine::MachineReading;
use plimsoll_samples::{MetricId, Summary, Values, builtin};
use plimsoll_units::Bytes;

use crate::likely_cause::main_failure;
use crate::{Arrivals, Evidence, ServiceTimes};

/// The figures of a completed run.
pub struct RunFigures<'a> {
    pub summary: &'a Summary,
    /// A metric over the whole run.
    pub whole: &'a dyn Fn(MetricId) -> Option<Values>,
    /// A metric over the judged part of the run: all of it, or the part after the warm-up.
    pub judged: &'a dyn Fn(MetricId) -> Option<Values>,
    /// The duration of the judged part.
    pub judged_time: Duration,
    /// The machine readings during the run.
    pub machine: MachineReading,
    /// The arrivals that each scenario with an arrival process sent in the judged part.
    pub arrivals: Vec<Arrivals>,
    /// Why the run ended early, if this machine was the cause.
    pub machine_failure: Option<String>,
    /// Number of iterations that arrival-rate scenarios started.
    pub scheduled_started: u64,
    /// Number of iterations that arrival-rate scenarios dropped.
    pub scheduled_dropped: u64,
    /// Maximum number of concurrent users.
    pub users_most: u32,
    /// Number of completed iterations.
    pub completed: u64,
    /// Number of iterations that were interrupted.
    pub interrupted: u64,
    /// Whether every iteration is a request. A run without requests then measured nothing.
    pub is_request_load: bool,
}

impl Evidence {
    /// Adds the figures of the run.
    pub fn complete(&mut self, run: &RunFigures<'_>) {
        let http = &run.summary.http;
        let lag = run.p99(builtin::ITERATION_SEND_LAG);
        let failed = (run.whole)(builtin::HTTP_REQ_FAILED).and_then(|values| values.passes());
        self.service = run.service_times(lag.is_none());
        self.clock_step = Some(plimsoll_machine::clock_step());
        self.unreadable = run.machine.unreadable();
        self.machine = run.machine;
        self.machine_failure.clone_from(&run.machine_failure);
        self.threw = run.summary.threw;
        self.open_model = lag.is_some();
        self.send_lag_p99 = lag;
        self.arrivals.clone_from(&run.arrivals);
        // Without a response, this would be a time of failures.
        let median = run.median(builtin::HTTP_REQ_DURATION);
        self.latency_median = median.filter(|_| http.responses() > 0);
        self.scheduled = run.scheduled_started + run.scheduled_dropped;
        self.dropped = run.scheduled_dropped;
        self.started = run.completed + run.interrupted;
        self.exhausted = http.exhausted;
        self.failed = failed.unwrap_or(0) + http.failed_calls;
        self.requests = run.count(builtin::HTTP_REQS) as u64 + http.calls;
        self.responses = http.responses();
        self.resent = http.resent;
        self.websocket_handshakes = http.websocket_handshakes();
        self.messages_sent = http.messages_sent;
        self.messages_received = http.messages_received;
        self.main_failure = main_failure(http);
        self.is_request_load = run.is_request_load;
        self.interrupted = run.interrupted;
        self.sent = Bytes(run.count(builtin::DATA_SENT) as u64);
        self.received = Bytes(run.count(builtin::DATA_RECEIVED) as u64);
        self.is_unstarted = self.started + self.scheduled + self.requests == 0;
    }
}

impl RunFigures<'_> {
    /// The value of a counter over the whole run.
    fn count(&self, metric: MetricId) -> f64 {
        (self.whole)(metric)
            .and_then(|values| values.count())
            .unwrap_or(0.0)
    }

    fn p99(&self, metric: MetricId) -> Option<Duration> {
        milliseconds((self.judged)(metric)?.quantile(0.99)?)
    }

    fn median(&self, metric: MetricId) -> Option<Duration> {
        milliseconds((self.judged)(metric)?.med()?)
    }

    /// The times of requests, and of their phases.
    fn service_times(&self, is_closed: bool) -> Option<ServiceTimes> {
        let values = (self.judged)(builtin::HTTP_REQ_DURATION)?;
        let times = values.histogram()?;
        let &[p10, median] = times.quantiles(&[0.1, 0.5]).as_slice() else {
            return None;
        };
        let median = milliseconds(median)?;
        let slow_from = ServiceTimes::slow_from(median).as_secs_f64() * 1e3;
        let slow = times.beyond(slow_from);
        let sum = |metric| milliseconds((self.judged)(metric)?.histogram()?.sum());
        let moving = [builtin::HTTP_REQ_SENDING, builtin::HTTP_REQ_RECEIVING];
        let count = |metric| (self.judged)(metric)?.count();
        let bytes = [builtin::DATA_SENT, builtin::DATA_RECEIVED];
        Some(ServiceTimes {
            count: times.count(),
            total: milliseconds(times.sum())?,
            least: milliseconds(times.min())?,
            p10: milliseconds(p10)?,
            median,
            slow: slow.0,
            slow_total: milliseconds(slow.1)?,
            moving: moving.into_iter().filter_map(sum).sum(),
            bytes: Bytes(bytes.into_iter().filter_map(count).sum::<f64>() as u64),
            closed_users: is_closed.then_some(self.users_most),
            elapsed: self.judged_time,
        })
    }
}

fn milliseconds(value: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value / 1e3).ok()
}
