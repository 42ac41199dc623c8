//! The figures of each agent of a fleet.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_machine::ThreadReading;
use plimsoll_results::secrets::for_display;
use plimsoll_run::AgentReading;
use plimsoll_samples::{Window, builtin};
use plimsoll_stats::Histogram;
use serde::Serialize;

use crate::display::{LATENCIES, MAX_ROWS};

/// Maximum number of agents with charts. At this number, each point of an hour's history has 32 small parts.
const CHARTS: usize = 32;

/// The results of an agent in one period of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentPoint {
    pub requests: u64,
    pub failed: u64,
    /// Iterations that completed.
    pub finished: u64,
    /// Latencies in milliseconds. In merged points, the largest. `None` if nothing completed.
    pub p50: Option<f64>,
    pub p99: Option<f64>,
}

/// The results of an agent in the whole run so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentRow {
    pub name: String,
    pub region: Option<String>,
    pub users: u32,
    pub requests: u64,
    pub failed: u64,
    pub finished: u64,
    /// Latencies in milliseconds. `None` if nothing completed.
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
    /// The processor share of its busiest worker in the latest second, from 0 to 1.
    pub cpu: f64,
    /// Why the agent was lost.
    pub lost: Option<String>,
}

/// Adds up the samples of each agent's workers.
#[derive(Debug, Default)]
pub struct AgentSums {
    /// The sums since the latest point, by worker. The agent of a new worker may not be known yet.
    workers: BTreeMap<usize, Sums>,
    /// The sums of the whole run, by agent.
    whole: Vec<Sums>,
}

#[derive(Debug)]
struct Sums {
    requests: u64,
    failed: u64,
    finished: u64,
    cpu: f64,
    latencies: [Histogram; LATENCIES.len()],
}

impl Default for Sums {
    fn default() -> Self {
        Sums {
            requests: 0,
            failed: 0,
            finished: 0,
            cpu: 0.0,
            latencies: std::array::from_fn(|_| Histogram::new()),
        }
    }
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.finished += other.finished;
        self.cpu = self.cpu.max(other.cpu);
        for (ours, theirs) in self.latencies.iter_mut().zip(&other.latencies) {
            ours.merge(theirs);
        }
    }

    /// The latencies, if there are any. `metric` is an index into [`LATENCIES`].
    fn latency(&self, metric: Option<usize>) -> Option<&Histogram> {
        let histogram = self.latencies.get(metric?)?;
        (!histogram.is_empty()).then_some(histogram)
    }
}

impl AgentSums {
    /// Adds the samples that a worker recorded while scenarios ran.
    pub fn window(&mut self, worker: usize, window: &Window, thread: Option<&ThreadReading>) {
        let sums = self.workers.entry(worker).or_default();
        // The duration only affects the rates of counters.
        let values = |metric| window.values(metric, Duration::from_secs(1));
        let count = |metric| values(metric).and_then(|values| values.count());
        let (calls, failed_calls) = window.calls();
        let failed = values(builtin::HTTP_REQ_FAILED).and_then(|values| values.passes());
        sums.requests += count(builtin::HTTP_REQS).unwrap_or(0.0) as u64 + calls;
        sums.failed += failed.unwrap_or(0) + failed_calls;
        sums.finished += count(builtin::ITERATIONS).unwrap_or(0.0) as u64;
        for (sum, (metric, _)) in sums.latencies.iter_mut().zip(LATENCIES) {
            if let Some(histogram) = values(metric)
                .as_ref()
                .and_then(|values| values.histogram())
            {
                sum.merge(histogram);
            }
        }
        if let Some(thread) = thread.filter(|thread| !thread.span.is_zero()) {
            let share = thread.cpu.as_secs_f64() / thread.span.as_secs_f64();
            sums.cpu = sums.cpu.max(share);
        }
    }

    /// The period that ends now, for the agents that have charts.
    pub fn points(&mut self, agents: &[AgentReading], metric: Option<usize>) -> Vec<AgentPoint> {
        self.whole.resize_with(agents.len(), Sums::default);
        let mut points = Vec::new();
        for (agent, whole) in agents.iter().zip(&mut self.whole) {
            let mut stretch = Sums::default();
            for worker in &agent.workers {
                if let Some(sums) = self.workers.remove(worker) {
                    stretch.add(&sums);
                }
            }
            // Processor use is that of the latest second only.
            whole.cpu = 0.0;
            whole.add(&stretch);
            if points.len() < CHARTS {
                let latency = stretch.latency(metric);
                points.push(AgentPoint {
                    requests: stretch.requests,
                    failed: stretch.failed,
                    finished: stretch.finished,
                    p50: latency.map(|latency| latency.quantile(0.5)),
                    p99: latency.map(|latency| latency.quantile(0.99)),
                });
            }
        }
        points
    }

    /// The results of the whole run so far.
    pub fn rows(&self, agents: &[AgentReading], metric: Option<usize>) -> Vec<AgentRow> {
        let none = Sums::default();
        let rows = agents
            .iter()
            .enumerate()
            .take(MAX_ROWS)
            .map(|(number, agent)| {
                let sums = self.whole.get(number).unwrap_or(&none);
                let latency = sums.latency(metric);
                AgentRow {
                    name: for_display(&agent.name).into_owned(),
                    region: agent.region.clone(),
                    users: agent.users,
                    requests: sums.requests,
                    failed: sums.failed,
                    finished: sums.finished,
                    p50: latency.map(|latency| latency.quantile(0.5)),
                    p99: latency.map(|latency| latency.quantile(0.99)),
                    max: latency.map(|latency| latency.max()),
                    cpu: sums.cpu,
                    lost: agent
                        .lost
                        .as_ref()
                        .map(|loss| for_display(&loss.why).into_owned()),
                }
            });
        rows.collect()
    }
}

impl AgentPoint {
    /// Adds the next period.
    pub fn append(&mut self, next: &AgentPoint) {
        self.requests += next.requests;
        self.failed += next.failed;
        self.finished += next.finished;
        let larger = |ours: Option<f64>, theirs: Option<f64>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => Some(ours.max(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        self.p50 = larger(self.p50, next.p50);
        self.p99 = larger(self.p99, next.p99);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str, workers: &[usize]) -> AgentReading {
        AgentReading {
            name: name.to_owned(),
            workers: workers.to_vec(),
            ..AgentReading::default()
        }
    }

    fn sums(requests: u64, cpu: f64, latencies: &[f64]) -> Sums {
        let mut sums = Sums {
            requests,
            cpu,
            ..Sums::default()
        };
        sums.latencies[1].record_all(latencies);
        sums
    }

    #[test]
    fn workers_count_for_their_agent_as_soon_as_it_is_known() {
        let mut all = AgentSums::default();
        all.workers.insert(0, sums(10, 0.5, &[1.0; 10]));
        all.workers.insert(1, sums(5, 0.75, &[3.0; 5]));
        all.workers.insert(2, sums(7, 0.25, &[]));
        let early = [agent("one", &[0, 1])];
        let points = all.points(&early, Some(1));
        assert_eq!(points.len(), 1);
        assert_eq!(points[0].requests, 15);
        assert!((points[0].p50.unwrap() - 1.0).abs() < 0.05, "{points:?}");
        assert!((points[0].p99.unwrap() - 3.0).abs() < 0.1, "{points:?}");

        let both = [agent("one", &[0, 1]), agent("two", &[2])];
        let points = all.points(&both, Some(1));
        assert_eq!((points[0].requests, points[0].p99), (0, None));
        assert_eq!((points[1].requests, points[1].p99), (7, None));
        let rows = all.rows(&both, Some(1));
        assert_eq!((rows[0].requests, rows[1].requests), (15, 7));
        assert_eq!((rows[0].cpu, rows[1].cpu), (0.0, 0.25));
        assert_eq!((rows[0].max, rows[1].max), (Some(3.0), None));
    }

    #[test]
    fn many_agents_have_rows_but_not_all_have_charts() {
        let agents: Vec<_> = (0..MAX_ROWS + 1).map(|at| agent("a", &[at])).collect();
        let mut all = AgentSums::default();
        all.workers.insert(CHARTS, sums(3, 0.0, &[]));
        assert_eq!(all.points(&agents, None).len(), CHARTS);
        let rows = all.rows(&agents, None);
        assert_eq!((rows.len(), rows[CHARTS].requests), (MAX_ROWS, 3));
    }

    #[test]
    fn merged_points_keep_counts_and_the_largest_latency() {
        let mut point = AgentPoint {
            requests: 4,
            p99: Some(2.0),
            ..AgentPoint::default()
        };
        point.append(&AgentPoint {
            requests: 5,
            failed: 1,
            p50: Some(1.0),
            p99: Some(1.5),
            ..AgentPoint::default()
        });
        assert_eq!((point.requests, point.failed), (9, 1));
        assert_eq!((point.p50, point.p99), (Some(1.0), Some(2.0)));
    }
}
