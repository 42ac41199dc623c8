//! A worker: one thread with an event loop and a fixed share of the users.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use plimsoll_machine::{ThreadMeter, ThreadReading, shortage};
use plimsoll_samples::{Recorder, Registry, RunClock, SystemTag, TagMap, Watch};
use plimsoll_units::Moment;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::calls::{Call, OpenCalls};
use crate::executors::{self, Handovers, Share};
use crate::in_flight::InFlight;
use crate::seat::{Seats, UserStep};
use crate::timer::{run_with_timers, sleep_until};
use crate::{
    AbortReason, Event, InitError, Part, RunState, ScenarioContext, ScenarioState, Stop,
    UserFactory, Worker, load_duration,
};

/// A message from the conductor to a worker.
pub(crate) enum Command {
    SetUp,
    /// Runs a step of all users.
    Users(UserStep),
    /// Starts the scenarios, whose start times are relative to this moment.
    Start(Moment),
    Abort,
    TearDown,
    Call(Call),
    Exit,
}

/// A message to the conductor.
pub(crate) enum Report {
    UsersReady,
    SetUpDone,
    UsersDone,
    ScenariosDone,
    TearDownDone,
    /// A request to call a step on one of the workers. It does not come from a worker.
    Call(Call),
    Gone,
}

/// Everything that a worker's thread needs.
pub(crate) struct Assignment<F: UserFactory> {
    pub index: usize,
    pub workers: usize,
    pub factory: Arc<F>,
    pub run: Arc<RunState>,
    pub registry: Arc<Registry>,
    pub watch: Arc<Watch>,
    pub scenarios: Vec<ScenarioShare>,
    /// Slots of the plan whose users live on this worker.
    pub slots: Vec<u32>,
    pub min_iteration: Duration,
    pub run_tags: TagMap,
    pub commands: UnboundedReceiver<Command>,
    pub reports: Sender<Report>,
    pub events: Sender<Event>,
}

/// One worker's part of a scenario.
pub(crate) struct ScenarioShare {
    pub state: Arc<ScenarioState>,
    pub users: Vec<(u32, u32)>,
    pub planned: u32,
    pub handovers: Handovers,
}

/// Runs a worker on its thread.
pub(crate) fn run<F: UserFactory>(assignment: Assignment<F>) {
    let run = Arc::clone(&assignment.run);
    let exit_report = ExitReport {
        reports: assignment.reports.clone(),
        is_sent: Cell::new(false),
    };
    let ended = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // Check sockets after this many polls of tasks. Tasks are short, so with the default value, a
        // received response would wait longer than necessary.
        .event_interval(61)
        .build()
        .and_then(|runtime| {
            tokio::task::LocalSet::new().block_on(
                &runtime,
                run_with_timers(run_users(assignment, &exit_report)),
            )
        });
    if let Err(error) = ended {
        run.abort(AbortReason::Machine(format!(
            "could not start a worker's event loop: {}",
            shortage::explain(&error)
        )));
    }
}

/// Reports to the conductor, once, that this worker has ended, even if it panics.
struct ExitReport {
    reports: Sender<Report>,
    is_sent: Cell<bool>,
}

impl ExitReport {
    fn report(&self) {
        if !self.is_sent.replace(true) {
            // The conductor may have ended already.
            let _ = self.reports.send(Report::Gone);
        }
    }
}

impl Drop for ExitReport {
    fn drop(&mut self) {
        self.report();
    }
}

async fn run_users<F: UserFactory>(mut assignment: Assignment<F>, exit_report: &ExitReport) {
    // Open the file before the run starts. Later, other workers may have used up the file descriptors.
    let meter = ThreadMeter::new();
    let recorder = Rc::new(Recorder::new(
        Arc::clone(&assignment.registry),
        Arc::clone(&assignment.watch),
    ));
    let worker = Worker {
        index: assignment.index,
        recorder: Rc::clone(&recorder),
        run: Arc::clone(&assignment.run),
    };
    let seats = Rc::new(Seats::new(
        worker.clone(),
        Arc::clone(&assignment.factory),
        assignment.min_iteration,
    ));
    let report = |report| {
        let _ = assignment.reports.send(report);
    };
    if let Err(InitError(reason)) = make_users(&seats, &assignment.slots, &assignment.run).await {
        assignment.run.abort(reason);
    } else if assignment.run.aborted().is_none() {
        assignment.factory.ready(&worker).await;
    }
    report(Report::UsersReady);

    let once = Stop::new();
    let mut calls = OpenCalls::default();
    let running = Rc::new(RefCell::new(Vec::<Stop>::new()));
    let outbox = Rc::new(Outbox {
        worker: assignment.index,
        recorder: Rc::clone(&recorder),
        in_flight: Rc::clone(&seats.in_flight),
        part: Cell::new(Part::SetUp),
        events: assignment.events.clone(),
    });
    let reporting = tokio::task::spawn_local(report_each_second(
        meter,
        Rc::clone(&outbox),
        Arc::clone(&assignment.run),
    ));
    let mut shares = std::mem::take(&mut assignment.scenarios);
    let mut contexts = Vec::new();
    while let Some(command) = assignment.commands.recv().await {
        match command {
            Command::SetUp => {
                spawn_once(&assignment, &worker, &once, true);
            }
            Command::Users(step) => {
                if step == UserStep::Finish {
                    outbox.switch_phase(Part::TearDown);
                    recorder.set_clock(None);
                }
                let (seats, reports) = (Rc::clone(&seats), assignment.reports.clone());
                let run = Arc::clone(&assignment.run);
                tokio::task::spawn_local(async move {
                    if let Err(reason) = seats.step_all(step).await {
                        run.abort(reason);
                    }
                    let _ = reports.send(Report::UsersDone);
                });
            }
            Command::Start(start) => {
                // Samples of setup do not belong to the first second.
                outbox.switch_phase(Part::Scenarios);
                let scenarios = shares.iter().map(|share| &*share.state);
                recorder.set_clock(Some(RunClock {
                    start,
                    load_end: load_duration(scenarios).map(|load| start + load),
                }));
                let shares: Vec<_> = shares
                    .drain(..)
                    .enumerate()
                    .map(|(place, share)| {
                        let stop = Stop::new();
                        running.borrow_mut().push(stop.clone());
                        let state = Arc::clone(&share.state);
                        let named = recorder.sets(SystemTag::Scenario);
                        let tags = scenario_tags(&assignment.run_tags, &state, named);
                        let events = assignment.events.clone();
                        let scenario = Rc::new(ScenarioContext {
                            index: place,
                            tags: recorder.base_tags(&tags),
                            tag_map: tags,
                            state: Arc::clone(&state),
                            share: RefCell::default(),
                        });
                        contexts.push(Rc::clone(&scenario));
                        tokio::task::spawn_local(executors::run(Rc::new(Share {
                            seats: Rc::clone(&seats),
                            scenario,
                            users: share.users,
                            planned: share.planned,
                            start: start + state.scenario.start_time,
                            stop,
                            workers: assignment.workers,
                            worker: assignment.index,
                            handovers: share.handovers,
                            notify: Rc::new(move |notice| {
                                let _ = events.send(Event::Notice(notice));
                            }),
                        })))
                    })
                    .collect();
                let reports = assignment.reports.clone();
                let run = Arc::clone(&assignment.run);
                tokio::task::spawn_local(async move {
                    for share in shares {
                        if let Err(panicked) = share.await {
                            run.abort(AbortReason::Machine(format!(
                                "a scenario's task panicked ({panicked}); please report this bug"
                            )));
                        }
                    }
                    let _ = reports.send(Report::ScenariosDone);
                });
            }
            Command::Abort => {
                once.trip();
                calls.interrupt();
                running.borrow().iter().for_each(Stop::trip);
                seats.interrupt_all();
            }
            Command::TearDown => {
                outbox.switch_phase(Part::TearDown);
                recorder.set_clock(None);
                once.reset();
                spawn_once(&assignment, &worker, &once, false);
            }
            Command::Call(call) => calls.start(&assignment.factory, &worker, call),
            Command::Exit => break,
        }
    }
    calls.end().await;
    reporting.abort();
    let _ = reporting.await;
    contexts.iter().for_each(|context| context.add_share());
    outbox.send(None);
    if let Some(memory) = seats.memory() {
        let _ = assignment.events.send(Event::Memory(memory));
    }
    // All measurements are complete. The users are freed after this report, because freeing scripts
    // with millions of objects takes seconds, and the end of the run must not wait for that.
    exit_report.report();
}

/// Creates the planned users, and lets other tasks run after each.
async fn make_users<F: UserFactory>(
    seats: &Seats<F>,
    slots: &[u32],
    run: &RunState,
) -> Result<(), InitError> {
    for (done, slot) in slots.iter().enumerate() {
        if run.aborted().is_some() {
            return Ok(());
        }
        seats.make_planned(*slot).await?;
        if done % 64 == 63 {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

fn spawn_once<F: UserFactory>(
    assignment: &Assignment<F>,
    worker: &Worker,
    stop: &Stop,
    before: bool,
) {
    let (factory, reports) = (Arc::clone(&assignment.factory), assignment.reports.clone());
    let (worker, stop) = (worker.clone(), stop.clone());
    tokio::task::spawn_local(async move {
        stop.adopt_task().await;
        let (done, report) = if before {
            (factory.set_up(&worker, &stop).await, Report::SetUpDone)
        } else {
            (
                factory.tear_down(&worker, &stop).await,
                Report::TearDownDone,
            )
        };
        if let Err(reason) = done {
            worker.run.abort(reason);
        }
        let _ = reports.send(report);
    });
}

/// Sends a worker's samples to the main thread.
struct Outbox {
    worker: usize,
    recorder: Rc<Recorder>,
    in_flight: Rc<InFlight>,
    part: Cell<Part>,
    events: Sender<Event>,
}

impl Outbox {
    /// Sends the samples recorded since the last call. Returns false if there is no receiver.
    fn send(&self, thread: Option<ThreadReading>) -> bool {
        let taken = plimsoll_clock::now();
        let sent = self.events.send(Event::Window {
            worker: self.worker,
            window: self.recorder.take_window(),
            part: self.part.get(),
            taken,
            in_flight: self.in_flight.take(taken),
            thread,
        });
        sent.is_ok()
    }

    /// Switches to another phase of the run.
    fn switch_phase(&self, part: Part) {
        self.send(None);
        self.part.set(part);
    }
}

/// Interval at which the lateness of a timer is measured. At this interval the cost is negligible.
const TIMER_STEP: Duration = Duration::from_millis(10);

/// Sends the recorded samples and the measurements of this worker's thread once per second.
async fn report_each_second(mut meter: ThreadMeter, outbox: Rc<Outbox>, run: Arc<RunState>) {
    // The time to create the users is not part of the first second.
    meter.take();
    let mut next = plimsoll_clock::now() + SECOND;
    let mut started = None;
    loop {
        // Seconds are counted from the run's start when that is known.
        if started.is_none() && run.started().is_some() {
            started = run.started();
            next = started.unwrap_or(next) + SECOND;
        }
        let step = plimsoll_clock::now() + TIMER_STEP;
        sleep_until(step).await;
        let now = plimsoll_clock::now();
        meter.timer_was_late(now.since(step));
        if now < next {
            continue;
        }
        while next <= now {
            next = next + SECOND;
        }
        if !outbox.send(Some(meter.take())) {
            return;
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn scenario_tags(run_tags: &TagMap, state: &ScenarioState, named: bool) -> TagMap {
    let mut tags = run_tags.clone();
    for (key, value) in &state.scenario.tags {
        tags.set(key.clone(), value.clone());
    }
    if named {
        tags.set("scenario", state.scenario.name.clone());
    }
    tags
}
