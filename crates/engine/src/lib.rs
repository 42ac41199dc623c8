//! Runs virtual users on schedule.
//!
//! A run has a conductor and workers, one thread each. A virtual user is made
//! on one worker and never leaves it; so nothing on a request's path takes a
//! lock or crosses a thread. The engine knows neither protocols nor scripts:
//! it sees [`VirtualUser::iterate`].
//!
//! * [`start`] shares a plan out and brings it through its phases: users made,
//!   set-up, scenarios, tear-down.
//! * `executors` run one worker's share of a scenario.
//! * [`Stop`] ends an iteration, [`RunState::abort`] the run.
//! * [`timer`] keeps time finer than the runtime does.
//! * [`time_slice`] keeps users that never wait from blocking their worker.

mod executors;
mod in_flight;
mod run;
mod run_state;
mod scenario_state;
mod seat;
mod stop;
mod tally;
pub mod time_slice;
pub mod timer;
mod user;
mod worker;

pub use in_flight::InFlightReading;
pub use run::{Event, Notice, Part, Running, Setting, start};
pub use run_state::{AbortReason, RunState};
pub use scenario_state::{ScenarioReading, ScenarioState, load_duration};
pub use stop::{Stop, Stopped};
pub use tally::Tally;
pub use user::{
    Ending, InitError, Iteration, ScenarioContext, UserFactory, UserId, VirtualUser, Worker,
};
