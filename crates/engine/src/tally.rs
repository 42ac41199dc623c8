use std::rc::Rc;

use plimsoll_samples::Share;
use plimsoll_units::Moment;

use crate::ScenarioContext;

/// A user's results for a scenario's fixed amount of work. They are passed on when the user
/// switches to another scenario or ends. Nothing is counted if the amount is not fixed.
#[derive(Debug, Default)]
pub struct Tally {
    scenario: Option<Rc<ScenarioContext>>,
    share: Share,
}

impl Tally {
    /// An empty tally for `scenario`'s work.
    pub fn of(scenario: &Rc<ScenarioContext>) -> Tally {
        let fixed = scenario.state.work_done().is_some();
        Tally {
            scenario: fixed.then(|| Rc::clone(scenario)),
            share: Share::default(),
        }
    }

    /// Counts a call with its payload in both directions, in bytes without headers and framing;
    /// `None` if it failed.
    #[inline]
    pub fn call(&mut self, payload: Option<(u64, u64)>) {
        if self.scenario.is_some() {
            self.share.call(payload);
        }
    }

    /// Counts the time of an iteration, even of an incomplete one.
    #[inline]
    pub fn iteration(&mut self, started: Moment, ended: Moment) {
        if self.scenario.is_some() {
            self.share.iteration(started, ended);
        }
    }

    /// Passes on the results since the last call.
    pub fn hand_in(&mut self) {
        let state = self.scenario.as_ref().map(|scenario| &scenario.state);
        if let Some(done) = state.and_then(|state| state.work_done()) {
            done.add(&std::mem::take(&mut self.share));
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.hand_in();
    }
}
