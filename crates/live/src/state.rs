//! The current figures of a run, as the page shows them next to its charts.

use std::borrow::Cow;
use std::time::Duration;

use plimsoll_engine::ScenarioState;
use plimsoll_output::grpc_status;
use plimsoll_results::record::Mark;
use plimsoll_results::secrets::{for_display, url_for_display};
use plimsoll_run::{Phase, Progress};
use plimsoll_samples::{JudgedThreshold, MetricId, NamePart, Values, builtin};
use plimsoll_verdict::{Level, Verdict};
use serde::Serialize;

use crate::agents::AgentRow;
use crate::display::{LATENCIES, MAX_ROWS};
use crate::page_title::PageTitle;
use crate::steps::Steps;
use crate::system_row::SystemRow;

/// Everything on the page except for the charts. Times are in milliseconds unless a field says otherwise.
#[derive(Clone, Debug, Default, Serialize)]
pub struct State {
    pub title: String,
    pub phase: &'static str,
    /// In seconds, since scenarios started.
    pub elapsed: f64,
    /// The maximum duration in seconds, if known.
    pub duration: Option<f64>,
    /// The completed share, from 0 to 1.
    pub done: f64,
    pub users: u32,
    pub users_ready: u32,
    pub iterations: Iterations,
    pub requests: u64,
    pub failed: u64,
    /// Whether any request got a response.
    pub has_responses: bool,
    /// Bytes on sockets, by direction.
    pub received: u64,
    pub sent: u64,
    /// Latency of the whole run so far.
    pub latency: Option<Overall>,
    /// Requests by name, most frequent first.
    pub names: Vec<NameRow>,
    /// Submetrics, which thresholds define.
    pub tags: Vec<TagRow>,
    pub scenarios: Vec<ScenarioRow>,
    pub checks: Vec<CheckRow>,
    pub thresholds: Vec<ThresholdRow>,
    /// Failures by text, most frequent first.
    pub errors: Vec<Count>,
    /// Responses by status.
    pub statuses: Vec<Count>,
    pub generator: Generator,
    /// The agents of a fleet. Empty without a fleet.
    pub agents: Vec<AgentRow>,
    /// Times that charts mark, in order.
    pub marks: Vec<Mark>,
    /// The measured systems that run on this machine.
    pub systems: Vec<SystemRow>,
    pub verdict: Option<VerdictText>,
    /// How the run ended. `None` during the run.
    pub ended: Option<String>,
    /// The steps of a search or a lab. `None` for a single run.
    pub steps: Option<Steps>,
}

/// Iterations of all scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Iterations {
    /// `None` in a closed model.
    pub offered: Option<u64>,
    /// Iterations of scenarios with a schedule: only these have been offered.
    pub scheduled_started: u64,
    pub scheduled_finished: u64,
    pub started: u64,
    pub finished: u64,
    pub interrupted: u64,
    pub dropped: u64,
}

/// A latency metric of the whole run, in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Overall {
    pub metric: &'static str,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

/// Requests with the same name and method.
#[derive(Clone, Debug, Serialize)]
pub struct NameRow {
    pub name: String,
    pub method: String,
    pub requests: u64,
    pub failed: u64,
    /// Service time of successful requests, in milliseconds. `None` if all failed.
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

/// The part of a metric with certain tags.
#[derive(Clone, Debug, Serialize)]
pub struct TagRow {
    pub metric: String,
    /// The sum of a counter, or the number of values of a trend. `None` for other kinds.
    pub count: Option<f64>,
    /// The share of a rate, from 0 to 1.
    pub share: Option<f64>,
    /// The statistics of a trend, in its unit.
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ScenarioRow {
    pub name: String,
    pub executor: &'static str,
    /// The completed share, from 0 to 1.
    pub done: f64,
    pub users: u32,
    pub finished: u64,
    pub dropped: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct CheckRow {
    pub name: String,
    pub passes: u64,
    pub fails: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct ThresholdRow {
    pub metric: String,
    pub source: String,
    pub ok: bool,
    /// In the unit of the metric, like `limit`. `None` if the metric has no such value.
    pub measured: Option<f64>,
    pub limit: f64,
    /// Distance to the limit as a share of the limit; negative if the threshold is crossed. `None` if the limit is 0 or
    /// the value must equal the limit.
    pub margin: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Count {
    pub text: String,
    pub count: u64,
}

/// The state of the generator itself in the latest second.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Generator {
    /// The processor share of each worker.
    pub workers: Vec<f64>,
    /// The largest share of the time in which a worker was ready to run but had no processor.
    pub waited: f64,
    /// The largest lateness of a timer.
    pub late: f64,
    /// Memory in bytes.
    pub memory: u64,
    /// 99th percentile of the send lag of the whole run.
    pub send_lag: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct VerdictText {
    pub level: &'static str,
    pub reasons: Vec<String>,
    /// During the run, the verdict only covers the generator.
    pub is_final: bool,
}

impl State {
    /// The current state. `latency` is an index into [`LATENCIES`].
    pub fn of(
        progress: &Progress,
        title: &PageTitle,
        iterations: Iterations,
        latency: Option<usize>,
    ) -> State {
        let http = progress.http();
        let (requests, failed) = requests(progress);
        let now = plimsoll_clock::now();
        let mut errors: Vec<Count> = http
            .errors
            .iter()
            .take(MAX_ROWS)
            .map(|error| count(for_display(&error.text).into_owned(), error.count))
            .collect();
        if http.other_errors > 0 {
            errors.push(count("other errors".to_owned(), http.other_errors));
        }
        State {
            title: title.title.clone(),
            phase: match progress.phase() {
                Phase::Init => "starting",
                Phase::SetUp => "setup",
                Phase::Running => "running",
                Phase::TearDown => "teardown",
            },
            elapsed: progress.elapsed().as_secs_f64(),
            duration: title.duration.map(|duration| duration.as_secs_f64()),
            done: done(progress.scenarios().iter().map(|state| &**state)),
            users: progress.state().users_active(),
            users_ready: progress.state().users_initialized(),
            iterations,
            requests,
            failed,
            has_responses: http.responses() > 0,
            received: bytes(progress, builtin::DATA_RECEIVED),
            sent: bytes(progress, builtin::DATA_SENT),
            latency: latency.and_then(|place| overall(progress, place)),
            names: names(progress),
            tags: progress
                .by_tag()
                .into_iter()
                .take(MAX_ROWS)
                .map(tag_row)
                .collect(),
            scenarios: progress
                .scenarios()
                .iter()
                .map(|state| {
                    let reading = state.read(now);
                    ScenarioRow {
                        name: state.scenario.name.clone(),
                        executor: state.scenario.executor.kind().name(),
                        done: reading.progress,
                        users: reading.users_active,
                        finished: reading.iterations_completed,
                        dropped: reading.iterations_dropped,
                    }
                })
                .collect(),
            checks: progress
                .checks()
                .into_iter()
                .take(MAX_ROWS)
                .map(|check| CheckRow {
                    name: check.name,
                    passes: check.passes,
                    fails: check.fails,
                })
                .collect(),
            thresholds: progress.thresholds().iter().map(threshold).collect(),
            errors,
            statuses: http
                .statuses
                .iter()
                .filter(|(status, _)| *status != 0)
                .map(|(status, times)| count(grpc_status::name(*status), *times))
                .collect(),
            generator: generator(progress),
            agents: Vec::new(),
            marks: Vec::new(),
            systems: Vec::new(),
            verdict: Some(VerdictText::of(&progress.verdict(), false)),
            ended: None,
            steps: None,
        }
    }
}

impl VerdictText {
    pub fn of(verdict: &Verdict, is_final: bool) -> VerdictText {
        VerdictText {
            level: match verdict.level {
                Level::Valid => "valid",
                Level::Suspect => "suspect",
                Level::Invalid => "invalid",
            },
            reasons: verdict
                .reasons
                .iter()
                .map(|reason| for_display(&reason.text).into_owned())
                .collect(),
            is_final,
        }
    }
}

/// The number of requests and calls so far, and how many of them failed.
pub fn requests(progress: &Progress) -> (u64, u64) {
    let http = progress.http();
    let failed = progress
        .values(builtin::HTTP_REQ_FAILED)
        .and_then(|values| values.passes())
        .unwrap_or(0);
    (
        progress.requests() as u64 + http.calls,
        failed + http.failed_calls,
    )
}

/// The number of bytes that one of the two traffic metrics has counted so far.
pub fn bytes(progress: &Progress, metric: MetricId) -> u64 {
    let values = progress.values(metric);
    values.and_then(|values| values.count()).unwrap_or(0.0) as u64
}

/// Requests by name. Those with further names come last.
fn names(progress: &Progress) -> Vec<NameRow> {
    let parts = progress.names();
    let others = parts.others.into_iter().map(|others| NamePart {
        name: "(other names)".to_owned(),
        ..others
    });
    let all = parts.listed.into_iter().take(MAX_ROWS).chain(others);
    all.map(|part| {
        let times = part.times.histogram().filter(|times| !times.is_empty());
        let quantiles = times.map(|times| times.quantiles(&[0.5, 0.95, 0.99]));
        let at = |place: usize| quantiles.as_ref()?.get(place).copied();
        NameRow {
            p50: at(0),
            p95: at(1),
            p99: at(2),
            max: times.map(|times| times.max()),
            name: url_for_display(&part.name).into_owned(),
            method: part.method,
            requests: part.requests,
            failed: part.failed,
        }
    })
    .collect()
}

fn tag_row((metric, values): (Cow<'_, str>, Values)) -> TagRow {
    let is_rate = matches!(values, Values::Rate { .. });
    let quantiles = values.histogram().filter(|values| !values.is_empty());
    let quantiles = quantiles.map(|values| values.quantiles(&[0.5, 0.95, 0.99]));
    let at = |place: usize| quantiles.as_ref()?.get(place).copied();
    TagRow {
        metric: for_display(&metric).into_owned(),
        count: values.count(),
        share: values.rate().filter(|_| is_rate),
        p50: at(0),
        p95: at(1),
        p99: at(2),
        max: values.max().filter(|_| quantiles.is_some()),
    }
}

/// The mean progress of the scenarios.
fn done<'a>(scenarios: impl Iterator<Item = &'a ScenarioState>) -> f64 {
    let now = plimsoll_clock::now();
    let (mut sum, mut count) = (0.0, 0);
    for scenario in scenarios {
        sum += scenario.progress(now);
        count += 1;
    }
    if count == 0 {
        0.0
    } else {
        sum / f64::from(count)
    }
}

fn overall(progress: &Progress, place: usize) -> Option<Overall> {
    let (metric, name) = LATENCIES.get(place)?;
    let values = progress.values(*metric)?;
    let histogram = values.histogram()?;
    let quantiles = histogram.quantiles(&[0.5, 0.95, 0.99]);
    let &[p50, p95, p99] = quantiles.as_slice() else {
        return None;
    };
    Some(Overall {
        metric: name,
        p50,
        p95,
        p99,
        max: histogram.max(),
    })
}

fn count(text: String, count: u64) -> Count {
    Count { text, count }
}

fn threshold(judged: &JudgedThreshold) -> ThresholdRow {
    let outcome = &judged.outcome;
    let measured = Some(outcome.measured).filter(|value| value.is_finite());
    let is_upper = outcome.source.contains('<');
    let is_lower = outcome.source.contains('>');
    let margin = measured.filter(|_| judged.limit != 0.0 && (is_upper || is_lower));
    ThresholdRow {
        metric: judged.metric.clone(),
        source: outcome.source.clone(),
        ok: outcome.ok,
        measured,
        limit: judged.limit,
        margin: margin.map(|measured| {
            let distance = judged.limit - measured;
            let distance = if is_upper { distance } else { -distance };
            distance / judged.limit.abs()
        }),
    }
}

fn generator(progress: &Progress) -> Generator {
    let share = |part: Duration, whole: Duration| match whole.is_zero() {
        true => 0.0,
        false => part.as_secs_f64() / whole.as_secs_f64(),
    };
    let threads = progress.threads();
    Generator {
        workers: threads
            .iter()
            .map(|thread| share(thread.cpu, thread.span))
            .collect(),
        waited: threads
            .iter()
            .map(|thread| share(thread.run_queue_wait.unwrap_or_default(), thread.span))
            .fold(0.0, f64::max),
        late: threads
            .iter()
            .filter_map(|thread| thread.lateness.last())
            .max()
            .map_or(0.0, |late| late.as_secs_f64() * 1e3),
        memory: plimsoll_machine::memory().get(),
        send_lag: progress
            .values(builtin::ITERATION_SEND_LAG)
            .as_ref()
            .and_then(|values: &Values| values.quantile(0.99)),
    }
}
