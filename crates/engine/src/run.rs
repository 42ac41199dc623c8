//! The conductor: starts the workers and keeps them in the same phase of the run.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use plimsoll_machine::shortage;
use plimsoll_plan::Plan;
use plimsoll_samples::{Registry, TagMap, Watch};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::calls::Calls;
use crate::executors::Handovers;
use crate::seat::UserStep;
use crate::worker::{self, Assignment, Command, Report, ScenarioShare};
use crate::{AbortReason, Event, RunState, ScenarioState, UserFactory};

/// Everything that defines a run.
pub struct Setting<F: UserFactory> {
    /// The plan to run.
    pub plan: Arc<Plan>,
    /// Creates the users.
    pub factory: Arc<F>,
    /// The names of the metrics.
    pub registry: Arc<Registry>,
    /// The metrics and tags to observe during the run.
    pub watch: Arc<Watch>,
    /// Tags of every sample.
    pub run_tags: TagMap,
    /// Minimum time between the starts of two iterations of a user.
    pub min_iteration: Duration,
    /// Maximum number of worker threads. There are never more workers than users.
    pub workers: usize,
    /// After setup, wait until [`RunState::start_at`] sets the start time.
    pub waits_for_start: bool,
}

/// A running test.
pub struct Running {
    /// The events of the run.
    pub events: Receiver<Event>,
    /// Its counters, which can also abort it.
    pub state: Arc<RunState>,
    /// Its scenarios' counters, in the plan's order.
    pub scenarios: Vec<Arc<ScenarioState>>,
    /// Calls its setup and teardown from outside; `None` if its workers run in other processes.
    pub calls: Option<Calls>,
}

/// Starts a run on separate threads.
pub fn start<F: UserFactory>(setting: Setting<F>) -> Running {
    let state = Arc::new(RunState::new());
    state.set_paused(setting.plan.options.paused == Some(true));
    let new = match setting.waits_for_start {
        true => ScenarioState::of_part,
        false => ScenarioState::new,
    };
    let scenarios = setting.plan.scenarios.iter().cloned();
    let scenarios: Vec<_> = scenarios.map(|scenario| Arc::new(new(scenario))).collect();
    let (events, received) = channel();
    let (reports, reported) = channel();
    let conductor = reports.clone();
    let calls = Calls::by(move |call| {
        let _ = conductor.send(Report::Call(call));
    });
    let running = Running {
        events: received,
        state: Arc::clone(&state),
        scenarios: scenarios.clone(),
        calls: Some(calls),
    };
    let conducting = {
        let (state, events) = (Arc::clone(&state), events.clone());
        std::thread::Builder::new()
            .name("conductor".to_owned())
            .spawn(move || conduct(setting, &state, &scenarios, &events, (&reports, &reported)))
    };
    if let Err(error) = conducting {
        state.abort(AbortReason::Machine(format!(
            "could not start a thread: {}",
            shortage::explain(&error)
        )));
        let _ = events.send(Event::Finished);
    }
    running
}

fn conduct<F: UserFactory>(
    setting: Setting<F>,
    state: &Arc<RunState>,
    scenarios: &[Arc<ScenarioState>],
    events: &Sender<Event>,
    (reports, reported): (&Sender<Report>, &Receiver<Report>),
) {
    let waits_for_start = setting.waits_for_start;
    let has_user_steps = setting.factory.has_user_steps();
    let workers = start_workers(setting, state, scenarios, events, reports);
    let mut phase = Phase {
        workers: &workers,
        state,
        reported,
        abort_sent: false,
        gone: 0,
    };
    let send_event = |event| {
        let _ = events.send(event);
    };

    phase.wait_for_all(|report| matches!(report, Report::UsersReady));
    if state.aborted().is_none() {
        send_event(Event::UsersReady);
        phase.wait_while(RunState::is_paused);
    }
    if state.aborted().is_none() {
        phase.send_first(Command::SetUp);
        phase.wait_for_one(|report| matches!(report, Report::SetUpDone));
        if has_user_steps && state.aborted().is_none() {
            phase.send_all(|| Command::Users(UserStep::Begin));
            phase.wait_for_all(|report| matches!(report, Report::UsersDone));
        }
        if waits_for_start && state.aborted().is_none() {
            send_event(Event::Waiting);
            phase.wait_for_start();
        }
        if state.aborted().is_none() {
            let start = state.start_moment().unwrap_or_else(plimsoll_clock::now);
            state.start(start);
            send_event(Event::Started);
            phase.send_all(|| Command::Start(start));
            phase.wait_for_all(|report| matches!(report, Report::ScenariosDone));
            state.end(plimsoll_clock::now());
            send_event(Event::ScenariosDone);
            phase.wait_while(RunState::teardown_waits);
            if has_user_steps {
                phase.send_all(|| Command::Users(UserStep::Finish));
                phase.wait_for_all(|report| matches!(report, Report::UsersDone));
            }
            // From here on, an abort no longer interrupts users, because none are running. Teardown has its own
            // timeout.
            phase.send_first(Command::TearDown);
            phase.wait_for_one(|report| matches!(report, Report::TearDownDone));
        }
    }
    phase.send_all(|| Command::Exit);
    // Their threads may run for seconds longer to free the users.
    phase.wait_until_gone();
    send_event(Event::Finished);
}

struct WorkerHandle {
    commands: UnboundedSender<Command>,
}

/// Divides the plan among workers and starts their threads.
fn start_workers<F: UserFactory>(
    setting: Setting<F>,
    state: &Arc<RunState>,
    scenarios: &[Arc<ScenarioState>],
    events: &Sender<Event>,
    reports: &Sender<Report>,
) -> Vec<WorkerHandle> {
    let slots = setting.plan.assign_slots();
    let planned = slots
        .iter()
        .flatten()
        .max()
        .map_or(0, |highest| highest + 1);
    let users = scenarios
        .iter()
        .map(|s| s.scenario.max_users())
        .max()
        .unwrap_or(1);
    let together = setting.factory.together().max(1);
    let groups = users.max(planned).div_ceil(together);
    let count = setting.workers.min(groups as usize).max(1);
    state.number_unplanned_from(planned + 1);
    let mut handovers: Vec<_> = scenarios
        .iter()
        .map(|_| Handovers::for_workers(count).into_iter())
        .collect();
    (0..count)
        .filter_map(|index| {
            let (commands, received) = unbounded_channel();
            let shares = scenarios.iter().zip(&slots).zip(&mut handovers).filter_map(
                |((scenario, slots), handovers)| {
                    Some(ScenarioShare {
                        state: Arc::clone(scenario),
                        users: share_of(slots, together, index, count),
                        planned: slots.len() as u32,
                        handovers: handovers.next()?,
                    })
                },
            );
            let assignment = Assignment {
                index,
                workers: count,
                factory: Arc::clone(&setting.factory),
                run: Arc::clone(state),
                registry: Arc::clone(&setting.registry),
                watch: Arc::clone(&setting.watch),
                scenarios: shares.collect(),
                slots: (0..planned)
                    .filter(|slot| worker_of(*slot, together, count) == index)
                    .collect(),
                min_iteration: setting.min_iteration,
                run_tags: setting.run_tags.clone(),
                commands: received,
                reports: reports.clone(),
                events: events.clone(),
            };
            let spawned = std::thread::Builder::new()
                .name(format!("worker-{index}"))
                .spawn(move || worker::run(assignment));
            match spawned {
                Ok(_) => Some(WorkerHandle { commands }),
                Err(error) => {
                    let what = format!(
                        "could not start a worker thread: {}",
                        shortage::explain(&error)
                    );
                    state.abort(AbortReason::Machine(what));
                    None
                }
            }
        })
        .collect()
}

/// The worker that runs the user of a slot. Groups of `together` users are assigned to the workers
/// round-robin.
fn worker_of(slot: u32, together: u32, workers: usize) -> usize {
    (slot / together) as usize % workers
}

/// One worker's part of a scenario's slots, with the users' indexes in the scenario.
fn share_of(slots: &[u32], together: u32, worker: usize, workers: usize) -> Vec<(u32, u32)> {
    (0_u32..)
        .zip(slots.iter().copied())
        .filter(|(_, slot)| worker_of(*slot, together, workers) == worker)
        .collect()
}

struct Phase<'a> {
    workers: &'a [WorkerHandle],
    state: &'a RunState,
    reported: &'a Receiver<Report>,
    abort_sent: bool,
    /// The number of workers that have ended.
    gone: usize,
}

impl Phase<'_> {
    fn wait_until_gone(&mut self) {
        while self.gone < self.workers.len()
            && let Ok(report) = self.reported.recv()
        {
            self.gone += usize::from(matches!(report, Report::Gone));
        }
    }

    fn send_all(&self, command: impl Fn() -> Command) {
        for worker in self.workers {
            // A worker that ended either reported that or aborted the run.
            let _ = worker.commands.send(command());
        }
    }

    fn send_first(&self, command: Command) {
        if let Some(worker) = self.workers.first() {
            let _ = worker.commands.send(command);
        }
    }

    /// Waits while `waits` returns true, until the run is aborted or a worker ends.
    fn wait_while(&mut self, waits: impl Fn(&RunState) -> bool) {
        while waits(self.state) && self.state.aborted().is_none() {
            if !self.wait(ABORT_INTERVAL) {
                return;
            }
        }
    }

    /// Waits for the start time.
    fn wait_for_start(&mut self) {
        self.wait_while(|state| state.start_moment().is_none());
        while let Some(start) = self.state.start_moment()
            && self.state.aborted().is_none()
        {
            let left = start.since(plimsoll_clock::now());
            if left.is_zero() || !self.wait(left.min(ABORT_INTERVAL)) {
                return;
            }
        }
    }

    /// Waits for this duration. Returns false as soon as a worker has ended.
    fn wait(&mut self, time: Duration) -> bool {
        match self.reported.recv_timeout(time) {
            Ok(Report::Gone) => {
                self.gone += 1;
                false
            }
            Ok(Report::Call(call)) => {
                self.send_first(Command::Call(call));
                true
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => false,
        }
    }

    fn wait_for_all(&mut self, wanted: impl Fn(&Report) -> bool) {
        self.wait_for(self.workers.len(), wanted);
    }

    fn wait_for_one(&mut self, wanted: impl Fn(&Report) -> bool) {
        self.wait_for(self.workers.len().min(1), wanted);
    }

    /// Waits for `count` reports. Forwards a requested abort immediately. A worker that has ended
    /// counts as having reported.
    fn wait_for(&mut self, mut count: usize, wanted: impl Fn(&Report) -> bool) {
        while count > 0 {
            match self.reported.recv_timeout(ABORT_INTERVAL) {
                Ok(Report::Gone) => {
                    self.gone += 1;
                    count -= 1;
                }
                Ok(Report::Call(call)) => self.send_first(Command::Call(call)),
                Ok(report) => count -= usize::from(wanted(&report)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if !self.abort_sent && self.state.aborted().is_some() {
                self.abort_sent = true;
                self.send_all(|| Command::Abort);
            }
        }
    }
}

/// Interval at which the conductor checks whether the run was aborted.
const ABORT_INTERVAL: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_distributed_round_robin() {
        assert_eq!(share_of(&[0, 1, 2, 5], 1, 1, 2), [(1, 1), (3, 5)]);
        assert_eq!(share_of(&[0, 1, 2, 5], 1, 0, 2), [(0, 0), (2, 2)]);
        // Two users in a row: 0 and 1, 2 and 3, 4 and 5.
        assert_eq!(share_of(&[0, 1, 2, 5], 2, 0, 2), [(0, 0), (1, 1), (3, 5)]);
        assert_eq!(share_of(&[0, 1, 2, 5], 2, 1, 2), [(2, 2)]);
    }
}
