//! One trial's figures, and whether it kept the objective.

use results::record::{End, Record};
use stats::Histogram;

use crate::args::FindArgs;

/// Of the rate asked for, what must have been served.
const SERVED: f64 = 0.95;
/// What an objective is about, the first that a run has. The last is of any script.
const METRICS: [&str; 2] = ["http_req_response_time", "iteration_duration"];

/// One trial's figures.
pub struct Trial {
    pub rate: u64,
    pub soak: bool,
    /// Iterations, or requests, per second.
    pub served: f64,
    pub failed: f64,
    /// The metric that the figures are of.
    pub metric: &'static str,
    /// Milliseconds, in the order of the objectives.
    pub figures: Vec<f64>,
    /// Iterations under way on average, counted.
    pub in_flight: f64,
    /// The same by Little's law: served × mean duration.
    pub by_little: f64,
    pub verdict: String,
    pub reasons: Vec<String>,
    /// Why it was not kept; empty if it was.
    pub broken: Vec<String>,
}

impl Trial {
    /// Reads a trial off the record of its run.
    ///
    /// # Errors
    /// When the run has none of the figures.
    pub fn of(args: &FindArgs, rate: u64, soak: bool, record: &Record) -> Result<Trial, String> {
        let warm_up = args.warm_up.as_secs();
        let Some(end) = &record.end_without(warm_up) else {
            return Err("the trial's record has no end".to_owned());
        };
        let histogram = |name| {
            let times = end.trends.get(name)?.histogram()?;
            (!times.is_empty()).then_some(times)
        };
        let found = METRICS
            .into_iter()
            .find_map(|metric| Some((metric, histogram(metric)?)));
        let (metric, times) = found.unwrap_or(("iteration_duration", Histogram::new()));
        let figures = args
            .objectives
            .iter()
            .map(|objective| figure(&times, objective.figure))
            .collect();
        let seconds = end.duration_seconds;
        let count = |name| end.counters.get(name).copied();
        let iterations = count("iterations").or(count("http_reqs")).unwrap_or(0.0);
        let served = if seconds > 0.0 {
            iterations / seconds
        } else {
            f64::NAN
        };
        let mean = histogram("iteration_duration").map_or(f64::NAN, |times| times.mean());
        let whole: Vec<f64> = record
            .seconds
            .iter()
            .filter(|second| second.lasted.is_none() && second.second >= warm_up)
            .map(|second| second.in_flight)
            .collect();
        let mut trial = Trial {
            rate,
            soak,
            served,
            failed: failed(end),
            metric,
            figures,
            in_flight: whole.iter().sum::<f64>() / whole.len() as f64,
            by_little: served * mean / 1e3,
            verdict: end.generator.verdict.clone(),
            reasons: end
                .generator
                .reasons
                .iter()
                .map(|(cause, text)| format!("{cause}: {text}"))
                .collect(),
            broken: Vec::new(),
        };
        trial.judge(args, end);
        Ok(trial)
    }

    fn judge(&mut self, args: &FindArgs, end: &End) {
        let broken = &mut self.broken;
        for (objective, figure) in args.objectives.iter().zip(&self.figures) {
            if !objective.holds(*figure) {
                broken.push(format!("not {}", objective.text));
            }
        }
        // What is no number keeps nothing.
        if self.failed.is_nan() || self.failed > args.fail_rate {
            broken.push(format!("{:.2}% failed", self.failed * 100.0));
        }
        if self.served.is_nan() || self.served < self.rate as f64 * SERVED {
            broken.push(format!("served {:.0}/s of {}/s", self.served, self.rate));
        }
        if let Some(why) = &end.aborted {
            broken.push(format!("broken off by {why}"));
        }
    }

    /// How far the count of iterations under way is from what Little's law makes of rate
    /// and duration, as a share of that. None where fewer than one was under way: ten
    /// looks a second see too few of them.
    pub fn little_residual(&self) -> Option<f64> {
        let residual = self.in_flight / self.by_little - 1.0;
        (self.by_little >= 1.0 && residual.is_finite()).then_some(residual)
    }

    /// A line of the course of the search.
    pub fn line(&self, args: &FindArgs) -> String {
        let figures: Vec<String> = args
            .objectives
            .iter()
            .zip(&self.figures)
            .map(|(objective, figure)| format!("{}={figure:.2}ms", objective.figure))
            .collect();
        let what = if self.soak { "soak" } else { "try" };
        let doubt = if self.verdict == "valid" {
            String::new()
        } else {
            format!(" ({})", self.verdict)
        };
        format!(
            "{what:>4} {:>8}/s  {}  {}{doubt}",
            self.rate,
            figures.join(" "),
            self.outcome()
        )
    }

    /// `kept`, or why not.
    pub fn outcome(&self) -> String {
        if self.broken.is_empty() {
            "kept".to_owned()
        } else {
            self.broken.join(", ")
        }
    }
}

/// No answer at all keeps no objective.
fn figure(times: &Histogram, name: &str) -> f64 {
    if times.is_empty() {
        return f64::NAN;
    }
    match name {
        "mean" => times.mean(),
        "max" => times.max(),
        "p50" => times.quantile(0.5),
        "p90" => times.quantile(0.9),
        "p95" => times.quantile(0.95),
        "p99" => times.quantile(0.99),
        _ => times.quantile(0.999),
    }
}

/// The share of requests that failed; of a script without requests, of its checks.
fn failed(end: &End) -> f64 {
    let share = |name: &str| {
        let (hits, all) = *end.rates.get(name)?;
        (all > 0).then(|| hits as f64 / all as f64)
    };
    share("http_req_failed")
        .or(share("grpc_req_failed"))
        .or(share("checks").map(|held| 1.0 - held))
        .unwrap_or(0.0)
}
