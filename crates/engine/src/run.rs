//! The conductor: brings workers through a run's phases in step.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use plimsoll_machine::{ThreadReading, shortage};
use plimsoll_plan::Plan;
use plimsoll_samples::{Registry, TagMap, Watch, Window};
use plimsoll_units::Moment;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::executors::Handovers;
use crate::worker::{self, Assignment, Command, Report, ScenarioShare};
use crate::{AbortReason, InFlightReading, RunState, ScenarioState, UserFactory};

/// All that a run is made of.
pub struct Setting<F: UserFactory> {
    /// What to run.
    pub plan: Arc<Plan>,
    /// Makes its users.
    pub factory: Arc<F>,
    /// Names the metrics.
    pub registry: Arc<Registry>,
    /// What is to be told apart in them.
    pub watch: Arc<Watch>,
    /// Tags of every sample.
    pub run_tags: TagMap,
    /// Least time from one iteration's start to the next's.
    pub min_iteration: Duration,
    /// Worker threads at the most; never more than there are users.
    pub workers: usize,
}

/// What happens in a run, in the order in which it does.
#[derive(Debug)]
pub enum Event {
    /// Every planned user's init code has run.
    UsersReady,
    /// Scenarios began; set-up is over.
    Started,
    /// What one worker recorded since it last said so.
    Window {
        /// From 0.
        worker: usize,
        /// The samples.
        window: Window,
        /// The part of the run that they are of.
        part: Part,
        /// When they were handed over.
        taken: Moment,
        /// Iterations under way on the worker since the last window.
        in_flight: InFlightReading,
        /// How the worker's thread did; not in the window after its last second.
        thread: Option<ThreadReading>,
    },
    /// Something the person who watches should know.
    Notice(Notice),
    /// The last scenario is over; tear-down comes.
    ScenariosDone,
    /// All is over, and every window was handed over. The last event.
    Finished,
}

/// A part of a run, of which a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Users are made, and set-up.
    SetUp,
    /// Scenarios.
    Scenarios,
    /// Tear-down.
    TearDown,
}

/// Something the person who watches should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An open model's users were all busy: iterations are dropped.
    InsufficientUsers {
        /// Which scenario.
        scenario: String,
        /// Its executor, by the name it has in scripts.
        executor: &'static str,
        /// How many users it has, all of them busy.
        users: u32,
    },
}

/// A run under way.
pub struct Running {
    /// What happens in it.
    pub events: Receiver<Event>,
    /// Its counters, and the way to abort it.
    pub state: Arc<RunState>,
    /// Its scenarios' counters, in the plan's order.
    pub scenarios: Vec<Arc<ScenarioState>>,
}

/// Starts a run on threads of its own.
pub fn start<F: UserFactory>(setting: Setting<F>) -> Running {
    let state = Arc::new(RunState::new());
    let scenarios: Vec<_> = setting
        .plan
        .scenarios
        .iter()
        .map(|scenario| Arc::new(ScenarioState::new(scenario.clone())))
        .collect();
    let (events, received) = channel();
    let running = Running {
        events: received,
        state: Arc::clone(&state),
        scenarios: scenarios.clone(),
    };
    let conducting = {
        let (state, events) = (Arc::clone(&state), events.clone());
        std::thread::Builder::new()
            .name("conductor".to_owned())
            .spawn(move || conduct(setting, &state, &scenarios, &events))
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
) {
    let (reports, reported) = channel();
    let workers = hire(setting, state, scenarios, events, &reports);
    let mut phase = Phase {
        workers: &workers,
        state,
        reported: &reported,
        told_abort: false,
    };
    let say = |event| {
        let _ = events.send(event);
    };

    phase.wait_for_all(|report| matches!(report, Report::UsersReady));
    if state.aborted().is_none() {
        say(Event::UsersReady);
        phase.tell_first(Command::SetUp);
        phase.wait_for_one(|report| matches!(report, Report::SetUpDone));
        if state.aborted().is_none() {
            let start = plimsoll_clock::now();
            state.start(start);
            say(Event::Started);
            phase.tell_all(|| Command::Start(start));
            phase.wait_for_all(|report| matches!(report, Report::ScenariosDone));
            state.end(plimsoll_clock::now());
            say(Event::ScenariosDone);
            // From here on an abort no longer cuts users off, for there are
            // none at work; tear-down has a time-out of its own.
            phase.tell_first(Command::TearDown);
            phase.wait_for_one(|report| matches!(report, Report::TearDownDone));
        }
    }
    phase.tell_all(|| Command::Exit);
    for worker in workers {
        let _ = worker.thread.join();
    }
    say(Event::Finished);
}

struct Hired {
    commands: UnboundedSender<Command>,
    thread: std::thread::JoinHandle<()>,
}

/// Shares the plan out to workers and starts their threads.
fn hire<F: UserFactory>(
    setting: Setting<F>,
    state: &Arc<RunState>,
    scenarios: &[Arc<ScenarioState>],
    events: &Sender<Event>,
    reports: &Sender<Report>,
) -> Vec<Hired> {
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
                    .filter(|slot| home(*slot, together, count) == index)
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
                Ok(thread) => Some(Hired { commands, thread }),
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

/// The worker on which a slot's user lives: so many in a row on each in turn.
fn home(slot: u32, together: u32, workers: usize) -> usize {
    (slot / together) as usize % workers
}

/// Of a scenario's slots, those of one worker, with the users' index in it.
fn share_of(slots: &[u32], together: u32, worker: usize, workers: usize) -> Vec<(u32, u32)> {
    (0_u32..)
        .zip(slots.iter().copied())
        .filter(|(_, slot)| home(*slot, together, workers) == worker)
        .collect()
}

struct Phase<'a> {
    workers: &'a [Hired],
    state: &'a RunState,
    reported: &'a Receiver<Report>,
    told_abort: bool,
}

impl Phase<'_> {
    fn tell_all(&self, command: impl Fn() -> Command) {
        for worker in self.workers {
            // A worker that is gone has said so, or has aborted the run.
            let _ = worker.commands.send(command());
        }
    }

    fn tell_first(&self, command: Command) {
        if let Some(worker) = self.workers.first() {
            let _ = worker.commands.send(command);
        }
    }

    fn wait_for_all(&mut self, wanted: impl Fn(&Report) -> bool) {
        self.wait_for(self.workers.len(), wanted);
    }

    fn wait_for_one(&mut self, wanted: impl Fn(&Report) -> bool) {
        self.wait_for(self.workers.len().min(1), wanted);
    }

    /// Waits for that many reports, and passes an abort on as soon as it is
    /// asked for. A worker that is gone counts as having reported.
    fn wait_for(&mut self, mut count: usize, wanted: impl Fn(&Report) -> bool) {
        while count > 0 {
            match self.reported.recv_timeout(ABORT_LOOK) {
                Ok(report) if wanted(&report) || matches!(report, Report::Gone) => count -= 1,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if !self.told_abort && self.state.aborted().is_some() {
                self.told_abort = true;
                self.tell_all(|| Command::Abort);
            }
        }
    }
}

/// How often the conductor looks whether the run was aborted.
const ABORT_LOOK: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_dealt_out_in_turn() {
        assert_eq!(share_of(&[0, 1, 2, 5], 1, 1, 2), [(1, 1), (3, 5)]);
        assert_eq!(share_of(&[0, 1, 2, 5], 1, 0, 2), [(0, 0), (2, 2)]);
        // Two in a row: 0 and 1, 2 and 3, 4 and 5.
        assert_eq!(share_of(&[0, 1, 2, 5], 2, 0, 2), [(0, 0), (1, 1), (3, 5)]);
        assert_eq!(share_of(&[0, 1, 2, 5], 2, 1, 2), [(2, 2)]);
    }
}
