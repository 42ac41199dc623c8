//! Runs virtual users according to a schedule.
//!
//! A run has a conductor and workers, each with its own thread. A virtual user is created on one
//! worker and never leaves it. So the path of a request takes no lock and crosses no thread. The
//! engine knows neither protocols nor scripts: it only calls [`VirtualUser::iterate`].
//!
//! * [`start`] divides a plan among workers and runs its phases: creating users, setup, scenarios,
//!   teardown.
//! * `executors` run one worker's share of a scenario.
//! * A [`Mirror`] shows a run of other processes as if it were local.
//! * [`Calls`] call setup and teardown from outside the run.
//! * [`Stop`] stops an iteration, and [`RunState::abort`] stops the run.
//! * [`timer`] is more precise than the runtime's timers.
//! * [`time_slice`] keeps users that never wait from blocking their worker.

mod calls;
mod event;
mod executors;
mod in_flight;
mod mirror;
mod run;
mod run_state;
mod scenario_state;
mod schedule;
mod seat;
mod sent_times;
mod stop;
mod tally;
pub mod time_slice;
pub mod timer;
mod user;
mod user_id;
mod user_memory;
mod worker;

pub use calls::Calls;
pub use event::{Event, Notice, Part};
pub use in_flight::InFlightReading;
pub use mirror::Mirror;
pub use plimsoll_pace::Takeover;
pub use run::{Running, Setting, start};
pub use run_state::{AbortReason, RunState};
pub use scenario_state::{ScenarioReading, ScenarioState, load_duration};
pub use schedule::Schedule;
pub use sent_times::{SentGap, SentGaps, SentTimes};
pub use stop::{Stop, Stopped};
pub use tally::Tally;
pub use user::{
    Ending, InitError, Iteration, ScenarioContext, Step, UserFactory, VirtualUser, Worker,
};
pub use user_id::UserId;
pub use user_memory::UserMemory;
