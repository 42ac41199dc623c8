//! The schedule of a scenario.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, Executor, Scenario};

use crate::{Bursts, ConstantRate, Pacer, RampingRate, RandomArrivals, RecordedArrivals};

/// A schedule that may move to another thread.
pub type SharedPacer = Box<dyn Pacer + Send>;

/// The schedule of the whole test's iterations; `None` if the scenario is not an open model.
pub fn of_scenario(scenario: &Scenario) -> Option<SharedPacer> {
    let whole = without_randomness(scenario)?;
    let end = scenario.executor.duration().unwrap_or(Duration::MAX);
    Some(match &scenario.arrivals.process {
        ArrivalProcess::Even => whole,
        ArrivalProcess::Trace(trace) => {
            Box::new(RecordedArrivals::new(Arc::clone(trace.starts()), end))
        }
        ArrivalProcess::OnOff { on, off } => {
            Box::new(Bursts::new(random(scenario, whole, 1.0), *on, *off))
        }
        ArrivalProcess::Poisson => Box::new(random(scenario, whole, 1.0)),
        ArrivalProcess::Gamma { shape } => Box::new(random(scenario, whole, *shape)),
    })
}

/// The schedule with constant intervals, without randomness.
fn without_randomness(scenario: &Scenario) -> Option<SharedPacer> {
    match &scenario.executor {
        Executor::RampingArrivalRate { start, stages, .. } => {
            Some(Box::new(RampingRate::new(*start, stages)))
        }
        Executor::ConstantArrivalRate { rate, duration, .. } => {
            Some(Box::new(ConstantRate::new(*rate, *duration)))
        }
        _ => None,
    }
}

fn random(scenario: &Scenario, whole: SharedPacer, shape: f64) -> RandomArrivals<SharedPacer> {
    let end = scenario.executor.duration().unwrap_or(Duration::MAX);
    RandomArrivals::new(whole, end, shape, scenario.arrivals.random_seed())
}

/// The distribution that the start times of a scenario with random arrivals must have.
pub struct ArrivalModel {
    arrivals: RandomArrivals<SharedPacer>,
    bursts: Option<Bursts<()>>,
    /// The shape of the gamma distribution of the gaps between positions. Its mean is 1.
    pub shape: f64,
}

impl ArrivalModel {
    /// The model of the whole test; `None` if its arrivals are not random.
    pub fn of(scenario: &Scenario) -> Option<ArrivalModel> {
        let (shape, bursts) = match &scenario.arrivals.process {
            ArrivalProcess::Even | ArrivalProcess::Trace(_) => return None,
            ArrivalProcess::Poisson => (1.0, None),
            ArrivalProcess::Gamma { shape } => (*shape, None),
            ArrivalProcess::OnOff { on, off } => (1.0, Some(Bursts::new((), *on, *off))),
        };
        Some(ArrivalModel {
            arrivals: random(scenario, without_randomness(scenario)?, shape),
            bursts,
            shape,
        })
    }

    /// The number of iterations in the whole test.
    pub fn count(&self) -> u64 {
        self.arrivals.count()
    }

    /// Number of iterations that a schedule without randomness would have started by `time`, with a
    /// fraction. Pauses between bursts do not count.
    pub fn place_at(&self, time: Duration) -> f64 {
        let bursts = self.bursts.as_ref();
        let time = bursts.map_or(time, |bursts| bursts.expanded(time));
        self.arrivals.place_at(time)
    }
}
