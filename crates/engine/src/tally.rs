use std::rc::Rc;

use crate::ScenarioContext;
use plimsoll_units::Moment;

/// Counts a user's calls for a scenario with a fixed amount of work. Without a fixed amount,
/// nothing is counted.
///
/// Each worker keeps its own counts, so they do not depend on when a user is freed.
#[derive(Clone, Debug, Default)]
pub struct Tally(Option<Rc<ScenarioContext>>);

impl Tally {
    /// Creates the tally for the work of `scenario`.
    pub fn of(scenario: &Rc<ScenarioContext>) -> Tally {
        let fixed = scenario.state.work_done().is_some();
        Tally(fixed.then(|| Rc::clone(scenario)))
    }

    /// Counts a call with its payload in both directions, in bytes without headers and framing;
    /// `None` if it failed.
    #[inline]
    pub fn call(&self, payload: Option<(u64, u64)>) {
        if let Some(scenario) = &self.0 {
            scenario.share.borrow_mut().call(payload);
        }
    }

    /// Adds the time of an iteration, even of an incomplete one.
    #[inline]
    pub fn iteration(&self, started: Moment, ended: Moment) {
        if let Some(scenario) = &self.0 {
            scenario.share.borrow_mut().iteration(started, ended);
        }
    }
}

impl ScenarioContext {
    /// Adds this worker's share of a fixed amount of work to the scenario's results.
    pub(crate) fn add_share(&self) {
        if let Some(done) = self.state.work_done() {
            done.add(&self.share.take());
        }
    }
}
