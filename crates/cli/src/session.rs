//! Accompanies a run: gathers what workers hand over, judges thresholds,
//! passes samples on, and tells a watcher.

use std::collections::VecDeque;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use plimsoll_engine::{AbortReason, Event, Notice, Part, Running};
use plimsoll_machine::{MachineReading, ThreadReading};
use plimsoll_results::secrets::for_display;
use plimsoll_samples::{Stage, Summary, Totals, builtin};
use plimsoll_units::Moment;
use plimsoll_verdict::{Evidence, RunFigures, Verdict};

use crate::outputs::Outputs;
use crate::recording::{self, Recording};

/// A run and what was gathered of it so far.
pub struct Session {
    pub running: Running,
    pub totals: Totals,
    pub phase: Phase,
    pub evidence: Evidence,
    /// Requests in each of the latest seconds, the latest last.
    pub rates: VecDeque<f64>,
    /// The latest reading of each worker's thread.
    pub threads: Vec<ThreadReading>,
    outputs: Outputs,
    recording: Option<Recording>,
    machine_before: MachineReading,
    /// Users at the most, as counted each second.
    users_most: u32,
    requests_told: f64,
    /// Whether every iteration is a request.
    is_request_load: bool,
}

/// What the run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Init,
    SetUp,
    Running,
    TearDown,
}

/// Who is told of a run's course.
pub trait Watcher {
    /// How often [`Watcher::look`] is called.
    fn interval(&self) -> Duration;
    /// Something worth a line of the log.
    fn notice(&mut self, notice: &Notice);
    /// A warning about what was recorded.
    fn warn(&mut self, message: &str);
    /// Time for another look.
    fn look(&mut self, session: &Session);
    /// The run is over; this is its last state.
    fn last_look(&mut self, _: &Session) {}
}

/// How a run ended.
pub struct Ended {
    pub summary: Summary,
    pub verdict: Verdict,
    pub aborted: Option<AbortReason>,
    pub marked_failed: bool,
    /// Iterations that came to their end.
    pub iterations: u64,
    /// Metrics with a threshold that does not hold.
    pub crossed: Vec<String>,
    pub output_errors: Vec<String>,
}

const SECOND: Duration = Duration::from_secs(1);
/// Users are counted so long before a second is full, that a run of whole seconds has its last.
const EARLIER: Duration = Duration::from_millis(5);
/// How often thresholds are judged while the run goes on, as in k6.
const JUDGE: Duration = Duration::from_secs(2);
/// How many seconds' rates are remembered.
const RATES: usize = 120;

impl Session {
    pub fn new(running: Running, totals: Totals, outputs: Outputs) -> Self {
        Session {
            running,
            totals,
            outputs,
            recording: None,
            phase: Phase::Init,
            evidence: Evidence::default(),
            users_most: 0,
            rates: VecDeque::new(),
            threads: Vec::new(),
            machine_before: MachineReading::now(),
            requests_told: 0.0,
            is_request_load: false,
        }
    }

    /// Has the run written down while it goes on.
    pub fn record(mut self, recording: Option<Recording>) -> Self {
        self.recording = recording;
        let scenarios = self.running.scenarios.iter().map(|scenario| &**scenario);
        let load = plimsoll_engine::load_duration(scenarios);
        if let Some(recording) = &mut self.recording {
            recording.set_load(load);
        }
        self
    }

    /// Every iteration is a request: a run without any has measured nothing.
    pub fn of_requests(mut self) -> Self {
        self.is_request_load = true;
        self
    }

    /// How long scenarios have been running, or ran.
    pub fn elapsed(&self) -> Duration {
        let state = &self.running.state;
        let end = state.ended().unwrap_or_else(plimsoll_clock::now);
        state
            .started()
            .map_or(Duration::ZERO, |started| end.since(started))
    }

    /// Accompanies the run to its end.
    pub fn accompany(mut self, watcher: &mut dyn Watcher) -> Ended {
        let mut next_look = plimsoll_clock::now() + watcher.interval();
        let mut seconds: Option<Moment> = None;
        let mut judging: Option<Moment> = None;
        loop {
            let now = plimsoll_clock::now();
            // Users are counted on the second, not a little later.
            let wait = [seconds, judging]
                .into_iter()
                .flatten()
                .filter(|_| self.phase == Phase::Running)
                .fold(next_look, Moment::min)
                .since(now)
                .min(Duration::from_millis(100));
            match self.running.events.recv_timeout(wait) {
                Ok(Event::Finished) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(event) => self.take(event, watcher),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = plimsoll_clock::now();
            if let (None, Some(started)) = (seconds, self.running.state.started()) {
                seconds = Some(started + (SECOND - EARLIER));
                judging = Some(started + JUDGE);
            }
            if self.phase == Phase::Running {
                if let Some(due) = seconds.as_mut().filter(|due| **due <= now) {
                    *due = *due + SECOND;
                    self.count_users(now);
                }
                self.keep_recording();
                if let Some(due) = judging.as_mut().filter(|due| **due <= now) {
                    *due = *due + JUDGE;
                    self.judge();
                }
            }
            if now >= next_look {
                next_look = now + watcher.interval();
                watcher.look(&self);
            }
        }
        self.close(watcher)
    }

    fn keep_recording(&mut self) {
        let elapsed = self.elapsed();
        if let Some(recording) = &mut self.recording {
            recording.write_due(elapsed);
        }
    }

    fn take(&mut self, event: Event, watcher: &mut dyn Watcher) {
        match event {
            Event::UsersReady => self.phase = Phase::SetUp,
            Event::Started => self.phase = Phase::Running,
            Event::ScenariosDone => self.phase = Phase::TearDown,
            Event::Notice(notice) => watcher.notice(&notice),
            Event::Window {
                worker,
                window,
                part,
                taken,
                in_flight,
                thread,
            } => {
                if part == Part::Scenarios
                    && let Some(started) = self.running.state.started()
                    && let Some(recording) = &mut self.recording
                {
                    recording.window(&window, &in_flight, started);
                }
                self.totals.merge(window);
                if let Some(thread) = thread {
                    if self.phase == Phase::Running && !self.is_warm_up(taken, thread.span) {
                        self.evidence.add(worker, &thread);
                    }
                    if self.threads.len() <= worker {
                        self.threads.resize_with(worker + 1, ThreadReading::default);
                    }
                    self.threads[worker] = thread;
                }
                self.pass_on(watcher);
            }
            Event::Finished => {}
        }
    }

    /// What the verdict leaves out at the start, because readers of the record will.
    fn warm_up(&self) -> Duration {
        let recording = self.recording.as_ref();
        recording.map_or(Duration::ZERO, Recording::warm_up)
    }

    /// Whether a reading of that length, taken then, is of the warm-up: its middle counts.
    fn is_warm_up(&self, taken: Moment, span: Duration) -> bool {
        let started = self.running.state.started();
        started.is_some_and(|started| taken.since(started) < self.warm_up() + span / 2)
    }

    fn pass_on(&mut self, watcher: &mut dyn Watcher) {
        for warning in self.totals.take_warnings() {
            watcher.warn(&warning);
        }
        let records = self.totals.take_records();
        if !records.is_empty() {
            self.outputs.send(records);
        }
    }

    fn count_users(&mut self, now: Moment) {
        let state = &self.running.state;
        self.totals
            .users(state.users_active(), state.users_initialized(), now);
        if let Some(recording) = &mut self.recording {
            recording.second_ended(state.users_active());
        }
        self.users_most = self.users_most.max(state.users_active());
        self.look_at_limits();
        // This second was the warm-up's last.
        let warm_up = self.warm_up();
        let elapsed = self.elapsed() + 2 * EARLIER;
        if !warm_up.is_zero() && elapsed >= warm_up && elapsed < warm_up + SECOND {
            self.machine_before = MachineReading::now();
        }
        let requests = self.requests();
        if self.rates.len() == RATES {
            self.rates.pop_front();
        }
        self.rates.push_back(requests - self.requests_told);
        self.requests_told = requests;
    }

    /// How near the kernel's limits are.
    fn look_at_limits(&mut self) {
        let evidence = &mut self.evidence;
        evidence.waiting_ports = evidence
            .waiting_ports
            .max(plimsoll_machine::waiting_ports());
        evidence.descriptors = evidence.descriptors.max(plimsoll_machine::descriptors());
    }

    /// Requests so far, failed ones included.
    pub fn requests(&self) -> f64 {
        self.count(builtin::HTTP_REQS)
    }

    fn count(&self, metric: plimsoll_samples::MetricId) -> f64 {
        self.totals
            .values(metric, self.elapsed())
            .and_then(|values| values.count())
            .unwrap_or(0.0)
    }

    fn judge(&mut self) {
        let report = self.totals.evaluate(self.elapsed(), Stage::Running);
        if report.abort() {
            self.running.state.abort(AbortReason::Threshold);
        }
    }

    fn close(mut self, watcher: &mut dyn Watcher) -> Ended {
        // What workers handed over after the last look.
        while let Ok(event) = self.running.events.try_recv() {
            self.take(event, watcher);
        }
        self.pass_on(watcher);
        self.phase = Phase::Running;
        watcher.last_look(&self);
        let elapsed = self.elapsed();
        let judged = self.totals.evaluate(elapsed, Stage::Over);
        let mut summary = self.totals.summary(elapsed);
        let scenarios = self.running.scenarios.iter();
        for error in &mut summary.http.errors {
            error.text = for_display(&error.text).into_owned();
        }
        summary.work = scenarios.filter_map(|scenario| scenario.work()).collect();
        let states = self.running.scenarios.iter().map(|scenario| &**scenario);
        summary.load = plimsoll_engine::load_duration(states).map(|load| load.min(elapsed));
        summary.threw = self.running.state.iterations_threw();
        summary.iterations = self.running.state.iterations_completed();
        self.look_at_limits();
        self.complete_evidence(&summary);
        let verdict = self.evidence.judge();
        let state = &self.running.state;
        let mut output_errors = self.outputs.finish();
        if let Some(recording) = self.recording {
            let end = recording::end(&summary, &verdict, state.aborted());
            output_errors.extend(recording.end(elapsed, &end));
        }
        Ended {
            verdict,
            aborted: state.aborted().cloned(),
            marked_failed: state.marked_failed(),
            iterations: state.iterations_completed(),
            crossed: judged.crossed().into_iter().map(str::to_owned).collect(),
            output_errors,
            summary,
        }
    }

    fn complete_evidence(&mut self, summary: &Summary) {
        let mut evidence = std::mem::take(&mut self.evidence);
        let state = &self.running.state;
        evidence.complete(&RunFigures {
            summary,
            whole: &|metric| self.totals.values(metric, summary.elapsed),
            judged: &|metric| self.measured(metric),
            judged_time: self.judged(),
            machine: MachineReading::now().since(&self.machine_before),
            users_most: self.users_most,
            completed: state.iterations_completed(),
            interrupted: state.iterations_interrupted(),
            is_request_load: self.is_request_load,
        });
        self.evidence = evidence;
    }
}

impl Session {
    /// How long what the verdict is about took: all of a run that ended in its warm-up.
    fn judged(&self) -> Duration {
        let (elapsed, warm_up) = (self.elapsed(), self.warm_up());
        if elapsed > warm_up {
            elapsed.saturating_sub(warm_up)
        } else {
            elapsed
        }
    }

    /// What the verdict is about: all of the run, or what came after the warm-up.
    fn measured(&self, metric: plimsoll_samples::MetricId) -> Option<plimsoll_samples::Values> {
        let elapsed = self.elapsed();
        match self.recording.as_ref().and_then(Recording::measured) {
            Some(measured) if elapsed > self.warm_up() => measured.values(metric, self.judged()),
            _ => self.totals.values(metric, elapsed),
        }
    }
}
