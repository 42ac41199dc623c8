//! Converts the samples of a part to frames and sends them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_engine::{AbortReason, Event as EngineEvent, Notice, Part};
use plimsoll_frames::{
    Counts, End, Grade, RunId, ScenarioCounts, Sender as FrameSender, ThreadHealth, WorkerWindow,
};
use plimsoll_run::{Event, Judgment, Listener, Phase, Progress};
use plimsoll_samples::{
    Cumulative, Registry, SampleRecord, Watch, Window, WindowEncoder, encode_records,
};
use plimsoll_units::Moment;
use plimsoll_verdict::{Cause, Level};

use crate::assignment::Assignment;
use crate::messages::{AbortCause, Aborted};
use crate::part_event::{Input, PartEvent};

/// The minimum time between the announcement of the start and the start. Samples of `setup` are recorded before the
/// start is known.
pub const MIN_START_LEAD: Duration = Duration::from_secs(2);

/// The delay between the end of a window and its frame. Workers send their samples up to 10 ms after the window ends,
/// and the coordinator writes a second's line of a record 300 ms after it ends.
const FRAME_DELAY: Duration = Duration::from_millis(40);
/// Maximum time between two checks whether a frame is due.
const MAX_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Minimum time between two checks.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(2);
/// Maximum number of unconfirmed frames before windows become wider.
const MAX_UNCONFIRMED_FRAMES: usize = 2;
/// The widest window has two to the power of this many seconds.
const MAX_WIDTH_EXPONENT: usize = 4;

/// Follows a part, and sends its frames.
pub struct Uplink {
    by_name: bool,
    by_second: bool,
    outputs: bool,
    frames: FrameSender,
    start: Arc<OnceLock<Moment>>,
    events: Sender<Input>,
    encoder: Option<WindowEncoder>,
    windows: Vec<PendingWindow>,
    counts: Counts,
    cumulative: Cumulative,
    /// The number of individual samples so far.
    records: u64,
    /// The number of frames that the coordinator has.
    confirmed: Arc<AtomicU64>,
    /// The numbers of the frames with windows that the coordinator does not have.
    unconfirmed: VecDeque<u64>,
    /// The number of whole seconds whose samples were sent.
    sent: u64,
}

/// The samples of one worker since the previous frame.
struct PendingWindow {
    about: WorkerWindow,
    samples: Window,
}

impl PendingWindow {
    /// Adds a later window of the same worker in the same phase of the run.
    fn extend(&mut self, later: WorkerWindow) {
        let about = &mut self.about;
        about.taken = later.taken;
        about.span.1 = later.span.1;
        about.in_flight += later.in_flight;
        about.interrupted += later.interrupted;
        match (&mut about.thread, later.thread) {
            (Some(thread), Some(later)) => {
                thread.span += later.span;
                thread.cpu += later.cpu;
                let waited = thread.waited.zip(later.waited);
                thread.waited = waited.map(|(before, later)| before + later);
                thread.lateness.extend(later.lateness);
            }
            (thread @ None, later) => *thread = later,
            (Some(_), None) => {}
        }
    }
}

/// The length of a window in seconds. It doubles with each unconfirmed frame above the usual number, because a slow bus
/// may be able to carry one wide window but not several narrow ones.
fn window_length(unconfirmed: usize) -> u64 {
    1 << unconfirmed
        .saturating_sub(MAX_UNCONFIRMED_FRAMES)
        .min(MAX_WIDTH_EXPONENT)
}

impl Uplink {
    /// `start` is set once the start is known, and `confirmed` is the number of frames that the coordinator has.
    ///
    /// # Errors
    /// If the assignment does not identify a run.
    pub fn new(
        assignment: &Assignment,
        epoch: u64,
        start: Arc<OnceLock<Moment>>,
        confirmed: Arc<AtomicU64>,
        events: Sender<Input>,
    ) -> Result<Uplink, String> {
        let run = u128::from_str_radix(&assignment.run, 16)
            .map_err(|error| format!("the run {} is invalid: {error}", assignment.run))?;
        let run = RunId(run.to_be_bytes());
        Ok(Uplink {
            by_name: assignment.by_name,
            by_second: assignment.by_second,
            outputs: assignment.outputs,
            frames: FrameSender::new(run, assignment.agent, epoch),
            start,
            events,
            encoder: None,
            windows: Vec::new(),
            counts: Counts::default(),
            cumulative: Cumulative::default(),
            records: 0,
            confirmed,
            unconfirmed: VecDeque::new(),
            sent: 0,
        })
    }

    fn send(&self, event: PartEvent) {
        // If this fails, the agent has exited, which happens only after the part ends.
        let _ = self.events.send(Input::Part(event));
    }

    /// When the next frame is due, relative to the start.
    fn due(&self) -> Duration {
        let confirmed = self.confirmed.load(Ordering::Relaxed);
        let unconfirmed = self.unconfirmed.iter();
        let unconfirmed = unconfirmed.filter(|number| **number >= confirmed).count();
        Duration::from_secs(self.sent + window_length(unconfirmed)) + FRAME_DELAY
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
                let origin = self.origin();
                let about = WorkerWindow {
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
                    samples: Vec::new(),
                };
                self.add(about, window);
            }
            EngineEvent::Notice(_)
            | EngineEvent::Records(_)
            | EngineEvent::Memory(_)
            | EngineEvent::Finished => {}
        }
    }

    fn add(&mut self, about: WorkerWindow, window: &Window) {
        let Some(encoder) = &self.encoder else { return };
        let place = (about.worker, about.part);
        let mut known = self.windows.iter_mut();
        let known = known.find(|known| (known.about.worker, known.about.part) == place);
        let samples = match known {
            Some(known) => {
                known.extend(about);
                &mut known.samples
            }
            None => {
                let samples = Window::empty();
                self.windows.push(PendingWindow { about, samples });
                // It was just added.
                let Some(last) = self.windows.last_mut() else {
                    return;
                };
                &mut last.samples
            }
        };
        encoder.add_to(samples, window);
    }

    /// The moment to which all times are relative.
    fn origin(&self) -> Moment {
        let start = self.start.get().copied();
        start.unwrap_or_else(|| plimsoll_clock::now() + MIN_START_LEAD)
    }

    /// Nanoseconds since the planned start.
    fn since_start(&self) -> u64 {
        let start = self.start.get().copied();
        let since = start.map_or(Duration::ZERO, |start| plimsoll_clock::now().since(start));
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sends individual samples.
    fn samples(&mut self, records: &[SampleRecord]) {
        let origin = self.origin();
        let Some(encoder) = self.encoder.as_ref().filter(|_| self.outputs) else {
            return;
        };
        self.records += records.len() as u64;
        for piece in encode_records(records, encoder.registry(), origin) {
            let frame = self.frames.records(piece);
            self.send(PartEvent::Frame(frame));
        }
    }

    /// Sends a frame with everything recorded since the previous frame.
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
        let origin = self.origin();
        let mut windows = Vec::with_capacity(self.windows.len());
        if let Some(encoder) = &mut self.encoder {
            for PendingWindow { mut about, samples } in self.windows.drain(..) {
                about.samples = encoder.encode(&samples, origin);
                windows.push(about);
            }
        }
        let confirmed = self.confirmed.load(Ordering::Relaxed);
        self.unconfirmed.retain(|number| *number >= confirmed);
        self.unconfirmed.push_back(self.frames.sent());
        let elapsed = progress.elapsed();
        self.sent = elapsed.as_secs();
        let frame = self.frames.window(elapsed, &self.counts, users, windows);
        self.send(PartEvent::Frame(frame));
    }

    fn judged(&mut self, judged: &Judgment<'_>) {
        if let Some(aborted) = judged.aborted.and_then(aborted) {
            self.send(PartEvent::Aborted(aborted));
        }
        // The coordinator judges the service and the network by the samples of all agents.
        let own = judged.problems.iter();
        let own = own.filter(|(_, reason)| matches!(reason.cause, Cause::Client | Cause::Clock));
        let reasons: Vec<_> = own
            .map(|(level, reason)| (grade(*level), reason.text.clone()))
            .collect();
        let end = End {
            elapsed: judged.elapsed,
            counts: self.counts.clone(),
            cumulative: std::mem::take(&mut self.cumulative),
            records: self.records,
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
        let left = self
            .due()
            .saturating_sub(Duration::from_nanos(self.since_start()));
        left.clamp(MIN_CHECK_INTERVAL, MAX_CHECK_INTERVAL)
    }

    fn needs_names(&self) -> bool {
        self.by_name
    }

    fn needs_seconds(&self) -> bool {
        self.by_second
    }

    fn needs_samples(&self) -> bool {
        self.outputs
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
            Event::Progress(progress)
                if progress.phase() == Phase::Running && progress.elapsed() >= self.due() =>
            {
                self.frame(progress);
            }
            Event::Samples(records) => self.samples(records),
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

/// The reasons that can occur on an agent. The others come from the coordinator.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_become_wider_while_frames_are_unconfirmed() {
        let lengths: Vec<u64> = (0..9).map(window_length).collect();
        assert_eq!(lengths, [1, 1, 1, 2, 4, 8, 16, 16, 16]);
    }

    #[test]
    fn windows_of_a_worker_are_added_up() {
        let millis = Duration::from_millis;
        let window = |second: i64, waited| WorkerWindow {
            taken: second * 1_000,
            span: ((second - 1) * 1_000, second * 1_000),
            in_flight: millis(7),
            interrupted: millis(1),
            thread: Some(ThreadHealth {
                span: millis(1_000),
                cpu: millis(300),
                waited,
                lateness: vec![millis(2)],
            }),
            ..WorkerWindow::default()
        };
        let mut pending = PendingWindow {
            about: window(1, Some(millis(5))),
            samples: Window::empty(),
        };
        pending.extend(window(2, Some(millis(6))));
        let about = &pending.about;
        assert_eq!((about.taken, about.span), (2_000, (0, 2_000)));
        assert_eq!(
            (about.in_flight, about.interrupted),
            (millis(14), millis(2))
        );
        let expected = ThreadHealth {
            span: millis(2_000),
            cpu: millis(600),
            waited: Some(millis(11)),
            lateness: vec![millis(2), millis(2)],
        };
        assert_eq!(about.thread, Some(expected));
        // A value that is unknown in one of them is unknown in both.
        pending.extend(window(3, None));
        let waited = pending.about.thread.and_then(|thread| thread.waited);
        assert_eq!(waited, None);
    }
}
