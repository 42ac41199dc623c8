//! Adds up the frames of one agent.

use std::fmt;
use std::time::Duration;

use plimsoll_samples::{Cumulative, SampleRecord, Totals, Window, WindowDecoder};
use plimsoll_units::Moment;

use crate::counts::Counts;
use crate::frame::{Content, End, Frame, RunId, WindowFrame, WorkerWindow};
use crate::ledger::{Fault, Ledger, Receipt};

/// Timers may fire this much early.
const ROUNDING: Duration = Duration::from_millis(1);

/// The number of iterations of a scenario that are scheduled from the start of the run to a given
/// time. `None` if the schedule depends on responses.
pub type ScheduledBy = Box<dyn Fn(usize, Duration) -> Option<u64> + Send>;

/// The part of the plan that one agent runs.
#[derive(Default)]
pub struct Planned {
    /// The agent's share of the whole load, from 0 to 1.
    pub share: f64,
    /// The scheduled iterations by scenario, computed from the plan and not by the agent. `None` if
    /// the schedule depends on responses.
    pub iterations: Vec<Option<u64>>,
    /// The schedule, if known. Each window is checked against it.
    pub scheduled_by: Option<ScheduledBy>,
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planned")
            .field("share", &self.share)
            .field("iterations", &self.iterations)
            .finish_non_exhaustive()
    }
}

/// The iterations of a lost agent that another agent takes over.
pub struct MorePlanned {
    /// The index of their scenario.
    pub scenario: usize,
    pub iterations: u64,
    /// The number of these iterations that are scheduled from the start of the run to a given time.
    pub scheduled_by: Box<dyn Fn(Duration) -> u64 + Send>,
}

/// What happened to the load of a lost agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The time at which other agents took it over, since the start of the run.
    pub at: Duration,
    /// The number of iterations that were scheduled before that time but are not in the results.
    pub missing: u64,
}

/// The received results of one agent.
#[derive(Debug)]
pub struct Account {
    pub(crate) agent: u32,
    pub(crate) planned: Planned,
    pub(crate) ledger: Ledger,
    decoder: WindowDecoder,
    totals: Totals,
    pub(crate) counts: Counts,
    pub(crate) until: Duration,
    pub(crate) end: Option<Box<End>>,
    pub(crate) lost: Option<Duration>,
    pub(crate) moved: Option<Moved>,
    /// Number of received individual samples.
    pub(crate) records: u64,
    widest: Duration,
}

/// Results that have just become available, in order.
#[derive(Debug)]
pub enum Received {
    /// The counts, users and times of a frame, and the samples of each window in it.
    Windows(WindowFrame, Vec<Window>),
    /// Individual samples for outputs.
    Records(Vec<SampleRecord>),
}

impl Received {
    /// The windows in the frame.
    pub fn into_windows(self) -> Vec<Window> {
        match self {
            Received::Windows(_, windows) => windows,
            Received::Records(_) => Vec::new(),
        }
    }
}

impl Account {
    /// Creates the account of an agent whose process has this epoch. The `totals` must be empty.
    /// They and the decoder belong to the metrics of the run.
    pub fn new(
        run: RunId,
        agent: u32,
        epoch: u64,
        planned: Planned,
        decoder: WindowDecoder,
        totals: Totals,
    ) -> Account {
        Account {
            agent,
            planned,
            ledger: Ledger::new(run, agent, epoch),
            decoder,
            totals,
            counts: Counts::default(),
            until: Duration::ZERO,
            end: None,
            lost: None,
            moved: None,
            records: 0,
            widest: Duration::ZERO,
        }
    }

    /// Processes the bytes of a frame, and returns the results that become available with it.
    /// `start` is the local moment at which the run started. A fault is recorded for
    /// [`judge`](crate::judge), and later frames are not added.
    pub fn receive(&mut self, bytes: &[u8], start: Moment) -> Vec<Received> {
        if self.lost.is_some() || self.ledger.fault().is_some() {
            return Vec::new();
        }
        let Receipt::InOrder(frames) = self.ledger.take(bytes) else {
            return Vec::new();
        };
        let mut received = Vec::new();
        for frame in frames {
            match self.add(frame, start) {
                Ok(added) => received.extend(added),
                Err(fault) => {
                    self.ledger.refuse(fault);
                    break;
                }
            }
        }
        received
    }

    fn add(&mut self, frame: Frame, start: Moment) -> Result<Option<Received>, Fault> {
        let sequence = frame.sequence;
        let contents = |what| Fault::Contents { sequence, what };
        if self.end.is_some() {
            return Err(contents("there are results after the end"));
        }
        let mut frame = match frame.content {
            Content::Window(frame) => frame,
            Content::End(end) => {
                self.end = Some(end);
                return Ok(None);
            }
            Content::Records(bytes) => {
                let records = self.decoder.decode_records(&bytes, start);
                let records = records.map_err(|error| Fault::Samples { sequence, error })?;
                self.records += records.len() as u64;
                return Ok(Some(Received::Records(records)));
            }
        };
        if frame.from != self.until || frame.until < frame.from {
            return Err(contents(
                "the time does not follow that of the frame before",
            ));
        }
        let samples: Result<Vec<_>, _> = frame
            .windows
            .iter_mut()
            .map(|window| self.decode(window, start))
            .collect();
        let samples = samples.map_err(|error| Fault::Samples { sequence, error })?;
        samples.iter().for_each(|window| self.totals.add(window));
        self.counts.add(&frame.counts);
        self.widest = self.widest.max(frame.until - frame.from);
        self.until = frame.until;
        if self.is_ahead_of_schedule() {
            return Err(contents("there are more iterations than were scheduled"));
        }
        Ok(Some(Received::Windows(frame, samples)))
    }

    /// Whether a scenario has started or dropped more iterations than have been scheduled so far.
    fn is_ahead_of_schedule(&self) -> bool {
        let Some(scheduled_by) = &self.planned.scheduled_by else {
            return false;
        };
        let mut scenarios = self.counts.scenarios.iter().enumerate();
        scenarios.any(|(at, counts)| {
            let scheduled = scheduled_by(at, self.until + ROUNDING);
            scheduled.is_some_and(|scheduled| counts.started + counts.dropped > scheduled)
        })
    }

    fn decode(
        &self,
        window: &mut WorkerWindow,
        start: Moment,
    ) -> Result<Window, plimsoll_samples::wire::WireError> {
        let bytes = std::mem::take(&mut window.samples);
        self.decoder.decode(&bytes, start)
    }

    /// Gives up the agent: further frames are not added.
    pub fn give_up(&mut self) {
        if self.end.is_none() {
            self.lost = Some(self.until);
        }
    }

    /// Records that the agent takes over a part of a lost agent's load. The part is this share of
    /// the whole load.
    pub fn take_over(&mut self, share: f64, parts: Vec<MorePlanned>) {
        self.planned.share += share;
        for MorePlanned {
            scenario,
            iterations,
            scheduled_by,
        } in parts
        {
            if let Some(Some(planned)) = self.planned.iterations.get_mut(scenario) {
                *planned = planned.saturating_add(iterations);
            }
            if let Some(own) = self.planned.scheduled_by.take() {
                self.planned.scheduled_by = Some(Box::new(move |at, time| {
                    let more = if at == scenario {
                        scheduled_by(time)
                    } else {
                        0
                    };
                    own(at, time).map(|own| own.saturating_add(more))
                }));
            }
        }
    }

    /// Records that other agents have taken over the load of this agent, which was given up.
    pub fn set_moved(&mut self, moved: Moved) {
        self.moved = Some(moved);
    }

    /// The outcome of the agent's load, if other agents have taken it over.
    pub fn moved(&self) -> Option<Moved> {
        self.moved
    }

    /// The longest duration that any frame covered so far.
    pub fn widest(&self) -> Duration {
        self.widest
    }

    pub fn agent(&self) -> u32 {
        self.agent
    }

    pub fn planned(&self) -> &Planned {
        &self.planned
    }

    /// The order of the frames.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The totals of the frames.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The sum of the counts in the frames.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The end of the time that the latest frame covers, since the start of the run.
    pub fn until(&self) -> Duration {
        self.until
    }

    /// The totals counted by the agent itself, once its last frame has arrived.
    pub fn end(&self) -> Option<&End> {
        self.end.as_deref()
    }

    /// Whether the agent was given up.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    pub(crate) fn cumulative(&self) -> Cumulative {
        self.totals.cumulative()
    }
}
