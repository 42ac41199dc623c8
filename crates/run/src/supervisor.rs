//! Supervises a run: merges the samples of workers, judges thresholds and notifies listeners.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use plimsoll_engine::{
    AbortReason, Calls, Event as EngineEvent, Part as RunPart, RunState, Running, ScenarioState,
};
use plimsoll_machine::{MachineMeter, MachineReading};
use plimsoll_plan::Executor;
use plimsoll_results::secrets::for_display;
use plimsoll_samples::{MetricId, Registry, Stage, Stretch, Summary, Totals, Values, Watch};
use plimsoll_units::Moment;
use plimsoll_verdict::RunFigures;

use crate::event::{Event, Judgment, Listeners, WorkerWindow};
use crate::remote::{Conclusion, RemoteWorkers};
use crate::sent_arrivals::sent_arrivals;
use crate::{Outcome, Phase, Progress};

/// Follows a run on the thread that calls [`Supervisor::follow`].
pub struct Supervisor<'a> {
    events: Receiver<EngineEvent>,
    progress: Progress,
    listeners: Listeners<'a>,
    /// How much of the start the verdict leaves out, in whole seconds.
    warm_up: Duration,
    /// The samples after the warm-up, if there is one.
    after_warm_up: Option<Stretch>,
    meter: MachineMeter,
    machine_before: MachineReading,
    /// The highest number of users, from counts once per second.
    users_most: u32,
    /// Whether every iteration is a request. If so, a run without requests has measured nothing.
    is_request_load: bool,
    /// Set if the run is a part of a larger one.
    part: Option<Part>,
    /// Requests to call setup and teardown.
    calls: Option<Calls>,
    /// Set if the workers are in other processes.
    remote: Option<Box<dyn RemoteWorkers>>,
}

/// A part of a larger run.
pub struct Part {
    /// Whether other parts run on the same machine.
    pub shares_machine: bool,
}

const SECOND: Duration = Duration::from_secs(1);
/// Users are counted this long before the end of a second, so that the last second of a run is counted, too.
const COUNT_LEAD: Duration = Duration::from_millis(5);
/// How often thresholds are judged during the run; the same as in k6.
const JUDGE_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum time to wait for an event, so that listeners' intervals are respected.
const MAX_WAIT: Duration = Duration::from_millis(100);

impl<'a> Supervisor<'a> {
    /// Supervises `running`. Excludes the first `warm_up` from the verdict. The caller creates `meter` before the run,
    /// which may use up the file descriptors immediately.
    pub fn new(
        running: Running,
        meter: MachineMeter,
        registry: &Arc<Registry>,
        watch: &Arc<Watch>,
        warm_up: Duration,
        is_request_load: bool,
        listeners: Listeners<'a>,
    ) -> Self {
        let totals = Totals::new(Arc::clone(registry), Arc::clone(watch));
        let after_warm_up =
            (!warm_up.is_zero()).then(|| Stretch::new(Arc::clone(registry), Arc::clone(watch)));
        Supervisor {
            events: running.events,
            progress: Progress::new(running.state, running.scenarios, totals),
            listeners,
            warm_up,
            after_warm_up,
            machine_before: meter.read(),
            meter,
            users_most: 0,
            is_request_load,
            part: None,
            calls: running.calls,
            remote: None,
        }
    }

    /// The same supervisor, for a part of a larger run or for workers in other processes.
    pub fn with(mut self, part: Option<Part>, remote: Option<Box<dyn RemoteWorkers>>) -> Self {
        self.part = part;
        if let Some(remote) = &remote {
            self.progress.agents = remote.agents();
        }
        self.remote = remote;
        self
    }

    /// The run's counters.
    pub fn state(&self) -> &Arc<RunState> {
        &self.progress.state
    }

    /// The scenarios' counters, in the plan's order.
    pub fn scenarios(&self) -> &[Arc<ScenarioState>] {
        self.progress.scenarios()
    }

    /// Requests to call the run's setup and teardown. `None` if its workers are in other processes.
    pub fn calls(&self) -> Option<&Calls> {
        self.calls.as_ref()
    }

    /// Follows the run to its end.
    pub fn follow(mut self) -> Outcome {
        let mut seconds: Option<Moment> = None;
        let mut judging: Option<Moment> = None;
        loop {
            let now = plimsoll_clock::now();
            let due = [seconds, judging]
                .into_iter()
                .flatten()
                .filter(|_| self.progress.phase == Phase::Running)
                .chain(self.listeners.next_due())
                .min();
            // Count users exactly when the second ends, not slightly later.
            let wait = due.map_or(MAX_WAIT, |due| due.since(now).min(MAX_WAIT));
            match self.events.recv_timeout(wait) {
                Ok(EngineEvent::Finished) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = plimsoll_clock::now();
            if let (None, Some(started)) = (seconds, self.progress.state.started()) {
                seconds = Some(started + (SECOND - COUNT_LEAD));
                judging = Some(started + JUDGE_INTERVAL);
            }
            if self.progress.phase == Phase::Running {
                if let Some(due) = seconds.as_mut().filter(|due| **due <= now) {
                    *due = *due + SECOND;
                    self.second_ended(now);
                }
                if let Some(due) = judging.as_mut().filter(|due| **due <= now) {
                    *due = *due + JUDGE_INTERVAL;
                    self.judge_thresholds();
                }
            }
            self.listeners.notify_progress(&self.progress, now);
        }
        self.close()
    }

    fn take(&mut self, event: EngineEvent) {
        self.listeners.notify(Event::Engine(&event));
        match event {
            EngineEvent::UsersReady => self.progress.phase = Phase::SetUp,
            EngineEvent::Started => self.progress.phase = Phase::Running,
            EngineEvent::ScenariosDone => self.progress.phase = Phase::TearDown,
            EngineEvent::Notice(notice) => self.listeners.notify(Event::Notice(&notice)),
            EngineEvent::Records(records) => self.listeners.notify(Event::Samples(&records.into())),
            EngineEvent::Window {
                worker,
                window,
                part,
                taken,
                in_flight,
                thread,
            } => {
                if part == RunPart::Scenarios
                    && let Some(started) = self.progress.state.started()
                {
                    if let Some(stretch) = &mut self.after_warm_up {
                        for (second, part) in window.seconds() {
                            if second.number >= self.warm_up.as_secs() {
                                stretch.add(part);
                            }
                        }
                    }
                    self.listeners.notify(Event::Window(&WorkerWindow {
                        window: &window,
                        in_flight: &in_flight,
                        started,
                    }));
                }
                self.progress.totals.merge(window);
                if let Some(thread) = thread {
                    if self.progress.phase == Phase::Running && !self.is_warm_up(taken, thread.span)
                    {
                        self.progress.evidence.add(worker, &thread);
                    }
                    self.progress.set_thread(worker, thread);
                }
                self.report_problems();
            }
            // Listeners have it already.
            EngineEvent::Waiting | EngineEvent::Memory(_) | EngineEvent::Finished => {}
        }
    }

    /// Whether a reading of that length belongs to the warm-up, judged by the middle of its interval.
    fn is_warm_up(&self, taken: Moment, span: Duration) -> bool {
        let started = self.progress.state.started();
        started.is_some_and(|started| taken.since(started) < self.warm_up + span / 2)
    }

    /// Reports the problems that were found while merging samples.
    fn report_problems(&mut self) {
        for warning in self.progress.totals.take_warnings() {
            self.listeners.notify(Event::Warning(&warning));
        }
        for records in self.progress.totals.take_records() {
            self.listeners.notify(Event::Samples(&records.into()));
        }
    }

    fn second_ended(&mut self, now: Moment) {
        let progress = &mut self.progress;
        let users = progress.state.users_active();
        if self.part.is_none() {
            progress
                .totals
                .users(users, progress.state.users_initialized(), now);
        }
        self.listeners.notify(Event::Second(&self.progress));
        self.users_most = self.users_most.max(users);
        self.read_limits();
        // The last second of the warm-up has ended.
        let elapsed = self.progress.elapsed() + 2 * COUNT_LEAD;
        if !self.warm_up.is_zero() && elapsed >= self.warm_up && elapsed < self.warm_up + SECOND {
            self.machine_before = self.meter.read();
        }
    }

    /// Measures how close the process is to the kernel's limits.
    fn read_limits(&mut self) {
        let evidence = &mut self.progress.evidence;
        evidence.waiting_ports = evidence
            .waiting_ports
            .max(plimsoll_machine::waiting_ports());
        evidence.descriptors = evidence.descriptors.max(plimsoll_machine::descriptors());
    }

    fn judge_thresholds(&mut self) {
        // Thresholds are judged elsewhere.
        if self.part.is_some() {
            return;
        }
        let elapsed = self.progress.elapsed();
        let report = self.progress.totals.evaluate(elapsed, Stage::Running);
        if report.abort() {
            self.progress.state.abort(AbortReason::Threshold);
        }
    }

    /// The length of the judged time. It is the whole run if the run ended during the warm-up.
    fn judged_time(&self) -> Duration {
        let elapsed = self.progress.elapsed();
        if elapsed > self.warm_up {
            elapsed.saturating_sub(self.warm_up)
        } else {
            elapsed
        }
    }

    /// The judged figures: those of the whole run, or those after the warm-up.
    fn judged(&self, metric: MetricId) -> Option<Values> {
        let elapsed = self.progress.elapsed();
        match &self.after_warm_up {
            Some(stretch) if elapsed > self.warm_up => stretch.values(metric, self.judged_time()),
            _ => self.progress.totals.values(metric, elapsed),
        }
    }

    /// The readings of the machine. Workers in other processes count as part of this program.
    fn machine(&self) -> MachineReading {
        let mut machine = self.meter.read().since(&self.machine_before);
        if let Some(remote) = &self.remote {
            machine.own += remote.local_time();
        }
        let is_shared = self.part.as_ref().is_some_and(|part| part.shares_machine);
        if let Some(busy) = machine.allowed_busy.filter(|_| is_shared) {
            machine.own = busy;
        }
        machine
    }

    /// The numbers of iterations that arrival-rate scenarios started and dropped. Other scenarios have no schedule.
    fn scheduled(&self) -> (u64, u64) {
        let now = plimsoll_clock::now();
        let scenarios = self.progress.scenarios.iter();
        let scheduled = scenarios.filter(|state| {
            matches!(
                state.scenario.executor,
                Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. }
            )
        });
        scheduled.fold((0, 0), |(started, dropped), state| {
            let reading = state.read(now);
            (
                started + reading.iterations_started,
                dropped + reading.iterations_dropped,
            )
        })
    }

    fn complete_evidence(&mut self, summary: &Summary) {
        let mut evidence = std::mem::take(&mut self.progress.evidence);
        let state = &self.progress.state;
        let scenarios = self.progress.scenarios.iter();
        let arrivals = scenarios.filter_map(|state| sent_arrivals(state, self.warm_up));
        let arrivals = arrivals.collect();
        let (scheduled_started, scheduled_dropped) = self.scheduled();
        evidence.complete(&RunFigures {
            summary,
            whole: &|metric| self.progress.totals.values(metric, summary.elapsed),
            judged: &|metric| self.judged(metric),
            judged_time: self.judged_time(),
            scheduled_started,
            scheduled_dropped,
            machine: self.machine(),
            users_most: self.users_most,
            completed: state.iterations_completed(),
            interrupted: state.iterations_interrupted(),
            is_request_load: self.is_request_load,
            arrivals,
            machine_failure: match state.aborted() {
                Some(AbortReason::Machine(text)) => Some(text.clone()),
                _ => None,
            },
        });
        self.progress.evidence = evidence;
    }

    fn close(mut self) -> Outcome {
        // Process the events that workers sent since the last check.
        while let Ok(event) = self.events.try_recv() {
            self.take(event);
        }
        self.report_problems();
        self.progress.phase = Phase::Running;
        self.listeners.notify(Event::Done(&self.progress));
        let elapsed = self.progress.elapsed();
        let judged = self.progress.totals.evaluate(elapsed, Stage::Over);
        let mut summary = self.progress.totals.summary(elapsed);
        for error in &mut summary.http.errors {
            error.text = for_display(&error.text).into_owned();
        }
        let scenarios = &self.progress.scenarios;
        summary.work = scenarios.iter().filter_map(|state| state.work()).collect();
        let states = scenarios.iter().map(|state| &**state);
        summary.load = plimsoll_engine::load_duration(states).map(|load| load.min(elapsed));
        summary.threw = self.progress.state.iterations_threw();
        summary.iterations = self.progress.state.iterations_completed();
        self.read_limits();
        self.complete_evidence(&summary);
        let mut verdict = self.progress.verdict();
        let remote = self.remote.as_mut();
        let mut conclusion = remote.map_or_else(Conclusion::default, |remote| remote.conclude());
        conclusion.add_to(&mut verdict);
        let state = &self.progress.state;
        let marked_failed = state.marked_failed() || conclusion.marked_failed;
        self.listeners.notify(Event::Judged(&Judgment {
            summary: &summary,
            verdict: &verdict,
            problems: &self.progress.evidence.problems(),
            aborted: aborted(state),
            marked_failed,
            elapsed,
        }));
        let mut finished = self.listeners.finish();
        let mut messages = conclusion.messages;
        if !self.warm_up.is_zero() {
            messages.push(format!(
                "Warm-up: the verdict leaves out the first {}, and the figures include it.",
                plimsoll_units::duration::format(self.warm_up)
            ));
        }
        messages.append(&mut finished.messages);
        finished.messages = messages;
        Outcome {
            verdict,
            aborted: aborted(state).cloned(),
            marked_failed,
            iterations: state.iterations_completed(),
            crossed: judged.crossed().into_iter().map(str::to_owned).collect(),
            output_errors: finished.errors,
            messages: finished.messages,
            record: finished.record,
            remote_cpu: conclusion.cpu,
            input_error: None,
            summary,
        }
    }
}

/// Why the run was aborted. A run that reached its precision is complete.
fn aborted(state: &RunState) -> Option<&AbortReason> {
    let reason = state.aborted()?;
    (*reason != AbortReason::Precise).then_some(reason)
}
