//! Computes when iterations start and how many users run, as pure functions of the time since a
//! scenario's start. They read no clock, so a test of a day-long schedule takes a millisecond.

mod constant_rate;
mod ramping_rate;
mod random_arrivals;
mod recorded_arrivals;
mod scenario;
mod striped;
mod takeover;
mod user_curve;

use std::time::Duration;

pub use constant_rate::ConstantRate;
pub use ramping_rate::RampingRate;
pub use random_arrivals::{Bursts, RandomArrivals};
pub use recorded_arrivals::RecordedArrivals;
pub use scenario::{ArrivalModel, SharedPacer, of_scenario};
pub use striped::Striped;
pub use takeover::{Takeover, TakeoverPacer};
pub use user_curve::UserCurve;

/// The schedule of an open model.
pub trait Pacer {
    /// The start of iteration `number`, counted from 0, as time since the start of the scenario, or
    /// `None` if the schedule has no such iteration. It never decreases with `number`.
    fn start_of(&self, number: u64) -> Option<Duration>;
}

impl<P: Pacer + ?Sized> Pacer for &P {
    fn start_of(&self, number: u64) -> Option<Duration> {
        (**self).start_of(number)
    }
}

impl<P: Pacer + ?Sized> Pacer for Box<P> {
    fn start_of(&self, number: u64) -> Option<Duration> {
        (**self).start_of(number)
    }
}
