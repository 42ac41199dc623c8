//! The metrics of a run for comparisons and histories, computed from its record.

use std::collections::BTreeMap;

use plimsoll_stats::interval::{self, Insufficient};
use plimsoll_stats::{Histogram, Interval, tail};

use crate::record::{Record, Second, failed_requests};
use crate::warm_up::WarmUp;

/// A metric of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The name in results and flags, such as `p95`.
    pub name: &'static str,
    /// The name for readers.
    pub label: &'static str,
    pub unit: &'static str,
    /// Whether more is worse.
    pub more_is_worse: bool,
    /// The quantile, if the metric is one.
    quantile: Option<f64>,
}

const fn figure(
    name: &'static str,
    label: &'static str,
    unit: &'static str,
    more_is_worse: bool,
    quantile: Option<f64>,
) -> Figure {
    Figure {
        name,
        label,
        unit,
        more_is_worse,
        quantile,
    }
}

/// The failed share. It may be 0, so comparisons use the difference instead of the ratio.
pub const FAILED: &str = "failed";
const RATE: &str = "rate";

/// All metrics.
pub const FIGURES: [Figure; 8] = [
    figure(RATE, "requests per second", "/s", false, None),
    figure(FAILED, "share of requests that failed", "", true, None),
    figure("mean", "mean", "ms", true, None),
    figure("p50", "median", "ms", true, Some(0.5)),
    figure("p90", "90th percentile", "ms", true, Some(0.9)),
    figure("p95", "95th percentile", "ms", true, Some(0.95)),
    figure("p99", "99th percentile", "ms", true, Some(0.99)),
    figure("p999", "99.9th percentile", "ms", true, Some(0.999)),
];

/// The metric with this name.
///
/// # Errors
/// Returns a message with the closest valid name.
pub fn find(name: &str) -> Result<&'static Figure, String> {
    FIGURES
        .iter()
        .find(|figure| figure.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
            let meant = plimsoll_units::nearest(name, names.iter().copied())
                .map_or(".".to_owned(), |meant| format!(", did you mean {meant}?"));
            format!(
                "unknown figure {name:?}{meant} The figures are {}",
                names.join(", ")
            )
        })
}

/// The metrics of times with their labels, the response time first. The first one that a record has
/// is used.
const TIMES: [(&str, &str); 5] = [
    ("http_req_response_time", "response time"),
    ("http_req_duration{expected_response:true}", "service time"),
    ("http_req_duration", "service time"),
    ("grpc_req_duration", "gRPC service time"),
    ("iteration_duration", "iteration duration"),
];

/// The first available metric of times, which describes a run, with its label.
pub fn times(has: impl Fn(&str) -> bool) -> Option<(&'static str, &'static str)> {
    TIMES.into_iter().find(|(name, _)| has(name))
}

/// What the rate counts. The first kind that a run has is used.
#[derive(Clone, Copy)]
enum Counted {
    HttpRequests,
    GrpcCalls,
    Iterations,
}

impl Counted {
    fn of(seconds: &[&Second]) -> Counted {
        let mut seconds = seconds.iter();
        if seconds
            .clone()
            .any(|second| second.counters.contains_key("http_reqs"))
        {
            Counted::HttpRequests
        } else if seconds.any(|second| second.rates.contains_key("grpc_req_failed")) {
            Counted::GrpcCalls
        } else {
            Counted::Iterations
        }
    }

    /// The successful ones in a second, because a service that refuses requests quickly must not look fast.
    fn successful(self, second: &Second) -> f64 {
        let counter = |name| second.counters.get(name).copied().unwrap_or(0.0);
        let rate = |name| second.rates.get(name).copied().unwrap_or((0, 0));
        match self {
            Counted::HttpRequests => {
                let (failed, _) = rate("http_req_failed");
                (counter("http_reqs") - failed as f64).max(0.0)
            }
            Counted::GrpcCalls => {
                let (failed, all) = rate("grpc_req_failed");
                all.saturating_sub(failed) as f64
            }
            Counted::Iterations => counter("iterations"),
        }
    }
}

/// The metrics of failures, and for each whether its passes count the failures.
const FAILURES: [(&str, bool); 3] = [
    ("http_req_failed", true),
    ("grpc_req_failed", true),
    ("checks", false),
];

/// The data of a run: its seconds without those excluded at the start.
#[derive(Clone, Debug)]
pub struct RunFigures {
    /// The label of the times.
    pub times: &'static str,
    values: BTreeMap<&'static str, f64>,
    windows: Vec<Histogram>,
    rates: Vec<Histogram>,
    failures: Vec<Histogram>,
}

impl RunFigures {
    /// Reads a record without its first `skip` seconds.
    ///
    /// # Errors
    /// Returns an error if no seconds remain, or if nothing was measured.
    pub fn of(record: &Record, skip: u64) -> Result<RunFigures, String> {
        let seconds: Vec<&Second> = record
            .seconds
            .iter()
            .filter(|second| second.second >= skip)
            .collect();
        if seconds.is_empty() {
            return Err(if record.seconds.is_empty() {
                "its record contains no seconds: the run did not start".to_owned()
            } else {
                format!("it has no seconds after the first {skip}, which are skipped")
            });
        }
        let has = |name: &str| {
            seconds
                .iter()
                .any(|second| second.trends.contains_key(name))
        };
        if let Some(why) = without_success(record) {
            return Err(why);
        }
        let Some((trend, times)) = TIMES.into_iter().find(|(name, _)| has(name)) else {
            return Err("it has no latencies: there was no response".to_owned());
        };
        let counted = Counted::of(&seconds);
        let failing = FAILURES.into_iter().find(|(name, _)| {
            seconds
                .iter()
                .any(|second| second.rates.contains_key(*name))
        });
        let mut run = RunFigures {
            times,
            values: BTreeMap::new(),
            windows: Vec::with_capacity(seconds.len()),
            rates: Vec::new(),
            failures: Vec::new(),
        };
        let (mut count, mut length) = (0.0, 0.0);
        for second in &seconds {
            if let Some(trend) = second.trends.get(trend) {
                let window = trend.histogram().ok_or_else(|| {
                    format!(
                        "the histogram of second {} contradicts itself",
                        second.second
                    )
                })?;
                run.windows.push(window);
            }
            let successful = counted.successful(second);
            count += successful;
            length += second.lasted.unwrap_or(1.0);
            if second.lasted.is_none() {
                let mut rate = Histogram::new();
                rate.record(successful);
                run.rates.push(rate);
            }
            if let Some((hits, all)) = failing.and_then(|(name, _)| second.rates.get(name)) {
                let hits = (*hits).min(*all);
                let failed = if failing.is_some_and(|(_, failures)| failures) {
                    hits
                } else {
                    all - hits
                };
                run.failures.extend(zeros_and_ones(all - failed, failed));
            }
        }
        run.values = run.read(count, length);
        Ok(run)
    }

    /// Reads a record without its warm-up, which is detected from the rate and the mean latency of
    /// each second.
    ///
    /// # Errors
    /// See [`RunFigures::of`].
    pub fn without_warm_up(record: &Record) -> Result<(RunFigures, WarmUp), String> {
        let whole = RunFigures::of(record, 0)?;
        let means = |windows: &[Histogram]| windows.iter().map(Histogram::mean).collect();
        let mut series: Vec<Vec<f64>> = vec![means(&whole.rates)];
        // A second without a response has no mean. With such a second, the means do not line up
        // with the rates, so use them only if they are complete.
        if whole.windows.len() >= whole.rates.len() {
            series.push(means(&whole.windows));
        }
        let warm_up = WarmUp::of(&series);
        let figures = match warm_up.seconds() {
            0 => whole,
            seconds => RunFigures::of(record, seconds)?,
        };
        Ok((figures, warm_up))
    }

    fn read(&self, count: f64, length: f64) -> BTreeMap<&'static str, f64> {
        let times = merge_all(&self.windows);
        let failures = merge_all(&self.failures);
        FIGURES
            .iter()
            .filter_map(|figure| {
                let value = match (figure.quantile, figure.name) {
                    (Some(q), _) => tail::reliable_quantile(&times, q)?,
                    (None, RATE) if length > 0.0 => count / length,
                    (None, FAILED) if !failures.is_empty() => failures.mean(),
                    (None, "mean") if !times.is_empty() => times.mean(),
                    _ => return None,
                };
                Some((figure.name, value))
            })
            .collect()
    }

    /// The value of the metric. `None` if there are too few samples: for a quantile, fewer than ten
    /// above it.
    pub fn value(&self, figure: &Figure) -> Option<f64> {
        self.values.get(figure.name).copied()
    }

    /// The confidence interval of the metric, from the seconds of the run.
    ///
    /// # Errors
    /// Returns an error if the run is too short for an interval.
    pub fn interval(&self, figure: &Figure, confidence: f64) -> Result<Interval, Insufficient> {
        const SEED: u64 = 1;
        match (figure.quantile, figure.name) {
            (Some(q), _) => interval::quantile(&self.windows, q, confidence, SEED),
            (None, RATE) => interval::mean(&self.rates, confidence, SEED),
            (None, FAILED) => interval::mean(&self.failures, confidence, SEED),
            (None, _) => interval::mean(&self.windows, confidence, SEED),
        }
    }
}

/// Why a run has no times, if all its requests failed. k6's `http_req_duration` contains failed requests, as 0 without a
/// connection.
fn without_success(record: &Record) -> Option<String> {
    let end = record.end.as_ref()?;
    let (failed, all) = failed_requests(&end.rates)?;
    if failed == 0 || failed < all {
        return None;
    }
    let mut reasons = end.generator.reasons.iter();
    let why = reasons.find(|(cause, _)| cause == "server");
    let why = why.map_or(String::new(), |(_, why)| format!(" ({why})"));
    Some(format!("every request failed{why}, so it has no times"))
}

fn merge_all(windows: &[Histogram]) -> Histogram {
    let mut sum = Histogram::new();
    windows.iter().for_each(|window| sum.merge(window));
    sum
}

fn zeros_and_ones(zeros: u64, ones: u64) -> Option<Histogram> {
    let min = if zeros > 0 { 0.0 } else { 1.0 };
    let max = if ones > 0 { 1.0 } else { 0.0 };
    Histogram::restored(ones as f64, min, max, [(0.0, zeros), (1.0, ones)])
}
