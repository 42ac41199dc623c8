//! Makes frames of a part's samples.

use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_engine::{AbortReason, Event as EngineEvent, Notice, Part};
use plimsoll_frames::{
    Counts, End, Grade, RunId, ScenarioCounts, Sender as FrameSender, ThreadHealth, WorkerWindow,
};
use plimsoll_run::{Event, Judged, Listener, Phase, Progress};
use plimsoll_samples::{Cumulative, Registry, Watch, WindowEncoder};
use plimsoll_units::Moment;
use plimsoll_verdict::{Cause, Level};

use crate::assignment::Assignment;
use crate::messages::{AbortCause, Aborted};
use crate::part_event::{Input, PartEvent};

/// How far ahead the start is at least. Samples of `setup` are recorded before its moment is known.
pub const LEAD: Duration = Duration::from_secs(2);

/// A second's frame is sent this long after its end. Workers send their samples up to 10 ms after it,
/// and the coordinator writes a second's line of a record 300 ms after it.
const GRACE: Duration = Duration::from_millis(40);
/// How often to check whether a frame is due.
const LOOK: Duration = Duration::from_millis(20);

/// Follows a part, and sends its frames.
pub struct Uplink {
    by_name: bool,
    by_second: bool,
    frames: FrameSender,
    start: Arc<OnceLock<Moment>>,
    events: Sender<Input>,
    encoder: Option<WindowEncoder>,
    windows: Vec<WorkerWindow>,
    counts: Counts,
    cumulative: Cumulative,
    /// When the next frame is due, since the start.
    due: Duration,
}

impl Uplink {
    /// `start` is set when the moment of the start is known.
    ///
    /// # Errors
    /// If the assignment does not identify a run.
    pub fn new(
        assignment: &Assignment,
        epoch: u64,
        start: Arc<OnceLock<Moment>>,
        events: Sender<Input>,
    ) -> Result<Uplink, String> {
        let run = u128::from_str_radix(&assignment.run, 16)
            .map_err(|error| format!("the run {} is invalid: {error}", assignment.run))?;
        let run = RunId(run.to_be_bytes());
        Ok(Uplink {
            by_name: assignment.by_name,
            by_second: assignment.by_second,
            frames: FrameSender::new(run, assignment.agent, epoch),
            start,
            events,
            encoder: None,
            windows: Vec::new(),
            counts: Counts::default(),
            cumulative: Cumulative::default(),
            due: Duration::from_secs(1) + GRACE,
        })
    }

    fn send(&self, event: PartEvent) {
        // The agent ends only after the part.
        let _ = self.events.send(Input::Part(event));
    }

    fn engine(&mut self, event: &EngineEvent) {
        match event {
            EngineEvent::UsersReady => self.send(PartEvent::UsersReady),
            EngineEvent::Waiting => self.send(PartEvent::Waiting),
            EngineEvent::Started => {
                let late = self.since_start();
                self.send(PartEvent::Started { late });
            }
            EngineEvent::ScenariosDone => {
                let elapsed = self.since_start();
                self.send(PartEvent::Done { elapsed });
            }
            EngineEvent::Window {
                worker,
                window,
                part,
                taken,
                in_flight,
                thread,
            } => {
                let now = plimsoll_clock::now();
                let origin = self.start.get().copied().unwrap_or(now + LEAD);
                let Some(encoder) = &mut self.encoder else {
                    return;
                };
                self.windows.push(WorkerWindow {
                    worker: u32::try_from(*worker).unwrap_or(u32::MAX),
                    part: match part {
                        Part::SetUp => 0,
                        Part::Scenarios => 1,
                        Part::TearDown => 2,
                    },
                    taken: after(*taken, origin),
                    span: (
                        after(in_flight.from, origin),
                        after(in_flight.until, origin),
                    ),
                    in_flight: in_flight.total,
                    interrupted: in_flight.interrupted,
                    thread: thread.as_ref().map(|thread| ThreadHealth {
                        span: thread.span,
                        cpu: thread.cpu,
                        waited: thread.run_queue_wait,
                        lateness: thread.lateness.clone(),
                    }),
                    samples: encoder.encode(window, origin),
                });
            }
            EngineEvent::Notice(_) | EngineEvent::Finished => {}
        }
    }

    /// Nanoseconds since the planned start.
    fn since_start(&self) -> u64 {
        let start = self.start.get().copied();
        let since = start.map_or(Duration::ZERO, |start| plimsoll_clock::now().since(start));
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sends a frame with everything since the previous one.
    fn frame(&mut self, progress: &Progress) {
        let state = progress.state();
        let now = plimsoll_clock::now();
        let scenarios = progress.scenarios().iter().map(|scenario| {
            let reading = scenario.read(now);
            ScenarioCounts {
                started: reading.iterations_started,
                completed: reading.iterations_completed,
                dropped: reading.iterations_dropped,
            }
        });
        self.counts = Counts {
            scenarios: scenarios.collect(),
            completed: state.iterations_completed(),
            interrupted: state.iterations_interrupted(),
            threw: state.iterations_threw(),
        };
        let users = (state.users_active(), state.users_initialized());
        let windows = std::mem::take(&mut self.windows);
        let frame = self
            .frames
            .window(progress.elapsed(), &self.counts, users, windows);
        self.send(PartEvent::Frame(frame));
    }

    fn judged(&mut self, judged: &Judged<'_>) {
        if let Some(aborted) = judged.aborted.and_then(aborted) {
            self.send(PartEvent::Aborted(aborted));
        }
        // The service and the network are judged by the samples of all agents.
        let own = judged.problems.iter();
        let own = own.filter(|(_, reason)| matches!(reason.cause, Cause::Client | Cause::Clock));
        let reasons: Vec<_> = own
            .map(|(level, reason)| (grade(*level), reason.text.clone()))
            .collect();
        let end = End {
            elapsed: judged.elapsed,
            counts: self.counts.clone(),
            cumulative: std::mem::take(&mut self.cumulative),
            ended_early: judged.aborted.map(|reason| format!("{reason:?}")),
            marked_failed: judged.marked_failed,
            grade: reasons
                .iter()
                .map(|(grade, _)| *grade)
                .max()
                .unwrap_or_default(),
            reasons,
        };
        let frame = self.frames.end(end);
        self.send(PartEvent::Frame(frame));
    }
}

impl Listener for Uplink {
    fn interval(&self) -> Duration {
        LOOK
    }

    fn needs_names(&self) -> bool {
        self.by_name
    }

    fn needs_seconds(&self) -> bool {
        self.by_second
    }

    fn metrics(&mut self, registry: &Arc<Registry>, watch: &Arc<Watch>) {
        self.encoder = Some(WindowEncoder::new(Arc::clone(registry), Arc::clone(watch)));
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Engine(event) => self.engine(event),
            Event::Notice(Notice::InsufficientUsers {
                scenario, users, ..
            }) => self.send(PartEvent::InsufficientUsers {
                scenario: scenario.clone(),
                users: *users,
            }),
            Event::Progress(progress) if progress.phase() == Phase::Running => {
                let elapsed = progress.elapsed();
                if elapsed >= self.due {
                    self.due = Duration::from_secs(elapsed.as_secs() + 1) + GRACE;
                    self.frame(progress);
                }
            }
            Event::Done(progress) => {
                self.frame(progress);
                self.cumulative = progress.cumulative();
            }
            Event::Judged(judged) => self.judged(judged),
            _ => {}
        }
    }
}

/// Nanoseconds from `origin` to `moment`.
fn after(moment: Moment, origin: Moment) -> i64 {
    let difference = i128::from(moment.as_nanos()) - i128::from(origin.as_nanos());
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

fn grade(level: Level) -> Grade {
    match level {
        Level::Valid => Grade::Good,
        Level::Suspect => Grade::Suspect,
        Level::Invalid => Grade::Invalid,
    }
}

/// The reasons that arise on an agent; the others come from the coordinator.
fn aborted(reason: &AbortReason) -> Option<Aborted> {
    let (cause, text) = match reason {
        AbortReason::ByScript(text) => (AbortCause::ByScript, text),
        AbortReason::ScriptException(text) | AbortReason::UserException(_, text) => {
            (AbortCause::Exception, text)
        }
        AbortReason::SetupTimeout(text) => (AbortCause::SetupTimeout, text),
        AbortReason::TeardownTimeout(text) => (AbortCause::TeardownTimeout, text),
        AbortReason::Failed(text) => (AbortCause::Failed, text),
        AbortReason::Machine(text) => (AbortCause::Machine, text),
        AbortReason::Threshold
        | AbortReason::Precise
        | AbortReason::Signal
        | AbortReason::ByApi => return None,
    };
    Some(Aborted {
        cause,
        text: text.clone(),
    })
}
