//! Converts the events of a run to points and states.

use std::time::Duration;

use plimsoll_engine::{AbortReason, Event as EngineEvent, Part, Schedule};
use plimsoll_results::secrets::for_display;
use plimsoll_run::{Event, Judgment, Phase, Progress, WorkerWindow};
use plimsoll_samples::{Window, builtin};
use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use crate::agents::AgentSums;
use crate::display::{LATENCIES, MAX_ROWS};
use crate::page_title::PageTitle;
use crate::point::{Latency, Point};
use crate::state::{Iterations, State, VerdictText, bytes, requests};

/// A message for the hub.
#[derive(Debug)]
pub struct Update {
    pub point: Option<Point>,
    /// The point is a short remainder, and becomes part of the previous point.
    pub is_rest: bool,
    /// The latencies of earlier points belong to another metric.
    pub latency_changed: bool,
    pub state: State,
}

/// Collects the figures of the current second. It runs on the supervisor's thread, so it only adds numbers. Formatting
/// and sending happen on other threads.
pub struct Collector {
    title: PageTitle,
    schedules: Option<Vec<Schedule>>,
    /// The index of the shown metric in [`LATENCIES`].
    metric: Option<usize>,
    latencies: [Histogram; LATENCIES.len()],
    lag: Histogram,
    /// The total time of all iterations in flight.
    in_flight: Duration,
    /// The sums of a fleet's agents. `None` without a fleet.
    agents: Option<AgentSums>,
    before: Totals,
    requests_before: Requests,
    /// A second whose windows are still arriving, and when it ended.
    pending: Option<(Point, Moment)>,
    state: State,
    /// When the state was last sent.
    sent: Option<Moment>,
}

/// Counters of the whole run at the end of the latest second.
#[derive(Clone, Copy, Default)]
struct Totals {
    elapsed: f64,
    iterations: Iterations,
}

/// Requests and bytes of the whole run, at the time when all samples of the latest second had arrived.
#[derive(Clone, Copy, Default)]
struct Requests {
    all: u64,
    failed: u64,
    received: u64,
    sent: u64,
}

/// Workers send the samples of a second slightly after its end.
const GRACE: Duration = Duration::from_millis(150);
/// How often a state is sent while no second ends.
const STATE_INTERVAL: Duration = Duration::from_secs(1);
/// A shorter period at the end does not get its own point.
const MIN_POINT_LENGTH: f64 = 0.25;

impl Collector {
    pub fn new(title: PageTitle) -> Collector {
        Collector {
            title,
            schedules: None,
            metric: None,
            latencies: std::array::from_fn(|_| Histogram::new()),
            lag: Histogram::new(),
            in_flight: Duration::ZERO,
            agents: None,
            before: Totals::default(),
            requests_before: Requests::default(),
            pending: None,
            state: State::default(),
            sent: None,
        }
    }

    /// The update of the page for this event, if any.
    pub fn event(&mut self, event: Event<'_>) -> Option<Update> {
        match event {
            Event::Window(window) => {
                self.window(window);
                None
            }
            Event::Engine(EngineEvent::Window {
                worker,
                window,
                part: Part::Scenarios,
                thread,
                ..
            }) => {
                if let Some(agents) = &mut self.agents {
                    agents.window(*worker, window, thread.as_ref());
                }
                None
            }
            Event::Second(progress) => {
                // Usually the previous second was sent long ago.
                let update = self.pending.is_some().then(|| self.complete(progress));
                self.second(progress);
                update
            }
            Event::Progress(progress) => self.progress(progress),
            Event::Done(progress) => Some(self.done(progress)),
            Event::Judged(judged) => Some(self.judged(judged)),
            _ => None,
        }
    }

    fn window(&mut self, window: &WorkerWindow<'_>) {
        for (sum, (metric, _)) in self.latencies.iter_mut().zip(LATENCIES) {
            merge(sum, window.window, metric);
        }
        merge(&mut self.lag, window.window, builtin::ITERATION_SEND_LAG);
        self.in_flight += window.in_flight.total;
    }

    /// Counts the events of the second that has just ended.
    fn second(&mut self, progress: &Progress) {
        let totals = self.totals(progress);
        let point = self.point_until(totals, progress);
        self.before = totals;
        self.pending = Some((point, plimsoll_clock::now()));
    }

    fn progress(&mut self, progress: &Progress) -> Option<Update> {
        if self.agents.is_none() && !progress.agents().is_empty() {
            // Agents are known before they send samples.
            self.agents = Some(AgentSums::default());
        }
        let now = plimsoll_clock::now();
        if let Some((_, since)) = &self.pending {
            return (now.since(*since) >= GRACE).then(|| self.complete(progress));
        }
        let is_due = self
            .sent
            .is_none_or(|sent| now.since(sent) >= STATE_INTERVAL);
        let is_idle = progress.phase() != Phase::Running;
        (is_due && is_idle).then(|| self.update(progress, None))
    }

    /// Completes the pending second with the samples that have arrived.
    fn complete(&mut self, progress: &Progress) -> Update {
        let point = self.pending.take().map(|(point, _)| point);
        let changed = self.choose_metric();
        let point = point.map(|point| self.with_samples(point, progress));
        Update {
            latency_changed: changed,
            ..self.update(progress, point)
        }
    }

    fn done(&mut self, progress: &Progress) -> Update {
        let totals = self.totals(progress);
        let rest = self.point_until(totals, progress);
        self.before = totals;
        let (mut point, mut is_rest) = (rest, false);
        if let Some((mut pending, _)) = self.pending.take() {
            pending.append(&point);
            point = pending;
        } else if point.span < MIN_POINT_LENGTH {
            is_rest = true;
        }
        let latency_changed = self.choose_metric();
        let point = self.with_samples(point, progress);
        Update {
            is_rest,
            latency_changed,
            ..self.update(progress, Some(point))
        }
    }

    fn judged(&mut self, judged: &Judgment<'_>) -> Update {
        let mut state = std::mem::take(&mut self.state);
        state.phase = "ended";
        if judged.aborted.is_none() {
            state.done = 1.0;
        }
        state.elapsed = judged.elapsed.as_secs_f64();
        state.verdict = Some(VerdictText::of(judged.verdict, true));
        let is_crossed = state.thresholds.iter().any(|threshold| !threshold.ok);
        state.ended = Some(match judged.aborted {
            Some(reason) => ending(reason),
            None if is_crossed => "completed; thresholds were crossed".to_owned(),
            None => "completed".to_owned(),
        });
        Update {
            point: None,
            is_rest: false,
            latency_changed: false,
            state,
        }
    }

    fn update(&mut self, progress: &Progress, point: Option<Point>) -> Update {
        self.sent = Some(plimsoll_clock::now());
        self.state = State::of(progress, &self.title, self.before.iterations, self.metric);
        if let Some(agents) = &self.agents {
            let readings = progress.agents();
            self.state.agents = agents.rows(&readings, self.metric);
            let elapsed = self.state.elapsed;
            let past = plimsoll_run::agent_marks(&readings).into_iter();
            let past = past.filter(|mark| mark.at_seconds <= elapsed);
            self.state.marks = past.take(MAX_ROWS).collect();
        }
        Update {
            point,
            is_rest: false,
            latency_changed: false,
            state: self.state.clone(),
        }
    }

    fn totals(&mut self, progress: &Progress) -> Totals {
        let elapsed = progress.elapsed();
        let now = plimsoll_clock::now();
        let mut iterations = Iterations {
            interrupted: progress.state().iterations_interrupted(),
            ..Iterations::default()
        };
        for scenario in progress.scenarios() {
            let reading = scenario.read(now);
            iterations.started += reading.iterations_started;
            iterations.finished += reading.iterations_completed;
            iterations.dropped += reading.iterations_dropped;
            if scenario.scenario.executor.is_open() {
                iterations.scheduled_started += reading.iterations_started;
                iterations.scheduled_finished += reading.iterations_completed;
            }
        }
        let schedules = self.schedules.get_or_insert_with(|| {
            let scenarios = progress.scenarios().iter();
            scenarios
                .filter_map(|scenario| Schedule::of(&scenario.scenario))
                .collect()
        });
        if !schedules.is_empty() {
            let due = schedules.iter_mut().map(|schedule| schedule.due(elapsed));
            iterations.offered = Some(due.sum());
        }
        Totals {
            elapsed: round_to_second(elapsed.as_secs_f64()),
            iterations,
        }
    }

    /// The counts since the latest second. Samples are added later.
    fn point_until(&self, now: Totals, progress: &Progress) -> Point {
        let before = &self.before;
        let (old, new) = (&before.iterations, &now.iterations);
        Point {
            start: before.elapsed,
            span: (now.elapsed - before.elapsed).max(0.0),
            offered: new
                .offered
                .map(|offered| offered.saturating_sub(old.offered.unwrap_or(0))),
            scheduled_started: new.scheduled_started.saturating_sub(old.scheduled_started),
            scheduled_finished: new
                .scheduled_finished
                .saturating_sub(old.scheduled_finished),
            started: new.started.saturating_sub(old.started),
            finished: new.finished.saturating_sub(old.finished),
            dropped: new.dropped.saturating_sub(old.dropped),
            users: progress.state().users_active(),
            memory: plimsoll_machine::memory().get(),
            ..Point::default()
        }
    }

    /// Selects the metric to show as latency. Returns true if earlier points showed another metric.
    fn choose_metric(&mut self) -> bool {
        let first = self
            .latencies
            .iter()
            .position(|histogram| !histogram.is_empty());
        let Some(first) = first.filter(|first| self.metric.is_none_or(|metric| *first < metric))
        else {
            return false;
        };
        self.metric.replace(first).is_some()
    }

    /// Moves the samples that have arrived into the point.
    fn with_samples(&mut self, mut point: Point, progress: &Progress) -> Point {
        let (all, failed) = requests(progress);
        let now = Requests {
            all,
            failed,
            received: bytes(progress, builtin::DATA_RECEIVED),
            sent: bytes(progress, builtin::DATA_SENT),
        };
        let before = std::mem::replace(&mut self.requests_before, now);
        point.requests = all.saturating_sub(before.all);
        point.failed = failed.saturating_sub(before.failed);
        point.received = now.received.saturating_sub(before.received);
        point.sent = now.sent.saturating_sub(before.sent);
        let threads = progress.threads();
        point.cpu = threads
            .iter()
            .filter(|thread| !thread.span.is_zero())
            .map(|thread| thread.cpu.as_secs_f64() / thread.span.as_secs_f64())
            .fold(0.0, f64::max);
        point.late = threads
            .iter()
            .filter_map(|thread| thread.lateness.last())
            .max()
            .map_or(0.0, |late| late.as_secs_f64() * 1e3);
        if point.span > 0.0 {
            point.in_flight = self.in_flight.as_secs_f64() / point.span;
        }
        self.in_flight = Duration::ZERO;
        let shown = self.metric.and_then(|metric| self.latencies.get(metric));
        point.latency = shown.filter(|shown| !shown.is_empty()).map(Latency::of);
        point.lag = (!self.lag.is_empty()).then(|| self.lag.quantile(0.99));
        if let Some(agents) = &mut self.agents {
            point.agents = agents.points(&progress.agents(), self.metric);
        }
        self.latencies.iter_mut().for_each(Histogram::clear);
        self.lag.clear();
        point
    }
}

fn merge(sum: &mut Histogram, window: &Window, metric: plimsoll_samples::MetricId) {
    // The duration only affects the rates of counters.
    let values = window.values(metric, Duration::from_secs(1));
    if let Some(histogram) = values.as_ref().and_then(|values| values.histogram()) {
        sum.merge(histogram);
    }
}

/// The second that is about to end. Users are counted slightly before its end.
fn round_to_second(elapsed: f64) -> f64 {
    let second = elapsed.round();
    if (elapsed - second).abs() < 0.05 {
        second
    } else {
        elapsed
    }
}

fn ending(reason: &AbortReason) -> String {
    let text = match reason {
        AbortReason::Signal | AbortReason::ByApi => "stopped",
        AbortReason::Threshold => "stopped: a threshold with abortOnFail was crossed",
        AbortReason::Precise => "completed: the figure of --until is known precisely enough",
        AbortReason::ByScript(text)
        | AbortReason::ScriptException(text)
        | AbortReason::UserException(_, text)
        | AbortReason::SetupTimeout(text)
        | AbortReason::TeardownTimeout(text)
        | AbortReason::Failed(text)
        | AbortReason::Machine(text) => return format!("stopped: {}", for_display(text)),
    };
    text.to_owned()
}
