//! When iterations start, and how many users run: pure functions of the time
//! since a scenario's start. There is no clock in here, so a schedule of a day
//! is tested in a millisecond.

mod constant_rate;
mod ramping_rate;
mod striped;
mod user_curve;

use std::time::Duration;

pub use constant_rate::ConstantRate;
pub use ramping_rate::RampingRate;
pub use striped::Striped;
pub use user_curve::UserCurve;

/// An open model's schedule.
pub trait Pacer {
    /// When iteration `number`, counted from 0, is to start, from the start of
    /// the scenario; `None` when the schedule has no such iteration. Never
    /// falls with rising `number`.
    fn start_of(&self, number: u64) -> Option<Duration>;
}
