//! The figures of a run for a terminal. They are those of the page, from the same collector.

use std::collections::VecDeque;
use std::time::Duration;

use plimsoll_output::live::{
    Counted, GeneratorLoad, LiveFigures, LiveThreshold, LiveView, Offered, Quantiles, Traffic,
};
use plimsoll_run::{Event, Progress};
use plimsoll_units::Bytes;
use plimsoll_verdict::Level;

use crate::collector::Collector;
use crate::page_title::PageTitle;
use crate::point::Point;
use crate::state::{Count, Overall, State, ThresholdRow};

/// The number of seconds for which rates are stored.
pub const RATES: usize = 120;

/// Follows a run and describes it for a terminal.
pub struct TerminalView {
    title: PageTitle,
    /// The configured requests per second.
    offered_rate: Option<f64>,
    collector: Collector,
    /// Requests and finished iterations per second, oldest first.
    rates: VecDeque<(f64, f64)>,
    latest: Option<Point>,
    state: Option<State>,
}

impl TerminalView {
    /// `offered_rate` is the rate of the schedule. `None` in a closed model.
    pub fn new(title: PageTitle, offered_rate: Option<f64>) -> TerminalView {
        TerminalView {
            collector: Collector::new(title.clone()),
            title,
            offered_rate,
            rates: VecDeque::new(),
            latest: None,
            state: None,
        }
    }

    /// Processes an event. Call this for every event of the run.
    pub fn event(&mut self, event: Event<'_>) {
        let Some(update) = self.collector.event(event) else {
            return;
        };
        if let Some(point) = update.point.filter(|point| point.span > 0.0) {
            if self.rates.len() == RATES {
                self.rates.pop_front();
            }
            let per_second = |count: u64| count as f64 / point.span;
            let rates = (per_second(point.requests), per_second(point.finished));
            self.rates.push_back(rates);
            self.latest = Some(point);
        }
        self.state = Some(update.state);
    }

    /// Describes the run and its progress at this moment.
    pub fn view(&self, progress: &Progress) -> LiveView {
        let now = plimsoll_clock::now();
        let scenario = progress.scenarios().first();
        LiveView {
            title: self.title.title.clone(),
            elapsed: progress.elapsed(),
            duration: self.title.duration,
            done: scenario.map_or(0.0, |scenario| scenario.progress(now)),
            figures: self.figures(),
        }
    }

    /// The figures up to the latest second. `None` before the end of the first second.
    pub fn figures(&self) -> Option<LiveFigures> {
        let (point, state) = (self.latest.as_ref()?, self.state.as_ref()?);
        let has_requests = state.requests > 0;
        let total = if has_requests {
            state.requests
        } else {
            state.iterations.finished
        };
        let rates = self.rates.iter();
        let rates = rates.map(|(requests, iterations)| match has_requests {
            true => *requests,
            false => *iterations,
        });
        let checks = state.checks.iter();
        Some(LiveFigures {
            counted: if has_requests {
                Counted::Requests
            } else {
                Counted::Iterations
            },
            total,
            failed: if has_requests {
                state.failed
            } else {
                state.iterations.interrupted
            },
            no_response: has_requests && !state.has_responses,
            rates: rates.collect(),
            average_rate: average(total, point),
            offered_rate: self.offered_rate,
            latest: point
                .latency
                .as_ref()
                .map(|latency| quantiles([latency.p50, latency.p95, latency.p99, latency.max])),
            overall: state.latency.as_ref().map(overall),
            latency_metric: state.latency.as_ref().map_or("", |latency| latency.metric),
            users: (state.users, state.users_ready),
            in_flight: point.in_flight,
            agents: {
                let lost = state.agents.iter().filter(|agent| agent.lost.is_some());
                (state.agents.len(), lost.count())
            },
            received: traffic(point.received, point, state.received),
            sent: traffic(point.sent, point, state.sent),
            offered: state.iterations.offered.map(|offered| Offered {
                offered,
                started: state.iterations.scheduled_started,
                dropped: state.iterations.dropped,
            }),
            checks: checks.fold((0, 0), |(passes, fails), check| {
                (passes + check.passes, fails + check.fails)
            }),
            thresholds: state.thresholds.iter().map(threshold).collect(),
            statuses: counts(&state.statuses),
            errors: counts(&state.errors),
            generator: GeneratorLoad {
                workers: state.generator.workers.clone(),
                send_lag: state.generator.send_lag.map(milliseconds),
                rss: Bytes(state.generator.memory),
            },
            verdict: state.verdict.as_ref().map(|verdict| {
                let level = match verdict.level {
                    "valid" => Level::Valid,
                    "suspect" => Level::Suspect,
                    _ => Level::Invalid,
                };
                (level, verdict.reasons.clone())
            }),
        })
    }
}

/// The rate from the start of the run to the end of the point.
pub fn average(total: u64, point: &Point) -> f64 {
    let seconds = point.start + point.span;
    if seconds > 0.0 {
        total as f64 / seconds
    } else {
        0.0
    }
}

pub fn traffic(bytes: u64, point: &Point, total: u64) -> Traffic {
    Traffic {
        per_second: bytes as f64 / point.span,
        total,
    }
}

fn overall(latency: &Overall) -> Quantiles {
    quantiles([latency.p50, latency.p95, latency.p99, latency.max])
}

pub fn quantiles(values: [f64; 4]) -> Quantiles {
    let [p50, p95, p99, max] = values.map(milliseconds);
    Quantiles { p50, p95, p99, max }
}

pub fn milliseconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value / 1e3).unwrap_or_default()
}

fn counts(counts: &[Count]) -> Vec<(String, u64)> {
    let counts = counts.iter();
    counts
        .map(|count| (count.text.clone(), count.count))
        .collect()
}

fn threshold(row: &ThresholdRow) -> LiveThreshold {
    let measured = row.measured.map_or(String::new(), |measured| {
        format!(" (measured {})", plimsoll_output::numbers::plain(measured))
    });
    LiveThreshold {
        text: format!("{} {}{measured}", row.metric, row.source),
        is_met: row.ok,
    }
}
