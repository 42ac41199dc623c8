//! State of a scenario that all workers share: its counters, its progress and its current number of users.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use plimsoll_pace::Takeover;
use plimsoll_plan::{Executor, Scenario};
use plimsoll_samples::{Loops, ScenarioWork, WorkDone};
use plimsoll_units::Moment;

use crate::sent_times::SentTimes;

/// The state of a running scenario that all workers share.
#[derive(Debug)]
pub struct ScenarioState {
    /// The definition.
    pub scenario: Scenario,
    started: OnceLock<Moment>,
    finished_on: AtomicU32,
    finished: OnceLock<Moment>,
    interrupted: AtomicBool,
    told_of_drops: AtomicBool,
    iterations_begun: AtomicU64,
    iterations_completed: AtomicU64,
    iterations_dropped: AtomicU64,
    users_active: AtomicU32,
    users_taken: AtomicU32,
    /// Number of users that an arrival-rate scenario may still add.
    unplanned_left: AtomicU32,
    /// Number of users that an externally controlled scenario should run.
    wanted_users: AtomicU32,
    /// The results of its users, if the amount of work is fixed.
    work_done: Option<WorkDone>,
    /// Parts that this process takes over from lost processes; `None` if it is not part of a larger
    /// run.
    takeovers: Option<Takeovers>,
    /// Start times of iterations, if they are random.
    sent: Option<SentTimes>,
}

#[derive(Debug, Default)]
struct Takeovers {
    parts: Mutex<Vec<Takeover>>,
    /// The number of parts, which is read before each iteration.
    count: AtomicUsize,
}

impl Takeovers {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Takeover>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A snapshot of a scenario's counters, for display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScenarioReading {
    /// Time since the scenario's start; `None` while it waits for its start time.
    pub elapsed: Option<Duration>,
    /// The completed part, from 0 to 1.
    pub progress: f64,
    /// Number of users that run for it now.
    pub users_active: u32,
    /// Number of users that it has used so far.
    pub users_taken: u32,
    /// Number of iterations that were started.
    pub iterations_started: u64,
    /// Number of iterations that ended normally.
    pub iterations_completed: u64,
    /// Number of scheduled iterations for which no user was free.
    pub iterations_dropped: u64,
    /// Whether the scenario has ended on every worker.
    pub finished: bool,
    /// Its duration, if it has ended.
    pub ran_for: Option<Duration>,
    /// Whether it ended early: before its time, or before its users had started all shared iterations.
    pub cut_short: bool,
}

impl ScenarioState {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let unplanned = scenario
            .max_users()
            .saturating_sub(scenario.planned_users());
        let work_done = fixed_work(&scenario.executor).map(|_| WorkDone::default());
        let wanted_users = AtomicU32::new(match scenario.executor {
            Executor::ExternallyControlled { users, .. } => users,
            _ => 0,
        });
        ScenarioState {
            sent: SentTimes::of(&scenario),
            scenario,
            work_done,
            started: OnceLock::new(),
            finished_on: AtomicU32::new(0),
            finished: OnceLock::new(),
            interrupted: AtomicBool::new(false),
            told_of_drops: AtomicBool::new(false),
            iterations_begun: AtomicU64::new(0),
            iterations_completed: AtomicU64::new(0),
            iterations_dropped: AtomicU64::new(0),
            users_active: AtomicU32::new(0),
            users_taken: AtomicU32::new(0),
            unplanned_left: AtomicU32::new(unplanned),
            wanted_users,
            takeovers: None,
        }
    }

    /// The same for a process that may have to take over iterations from others.
    pub(crate) fn of_part(scenario: Scenario) -> Self {
        ScenarioState {
            takeovers: Some(Takeovers::default()),
            ..ScenarioState::new(scenario)
        }
    }

    /// Takes over a part of another process's schedule. Only possible for an open model that is part of
    /// a larger run.
    pub fn take_over(&self, part: Takeover) {
        if let Some(takeovers) = &self.takeovers {
            let mut parts = takeovers.lock();
            parts.push(part);
            takeovers.count.store(parts.len(), Ordering::Release);
        }
    }

    /// Whether it may have to take over iterations from other processes.
    pub(crate) fn may_take_over(&self) -> bool {
        self.takeovers.is_some()
    }

    /// The part with this number, counted from 0, of those that it takes over.
    pub(crate) fn takeover(&self, number: usize) -> Option<Takeover> {
        let takeovers = self.takeovers.as_ref()?;
        if number >= takeovers.count.load(Ordering::Acquire) {
            return None;
        }
        takeovers.lock().get(number).cloned()
    }

    /// The sample of start times; `None` if they are not random.
    pub fn sent(&self) -> Option<&SentTimes> {
        self.sent.as_ref()
    }

    /// Changes the number of users of an externally controlled scenario. Returns false if the scenario
    /// is not externally controlled or has fewer users.
    pub fn scale(&self, users: u32) -> bool {
        match self.scenario.executor {
            Executor::ExternallyControlled { max_users, .. } if users <= max_users => {
                self.wanted_users.store(users, Ordering::Relaxed);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn wanted_users(&self) -> u32 {
        self.wanted_users.load(Ordering::Relaxed)
    }

    /// When the scenario started; `None` while it waits.
    pub fn started(&self) -> Option<Moment> {
        self.started.get().copied()
    }

    /// The completed part at `now`, from 0 to 1: of the iterations if their number is fixed, otherwise
    /// of the time.
    pub fn progress(&self, now: Moment) -> f64 {
        if self.finished.get().is_some() && !self.is_cut_short() {
            return 1.0;
        }
        let now = self.finished.get().map_or(now, |end| now.min(*end));
        let done = self.iterations_completed.load(Ordering::Relaxed) as f64;
        let share = match &self.scenario.executor {
            // Zero iterations are complete immediately.
            Executor::SharedIterations { iterations: 0, .. }
            | Executor::PerUserIterations { users: 0, .. } => 1.0,
            Executor::SharedIterations { iterations, .. } => done / (*iterations).max(1) as f64,
            Executor::PerUserIterations {
                users, iterations, ..
            } => done / (u64::from(*users).saturating_mul(*iterations)).max(1) as f64,
            executor => {
                let Some(started) = self.started() else {
                    return 0.0;
                };
                let Some(whole) = executor.duration() else {
                    return 0.0;
                };
                let whole = whole.as_secs_f64();
                if whole > 0.0 {
                    now.since(started).as_secs_f64() / whole
                } else {
                    0.0
                }
            }
        };
        share.min(1.0)
    }

    /// Whether the scenario ended early. Iterations that did not end within the graceful stop do not
    /// count.
    fn is_cut_short(&self) -> bool {
        let Some((started, finished)) = self.started().zip(self.finished.get()) else {
            return false;
        };
        let incomplete = match &self.scenario.executor {
            Executor::SharedIterations { iterations, .. } => {
                self.iterations_completed.load(Ordering::Relaxed) < *iterations
            }
            _ => false,
        };
        let before_time = finished.since(started) < self.regular_duration();
        incomplete || before_time && self.interrupted.load(Ordering::Relaxed)
    }

    /// The time in which iterations may start. A scenario without an end gets a duration longer than
    /// any run.
    pub fn regular_duration(&self) -> Duration {
        self.scenario
            .executor
            .duration()
            .unwrap_or(Duration::from_secs(100 * 365 * 86_400))
    }

    /// A snapshot of all counters at `now`.
    pub fn read(&self, now: Moment) -> ScenarioReading {
        ScenarioReading {
            elapsed: self.started().map(|started| now.since(started)),
            progress: self.progress(now),
            users_active: self.users_active.load(Ordering::Relaxed),
            users_taken: self.users_taken.load(Ordering::Relaxed),
            iterations_started: self.iterations_started(),
            iterations_completed: self.iterations_completed.load(Ordering::Relaxed),
            iterations_dropped: self.iterations_dropped.load(Ordering::Relaxed),
            finished: self.finished.get().is_some(),
            ran_for: self
                .started()
                .zip(self.finished.get())
                .map(|(from, to)| to.since(from)),
            cut_short: self.is_cut_short(),
        }
    }

    /// Number of iterations that were started. Users that find no shared iteration left still increment
    /// the counter.
    fn iterations_started(&self) -> u64 {
        let counter = self.iterations_begun();
        match &self.scenario.executor {
            Executor::SharedIterations { iterations, .. } => counter.min(*iterations),
            _ => counter,
        }
    }

    /// Collects the results of its users; `None` if the amount of work is not fixed.
    pub fn work_done(&self) -> Option<&WorkDone> {
        self.work_done.as_ref()
    }

    /// The results of its work, if the amount is fixed. They are complete when its users have ended.
    pub fn work(&self) -> Option<ScenarioWork> {
        let (workers, loops) = fixed_work(&self.scenario.executor)?;
        Some(ScenarioWork {
            scenario: self.scenario.name.clone(),
            workers,
            loops,
            iterations: self.iterations_completed.load(Ordering::Relaxed),
            done: self.work_done()?.read(),
        })
    }

    /// Of a fixed number of iterations, the number that did not start in time.
    pub(crate) fn not_started(&self) -> Option<u64> {
        let (workers, loops) = fixed_work(&self.scenario.executor)?;
        let missing = loops.of(workers).saturating_sub(self.iterations_begun());
        (missing > 0).then_some(missing)
    }

    pub(crate) fn start(&self, at: Moment) {
        let _ = self.started.set(at);
    }

    /// Records that one worker's share has ended. Returns true for the last of `workers`.
    pub(crate) fn finish_share(&self, workers: usize) -> bool {
        let last = self.finished_on.fetch_add(1, Ordering::AcqRel) as usize + 1 == workers;
        if last {
            let _ = self.finished.set(plimsoll_clock::now());
        }
        last
    }

    /// Adds iterations of other processes.
    pub(crate) fn add(&self, started: u64, completed: u64, dropped: u64) {
        for (counter, more) in [
            (&self.iterations_begun, started),
            (&self.iterations_completed, completed),
            (&self.iterations_dropped, dropped),
        ] {
            counter.fetch_add(more, Ordering::Relaxed);
        }
    }

    pub(crate) fn mark_interrupted(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// The number of the next iteration, counted from 0.
    pub(crate) fn begin_iteration(&self) -> u64 {
        self.iterations_begun.fetch_add(1, Ordering::Relaxed)
    }

    /// Like [`Self::begin_iteration`], but only while fewer than `limit` iterations have started.
    pub(crate) fn begin_iteration_below(&self, limit: u64) -> Option<u64> {
        // Check with a plain load first. Otherwise users that wait for the end of a fixed number of
        // iterations would increment the counter forever.
        if self.iterations_begun.load(Ordering::Relaxed) >= limit {
            return None;
        }
        let number = self.iterations_begun.fetch_add(1, Ordering::Relaxed);
        (number < limit).then_some(number)
    }

    fn iterations_begun(&self) -> u64 {
        self.iterations_begun.load(Ordering::Relaxed)
    }

    pub(crate) fn iteration_completed(&self) {
        self.iterations_completed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn iterations_dropped(&self, count: u64) {
        self.iterations_dropped.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns true for the first caller.
    pub(crate) fn first_drop(&self) -> bool {
        !self.told_of_drops.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn user_activated(&self) {
        self.users_active.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn user_deactivated(&self) {
        self.users_active.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn users_taken(&self, count: u32) {
        self.users_taken.fetch_add(count, Ordering::Relaxed);
    }

    /// Reserves one more user than planned. Returns false if no more may be created.
    pub(crate) fn take_unplanned(&self) -> bool {
        self.unplanned_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_ok()
    }
}

/// The time after the run's start in which iterations may start, if only time limits it. `None` if
/// it depends on an amount of work.
pub fn load_duration<'a>(
    scenarios: impl IntoIterator<Item = &'a ScenarioState>,
) -> Option<Duration> {
    let ends = scenarios.into_iter().map(|state| {
        let scenario = &state.scenario;
        let duration = scenario.executor.duration()?;
        let is_bound_by_time = fixed_work(&scenario.executor).is_none();
        is_bound_by_time.then_some(scenario.start_time + duration)
    });
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// The users of an executor with a fixed number of iterations, and how the iterations are
/// distributed.
fn fixed_work(executor: &Executor) -> Option<(u32, Loops)> {
    match executor {
        Executor::PerUserIterations {
            users, iterations, ..
        } => Some((*users, Loops::Each(*iterations))),
        Executor::SharedIterations {
            users, iterations, ..
        } => Some((*users, Loops::Shared(*iterations))),
        _ => None,
    }
}
