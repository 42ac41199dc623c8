//! The figures of a run, from its record.

use plimsoll_results::distribution::Distribution;
use plimsoll_results::figures::times;
use plimsoll_results::record::{End, Header, Record, Second, failed_requests};
use plimsoll_stats::Histogram;

/// A run as it is reported.
pub struct RunView<'a> {
    /// `A` or `B`; empty for the only run of a report.
    pub label: &'a str,
    pub header: &'a Header,
    pub record: &'a Record,
    /// The results. For a killed run, the sums of its seconds.
    pub end: End,
    /// The run was killed: its record has no end.
    pub is_killed: bool,
    /// The time in which requests could start, in seconds.
    pub load_seconds: f64,
    /// The metric of the times, and its label.
    pub times: Option<(&'static str, &'static str)>,
    /// The counted events.
    pub unit: Unit,
}

/// The events that a run's rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Requests,
    Calls,
    Iterations,
}

impl Unit {
    /// `request` or `requests`.
    pub fn noun(self, count: u64) -> &'static str {
        match (self, count) {
            (Unit::Requests, 1) => "request",
            (Unit::Requests, _) => "requests",
            (Unit::Calls, 1) => "call",
            (Unit::Calls, _) => "calls",
            (Unit::Iterations, 1) => "iteration",
            (Unit::Iterations, _) => "iterations",
        }
    }
}

/// A second of a run, or several combined.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Its start, in seconds from the start of the run.
    pub at: f64,
    /// Its length in seconds.
    pub length: f64,
    pub requests: f64,
    pub failed: u64,
    /// Iterations that were due while no user was free.
    pub dropped: f64,
    /// Milliseconds.
    pub times: Histogram,
    /// How late iterations of an open model started, in milliseconds.
    pub lag: Histogram,
    /// Users at its end.
    pub users: u32,
    /// Iterations in flight, on average.
    pub in_flight: f64,
    /// Processor time of the generator, in seconds.
    pub cpu: f64,
}

impl<'a> RunView<'a> {
    /// Reads a record.
    pub fn of(label: &'a str, record: &'a Record) -> RunView<'a> {
        let end = record.end.clone().unwrap_or_else(|| sum_seconds(record));
        let has = |name: &str| end.trends.get(name).is_some_and(|trend| trend.count > 0);
        let unit = if end.counters.contains_key("http_reqs") {
            Unit::Requests
        } else if has("grpc_req_duration") {
            Unit::Calls
        } else {
            Unit::Iterations
        };
        RunView {
            label,
            header: &record.header,
            record,
            is_killed: record.end.is_none(),
            load_seconds: record
                .seconds
                .iter()
                .map(|second| second.lasted.unwrap_or(1.0))
                .sum(),
            times: times(has),
            unit,
            end,
        }
    }

    /// `valid`, `suspect`, `invalid`, or `killed`.
    pub fn verdict(&self) -> &str {
        match self.end.generator.verdict.as_str() {
            _ if self.is_killed => "killed",
            "" => "unknown",
            verdict => verdict,
        }
    }

    /// The reasons of the verdict, each with its cause.
    pub fn reasons(&self) -> String {
        let reasons = self.end.generator.reasons.iter();
        let texts: Vec<String> = reasons
            .map(|(cause, text)| format!("{cause}: {text}"))
            .collect();
        texts.join("; ")
    }

    /// All requests, calls or iterations.
    pub fn count(&self) -> u64 {
        count_operations(
            self.unit,
            |name| self.end.counters.get(name).copied(),
            |name| self.end.trends.get(name),
        ) as u64
    }

    /// The rate that the command printed, per second. `None` if nothing responded.
    pub fn rate(&self) -> Option<f64> {
        let seconds = self.rate_seconds();
        let is_answered =
            self.unit != Unit::Requests || self.is_killed || !self.end.protocols.is_empty();
        (seconds > 0.0 && is_answered).then(|| self.count() as f64 / seconds)
    }

    /// The time over which rates are computed. k6's are over the whole run, those of other commands over the time in
    /// which requests started.
    pub fn rate_seconds(&self) -> f64 {
        match self.header.kind.as_str() {
            "run" => self.end.duration_seconds,
            _ => self.load_seconds,
        }
    }

    /// The rate without failed requests, and its unit: a service that refuses requests quickly must not look fast.
    pub fn successful_rate(&self) -> Option<(f64, String)> {
        let (rate, unit) = (self.rate()?, self.unit.noun(2));
        match self.failed() {
            Some((failed, all)) if failed > 0 && self.unit != Unit::Iterations => {
                let share = 1.0 - failed as f64 / all.max(1) as f64;
                Some((rate * share, format!("successful {unit}/s")))
            }
            _ => Some((rate, format!("{unit}/s"))),
        }
    }

    /// Failed requests and all of them, if failures are known.
    pub fn failed(&self) -> Option<(u64, u64)> {
        failed_requests(&self.end.rates)
    }

    /// The times of the whole run, in milliseconds.
    pub fn latency(&self) -> Option<Histogram> {
        self.trend(self.times?.0)
    }

    /// A trend of the whole run; `None` if it is empty.
    pub fn trend(&self, name: &str) -> Option<Histogram> {
        let histogram = self.end.trends.get(name)?.histogram()?;
        (!histogram.is_empty()).then_some(histogram)
    }

    /// The seconds of load, combined so that there are at most `max` steps.
    pub fn steps(&self, max: usize) -> Vec<Step> {
        let seconds = &self.record.seconds;
        let each = seconds.len().div_ceil(max.max(1)).max(1);
        seconds.chunks(each).map(|chunk| self.step(chunk)).collect()
    }

    fn step(&self, seconds: &[Second]) -> Step {
        let mut step = Step {
            at: seconds.first().map_or(0.0, |second| second.second as f64),
            ..Step::default()
        };
        for second in seconds {
            let length = second.lasted.unwrap_or(1.0);
            step.length += length;
            step.requests += count_operations(
                self.unit,
                |name| second.counters.get(name).copied(),
                |name| second.trends.get(name),
            );
            step.failed += second.failed();
            let dropped = second.counters.get("dropped_iterations");
            step.dropped += dropped.copied().unwrap_or(0.0);
            let merge = |into: &mut Histogram, name: &str| {
                let trend = second.trends.get(name);
                if let Some(histogram) = trend.and_then(Distribution::histogram) {
                    into.merge(&histogram);
                }
            };
            if let Some((times, _)) = self.times {
                merge(&mut step.times, times);
            }
            merge(&mut step.lag, "iteration_send_lag");
            step.users = step.users.max(second.users);
            step.in_flight += second.in_flight * length;
            step.cpu += second.generator_cpu_seconds;
        }
        if step.length > 0.0 {
            step.in_flight /= step.length;
        }
        step
    }
}

impl Step {
    pub fn per_second(&self, count: f64) -> f64 {
        if self.length > 0.0 {
            count / self.length
        } else {
            0.0
        }
    }

    /// A quantile of the times; `None` if there were none.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        (!self.times.is_empty()).then(|| self.times.quantile(q))
    }

    /// The longest time.
    pub fn longest(&self) -> Option<f64> {
        (!self.times.is_empty()).then(|| self.times.max())
    }
}

fn count_operations<'d>(
    unit: Unit,
    counter: impl Fn(&str) -> Option<f64>,
    trend: impl Fn(&str) -> Option<&'d Distribution>,
) -> f64 {
    match unit {
        Unit::Requests => counter("http_reqs").unwrap_or(0.0),
        Unit::Calls => trend("grpc_req_duration").map_or(0.0, |calls| calls.count as f64),
        Unit::Iterations => counter("iterations").unwrap_or(0.0),
    }
}

/// The sums of a killed run's seconds.
fn sum_seconds(record: &Record) -> End {
    let mut whole = Second::default();
    let mut end = End::default();
    for second in record.seconds.iter().chain(&record.tail) {
        end.duration_seconds += second.lasted.unwrap_or(1.0);
        end.generator.cpu_seconds += second.generator_cpu_seconds;
        whole.add(second.clone());
    }
    End {
        counters: whole.counters,
        rates: whole.rates,
        gauges: whole.gauges,
        trends: whole.trends,
        ..end
    }
}
