//! The figures of one period of a run.

use plimsoll_stats::Histogram;
use serde::Serialize;

use crate::agents::AgentPoint;
use crate::spread::Spread;

/// The figures of one period, by default a second. All counts refer to the period.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// The start of the period, in seconds since the start of the run.
    pub start: f64,
    /// Its length in seconds.
    pub span: f64,
    /// Scheduled iterations. `None` in a closed model.
    pub offered: Option<u64>,
    /// Iterations that started and that completed, of scenarios with a schedule.
    pub scheduled_started: u64,
    pub scheduled_finished: u64,
    /// Iterations that started.
    pub started: u64,
    /// Iterations that completed.
    pub finished: u64,
    /// Scheduled iterations for which no user was free.
    pub dropped: u64,
    /// Completed requests and calls, including failed ones.
    pub requests: u64,
    /// Requests and calls that failed.
    pub failed: u64,
    /// Bytes on sockets, by direction.
    pub received: u64,
    pub sent: u64,
    /// Users that ran iterations at the end of the period. In merged points, the highest number.
    pub users: u32,
    /// Mean number of iterations in flight.
    pub in_flight: f64,
    /// `None` if nothing completed.
    pub latency: Option<Latency>,
    /// 99th percentile of the send lag in milliseconds. In merged points, the largest. `None` in a closed model.
    pub lag: Option<f64>,
    /// Processor share of the busiest worker. In merged points, the largest.
    pub cpu: f64,
    /// Largest lateness of a worker's timers in milliseconds.
    pub late: f64,
    /// Memory of the generator in bytes, at the end of the period.
    pub memory: u64,
    /// The number of processors that the measured system uses. `None` if unknown.
    pub system_cpu: Option<f64>,
    /// The agents of a fleet. Empty without a fleet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentPoint>,
}

/// Latencies in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
    pub spread: Spread,
}

impl Point {
    /// Adds the next period.
    pub fn append(&mut self, next: &Point) {
        let whole = self.span + next.span;
        if whole > 0.0 {
            self.in_flight = (self.in_flight * self.span + next.in_flight * next.span) / whole;
            self.system_cpu = match (self.system_cpu, next.system_cpu) {
                (Some(ours), Some(theirs)) => Some((ours * self.span + theirs * next.span) / whole),
                (ours, theirs) => ours.or(theirs),
            };
        }
        self.span = whole;
        self.offered = match (self.offered, next.offered) {
            (None, None) => None,
            (ours, theirs) => Some(ours.unwrap_or(0) + theirs.unwrap_or(0)),
        };
        self.scheduled_started += next.scheduled_started;
        self.scheduled_finished += next.scheduled_finished;
        self.started += next.started;
        self.finished += next.finished;
        self.dropped += next.dropped;
        self.requests += next.requests;
        self.failed += next.failed;
        self.received += next.received;
        self.sent += next.sent;
        self.users = self.users.max(next.users);
        match (&mut self.latency, &next.latency) {
            (Some(ours), Some(theirs)) => ours.merge(theirs),
            (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
            (_, None) => {}
        }
        self.lag = match (self.lag, next.lag) {
            (Some(ours), Some(theirs)) => Some(ours.max(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        self.cpu = self.cpu.max(next.cpu);
        self.late = self.late.max(next.late);
        self.memory = next.memory;
        if self.agents.len() < next.agents.len() {
            self.agents.resize(next.agents.len(), AgentPoint::default());
        }
        for (ours, theirs) in self.agents.iter_mut().zip(&next.agents) {
            ours.append(theirs);
        }
    }
}

impl Latency {
    /// The figures of a histogram of milliseconds.
    pub fn of(histogram: &Histogram) -> Latency {
        let quantiles = histogram.quantiles(&[0.5, 0.95, 0.99]);
        let at = |place: usize| quantiles.get(place).copied().unwrap_or(0.0);
        Latency {
            p50: at(0),
            p95: at(1),
            p99: at(2),
            max: histogram.max(),
            spread: Spread::of(histogram),
        }
    }

    fn merge(&mut self, other: &Latency) {
        self.spread.merge(&other.spread);
        self.max = self.max.max(other.max);
        let quantile = |q: f64| self.spread.quantile(q).unwrap_or(0.0).min(self.max);
        (self.p50, self.p95, self.p99) = (quantile(0.5), quantile(0.95), quantile(0.99));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(values: &[f64]) -> Latency {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        Latency::of(&histogram)
    }

    #[test]
    fn merging_adds_counts_but_not_levels() {
        let mut point = Point {
            start: 3.0,
            span: 1.0,
            offered: Some(100),
            started: 90,
            dropped: 10,
            requests: 80,
            users: 7,
            in_flight: 4.0,
            latency: Some(latency(&[10.0; 99])),
            lag: Some(0.5),
            ..Point::default()
        };
        point.append(&Point {
            start: 4.0,
            span: 3.0,
            offered: Some(300),
            started: 300,
            requests: 310,
            failed: 2,
            received: 9,
            users: 5,
            in_flight: 8.0,
            latency: Some(latency(&[1_000.0; 3])),
            lag: Some(0.2),
            memory: 9,
            system_cpu: Some(0.5),
            ..Point::default()
        });
        assert_eq!(point.system_cpu, Some(0.5));
        point.system_cpu = Some(2.0);
        let next = Point {
            span: 4.0,
            system_cpu: Some(1.0),
            memory: 9,
            ..Point::default()
        };
        let mut longer = point.clone();
        longer.append(&next);
        assert_eq!(longer.system_cpu, Some(1.5));
        assert_eq!((point.start, point.span), (3.0, 4.0));
        assert_eq!((point.offered, point.started), (Some(400), 390));
        assert_eq!((point.dropped, point.requests, point.failed), (10, 390, 2));
        assert_eq!((point.received, point.sent), (9, 0));
        assert_eq!(
            (point.users, point.in_flight, point.lag),
            (7, 7.0, Some(0.5))
        );
        let latency = point.latency.unwrap();
        assert!((latency.p50 / 10.0 - 1.0).abs() < 0.03, "{latency:?}");
        assert!((latency.p99 / 1_000.0 - 1.0).abs() < 0.03, "{latency:?}");
        assert_eq!((latency.max, point.memory), (1_000.0, 9));
    }
}
