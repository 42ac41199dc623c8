//! The events of a run.

use plimsoll_machine::ThreadReading;
use plimsoll_samples::{SampleRecord, Window};
use plimsoll_units::Moment;

use crate::{InFlightReading, UserMemory};

/// The events of a run, in the order in which they happen.
#[derive(Debug)]
pub enum Event {
    /// The init code of every planned user has run.
    UsersReady,
    /// Setup is complete, and the run waits for its start time.
    Waiting,
    /// Setup is complete, and the scenarios have started.
    Started,
    /// The samples that one worker recorded since its last window.
    Window {
        /// The worker's index, from 0.
        worker: usize,
        /// The samples.
        window: Window,
        /// The phase of the run in which they were recorded.
        part: Part,
        /// When the window was closed.
        taken: Moment,
        /// Iterations in flight on the worker since the last window.
        in_flight: InFlightReading,
        /// Measurements of the worker's thread; `None` in the window after its last second.
        thread: Option<ThreadReading>,
    },
    /// Individual samples for outputs, from workers in other processes.
    Records(Vec<SampleRecord>),
    /// Information for the person who watches the run.
    Notice(Notice),
    /// The memory of a worker's users at the end.
    Memory(UserMemory),
    /// The last scenario has ended, and teardown follows.
    ScenariosDone,
    /// Everything has ended, and every window has been sent. Always the last event.
    Finished,
}

/// The phase of the run to which a window belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Creating users, and setup.
    SetUp,
    Scenarios,
    /// Teardown.
    TearDown,
}

/// Information for the person who watches the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// All users of an open model are busy, so iterations are dropped.
    InsufficientUsers {
        /// The scenario's name.
        scenario: String,
        /// Its executor's name in scripts.
        executor: &'static str,
        /// The number of its users, all of them busy.
        users: u32,
    },
}
