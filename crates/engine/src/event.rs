//! The events of a run.

use plimsoll_machine::ThreadReading;
use plimsoll_samples::{SampleRecord, Window};
use plimsoll_units::Moment;

use crate::InFlightReading;

/// The events of a run, in the order in which they happen.
#[derive(Debug)]
pub enum Event {
    /// Every planned user's init code has run.
    UsersReady,
    /// Setup is complete, and the run waits for the moment of its start.
    Waiting,
    /// Scenarios have started; setup is complete.
    Started,
    /// The samples that one worker recorded since its last window.
    Window {
        /// The worker's index, from 0.
        worker: usize,
        /// The samples.
        window: Window,
        /// The part of the run in which they were recorded.
        part: Part,
        /// When the window was closed.
        taken: Moment,
        /// Iterations in flight on the worker since the last window.
        in_flight: InFlightReading,
        /// Measurements of the worker's thread; `None` in the window after its last second.
        thread: Option<ThreadReading>,
    },
    /// Individual samples for outputs, from workers that are not in this process.
    Records(Vec<SampleRecord>),
    /// Information for the person who watches.
    Notice(Notice),
    /// The last scenario has ended; teardown is next.
    ScenariosDone,
    /// Everything has ended and every window was sent. Always the last event.
    Finished,
}

/// The part of a run to which a window belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Creating users, and setup.
    SetUp,
    /// Scenarios.
    Scenarios,
    /// Teardown.
    TearDown,
}

/// Information for the person who watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// All users of an open model were busy, so iterations are dropped.
    InsufficientUsers {
        /// The scenario's name.
        scenario: String,
        /// Its executor's name in scripts.
        executor: &'static str,
        /// The number of its users, all of them busy.
        users: u32,
    },
}
