//! The figures of one trial, and its outcome.

use plimsoll_results::record::{End, Record};
use plimsoll_stats::Histogram;
use plimsoll_stats::limit::Outcome;

use crate::Settings;

/// The minimum share of the requested rate that must be served.
const MIN_SERVED_SHARE: f64 = 0.95;
/// How often a busy generator delays a request: when it sends the request, and when it reads the response.
const DELAYS: f64 = 2.0;
/// The metrics that an objective can use. The first one that a run has is used. The last one exists for any script.
const METRICS: [&str; 2] = ["http_req_response_time", "iteration_duration"];

/// The figures of one trial.
pub struct Trial {
    pub rate: u64,
    pub soak: bool,
    /// The served rate of iterations or requests, per second.
    pub served: f64,
    /// The share of failed requests, or of failed checks for a script without requests, from 0 to 1.
    pub failed: f64,
    /// Whether the service itself refused more requests than may fail: with a response, so the generator is not the cause.
    has_refused: bool,
    /// The metric of the times.
    pub metric: &'static str,
    /// The times in milliseconds, in the order of the objectives.
    pub figures: Vec<f64>,
    /// For each objective, the number of requests that its percentile needs, if the trial had too few to judge it.
    pub needed: Vec<Option<u64>>,
    /// The number of requests that were due, including the dropped ones.
    pub due: u64,
    /// Whether the trial had enough requests for its outcome.
    has_enough: bool,
    /// Whether a figure misses its objective even without the delays of the generator itself.
    is_slow_without_delay: bool,
    /// The mean number of iterations in flight, by count.
    pub in_flight: f64,
    /// The mean number of iterations in flight by Little's law: served rate × mean duration.
    pub by_little: f64,
    /// The share of the schedule that was dropped because all users were busy.
    pub dropped: f64,
    /// The highest number of users.
    pub users: u32,
    /// The mean duration of an iteration, in milliseconds.
    pub iteration: f64,
    pub verdict: String,
    /// The verdict's reasons, in the form `cause: sentence`.
    pub reasons: Vec<String>,
    /// Why the objective was missed. Empty if it was met.
    pub broken: Vec<String>,
    /// Whether iterations were dropped although those that started met the objective.
    pub short_of_users: bool,
}

impl Trial {
    /// Reads a trial's figures from the record of its run.
    ///
    /// # Errors
    /// If a figure is missing.
    pub fn of(
        settings: &Settings,
        rate: u64,
        soak: bool,
        record: &Record,
    ) -> Result<Trial, String> {
        let warm_up = settings.warm_up.as_secs();
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
        let count = |name| end.counters.get(name).copied();
        // If every request failed, the durations of iterations are those of failures.
        let found = found.filter(|_| failed(end) < 1.0);
        let (metric, times) = found.unwrap_or((METRICS[0], Histogram::new()));
        let dropped = count("dropped_iterations").unwrap_or(0.0);
        let figures = |dropped: f64| -> Vec<f64> {
            let objectives = settings.objectives.iter();
            objectives
                .map(|objective| objective.measure(&times, dropped))
                .collect()
        };
        let seconds = end.duration_seconds;
        let iterations = count("iterations").or(count("http_reqs")).unwrap_or(0.0);
        let started = if seconds > 0.0 {
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
            served: started - growth(&whole).max(0.0),
            failed: failed(end),
            has_refused: refused(end) > settings.fail_rate,
            metric,
            figures: figures(dropped),
            needed: settings
                .objectives
                .iter()
                .map(|objective| objective.values_needed(&times, dropped))
                .collect(),
            due: times.count() + dropped as u64,
            has_enough: true,
            is_slow_without_delay: false,
            in_flight: whole.iter().sum::<f64>() / whole.len() as f64,
            by_little: started * mean / 1e3,
            dropped: if dropped > 0.0 {
                dropped / (dropped + iterations)
            } else {
                0.0
            },
            users: record
                .seconds
                .iter()
                .map(|second| second.users)
                .max()
                .unwrap_or(0),
            iteration: mean,
            verdict: end.generator.verdict.clone(),
            reasons: end
                .generator
                .reasons
                .iter()
                .map(|(cause, text)| format!("{cause}: {text}"))
                .collect(),
            broken: Vec::new(),
            short_of_users: false,
        };
        trial.judge(settings, end.aborted.as_deref(), &figures(0.0));
        if let Some(lag) = histogram("iteration_send_lag") {
            trial.is_slow_without_delay =
                settings
                    .objectives
                    .iter()
                    .zip(figures(0.0))
                    .any(|(objective, figure)| {
                        let delay = match objective.figure {
                            "max" => lag.max(),
                            _ => lag.quantile(0.99),
                        };
                        figure.is_finite() && !objective.holds(figure - DELAYS * delay)
                    });
        }
        Ok(trial)
    }

    /// `started` contains the figures of the started iterations, without the dropped ones.
    fn judge(&mut self, settings: &Settings, aborted: Option<&str>, started: &[f64]) {
        let holds = |figures: &[f64]| -> Vec<bool> {
            let pairs = settings.objectives.iter().zip(figures);
            pairs
                .map(|(objective, figure)| objective.holds(*figure))
                .collect()
        };
        let broken = &mut self.broken;
        let judged = settings.objectives.iter().zip(holds(&self.figures));
        let mut missed_surely = false;
        for ((objective, holds), needed) in judged.zip(&self.needed) {
            if !holds {
                broken.push(format!("not {}", objective.text));
                missed_surely |= needed.is_none();
            }
        }
        let by_objectives = broken.len();
        // NaN meets no objective.
        let failed = self.failed.is_nan() || self.failed > settings.fail_rate;
        if failed {
            broken.push(format!("{:.2}% failed", self.failed * 100.0));
        }
        // A dropped iteration is a request that the service did not serve.
        if self.dropped > settings.fail_rate {
            broken.push(format!("{:.2}% dropped", self.dropped * 100.0));
        }
        if self.served.is_nan() || self.served < self.rate as f64 * MIN_SERVED_SHARE {
            broken.push(format!("served {:.0}/s of {}/s", self.served, self.rate));
        }
        if let Some(why) = aborted {
            broken.push(format!("aborted: {why}"));
        }
        let has_all = self.needed.iter().all(Option::is_none);
        self.has_enough = has_all || missed_surely || self.broken.len() > by_objectives;
        let started_well = holds(started).iter().all(|holds| *holds);
        // By Little's law, this number of users is enough for twice the bound of the objective and for twice the
        // measured iteration time. If all of them are busy nevertheless, the service is too slow.
        let bounds = settings.objectives.iter().map(|objective| objective.bound);
        let bound = bounds.max().unwrap_or_default().as_secs_f64();
        let enough = self.rate as f64 * 2.0 * bound.max(self.iteration / 1e3);
        self.short_of_users = !self.broken.is_empty()
            && self.dropped > 0.0
            && started_well
            && f64::from(self.users) < enough
            && !failed
            && aborted.is_none();
    }

    pub fn outcome(&self) -> Outcome {
        if self.broken.is_empty() {
            return Outcome::Met {
                sure: self.verdict == "valid" && self.has_enough,
            };
        }
        if self.has_refused {
            return Outcome::Missed { sure: true };
        }
        if self.short_of_users {
            return Outcome::GeneratorLimit;
        }
        if self.is_doubted(&["client", "clock"]) {
            // The service may still be slower than on a machine that is less busy.
            return match self.is_slow_without_delay {
                true => Outcome::Missed { sure: false },
                false => Outcome::GeneratorLimit,
            };
        }
        // Problems of the service itself, such as failures, are not a reason to doubt its limit.
        Outcome::Missed {
            sure: self.has_enough && !self.is_doubted(&["network"]),
        }
    }

    /// Whether the verdict doubts the figures for one of these causes.
    fn is_doubted(&self, causes: &[&str]) -> bool {
        self.verdict != "valid" && self.reasons_of(causes).next().is_some()
    }

    fn reasons_of<'a>(&'a self, causes: &'a [&str]) -> impl Iterator<Item = &'a str> {
        self.reasons.iter().filter_map(|reason| {
            let (cause, text) = reason.split_once(": ")?;
            causes.contains(&cause).then_some(text)
        })
    }

    /// The resource that the generator lacked, for a trial that ended at the generator's own limit.
    pub fn shortage(&self) -> String {
        if self.short_of_users {
            return format!(
                "all {} users were busy while the service still met the objective; allow more with --max-users (attack: -max-workers), or start with more",
                self.users
            );
        }
        // The worst reason is first.
        let worst = self.reasons_of(&["client", "clock"]).next();
        worst.unwrap_or_default().to_owned()
    }

    /// The relative difference between the counted iterations in flight and the number that Little's law yields from
    /// rate and duration. `None` if fewer than one was in flight, because ten readings per second miss most of them.
    pub fn little_residual(&self) -> Option<f64> {
        let residual = self.in_flight / self.by_little - 1.0;
        (self.by_little >= 1.0 && residual.is_finite()).then_some(residual)
    }

    /// The times as text, in the order of the objectives. A question mark follows those of too few requests.
    pub fn figure_texts(&self) -> Vec<String> {
        let figures = self.figures.iter().zip(&self.needed);
        figures
            .map(|(figure, needed)| match needed {
                Some(_) => format!("{}{NOT_RELIABLE}", format_time(*figure)),
                None => format_time(*figure),
            })
            .collect()
    }

    /// The search's progress line for this trial.
    pub fn line(&self, settings: &Settings) -> String {
        let figures: Vec<String> = settings
            .objectives
            .iter()
            .zip(self.figure_texts())
            .map(
                |(objective, figure)| match figure.strip_suffix(NOT_RELIABLE) {
                    Some(figure) => format!("{}={figure}ms{NOT_RELIABLE}", objective.figure),
                    None => format!("{}={figure}ms", objective.figure),
                },
            )
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
            self.outcome_text()
        )
    }

    /// Returns `met`, or why the objective was not met.
    pub fn outcome_text(&self) -> String {
        match self.outcome() {
            Outcome::Met { .. } => "met".to_owned(),
            Outcome::Missed { .. } => self.broken.join(", "),
            Outcome::GeneratorLimit => {
                format!("{}; not counted: generator", self.broken.join(", "))
            }
        }
    }
}

/// The mark of a percentile of too few requests.
pub const NOT_RELIABLE: &str = "?";

/// A time with two digits, or a sign if there is none: `∞` if more iterations were dropped than the percentile allows.
fn format_time(milliseconds: f64) -> String {
    if milliseconds.is_nan() {
        "–".to_owned()
    } else if milliseconds.is_infinite() {
        "∞".to_owned()
    } else {
        format!("{milliseconds:.2}")
    }
}

/// The share of failed requests. For a script without requests, the share of failed checks.
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

/// The share of failed requests with a status from 400 on, at most that of failed requests: a script may expect such
/// statuses.
fn refused(end: &End) -> f64 {
    let statuses = end.statuses.iter();
    let all: u64 =
        statuses.clone().map(|(_, count)| count).sum::<u64>() + end.errors.values().sum::<u64>();
    let refused =
        statuses.filter(|(status, _)| status.parse::<u16>().is_ok_and(|status| status >= 400));
    let refused: u64 = refused.map(|(_, count)| count).sum();
    (refused as f64 / all.max(1) as f64).min(failed(end))
}

/// The growth of the number of iterations in flight per second, which is the rate at which the service fell behind. A
/// record counts iterations in the second in which they start. So it includes iterations of a growing backlog, which
/// the service did not complete in time.
fn growth(in_flight: &[f64]) -> f64 {
    match in_flight {
        [first, .., last] => (last - first) / (in_flight.len() - 1) as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
pub(crate) mod tests;
