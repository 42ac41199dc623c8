//! The schedule of a scenario.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, Executor, Scenario};

use crate::{Bursts, ConstantRate, Pacer, RampingRate, RandomArrivals, RecordedArrivals};

/// A schedule that may move to another thread.
pub type SharedPacer = Box<dyn Pacer + Send>;

/// The schedule of the whole test's iterations; `None` if the scenario is not an open model.
pub fn of_scenario(scenario: &Scenario) -> Option<SharedPacer> {
    let end = scenario.executor.duration().unwrap_or(Duration::MAX);
    let spread = |whole: SharedPacer| -> SharedPacer {
        let seed = scenario.arrivals.seed;
        match &scenario.arrivals.process {
            ArrivalProcess::Even => whole,
            ArrivalProcess::Poisson => Box::new(RandomArrivals::new(whole, end, 1.0, seed)),
            ArrivalProcess::Gamma { shape } => {
                Box::new(RandomArrivals::new(whole, end, *shape, seed))
            }
            ArrivalProcess::OnOff { on, off } => {
                let poisson = RandomArrivals::new(whole, end, 1.0, seed);
                Box::new(Bursts::new(poisson, *on, *off))
            }
            ArrivalProcess::Trace(trace) => {
                Box::new(RecordedArrivals::new(Arc::clone(trace.starts()), end))
            }
        }
    };
    match &scenario.executor {
        Executor::RampingArrivalRate { start, stages, .. } => {
            Some(spread(Box::new(RampingRate::new(*start, stages))))
        }
        Executor::ConstantArrivalRate { rate, duration, .. } => {
            Some(spread(Box::new(ConstantRate::new(*rate, *duration))))
        }
        _ => None,
    }
}
