use std::rc::Rc;

use plimsoll_samples::Share;
use plimsoll_units::Moment;

use crate::ScenarioContext;

/// A user's share of a scenario's fixed amount of work. It is handed in when the user works for
/// another scenario, or is gone; nothing is counted where the amount is not fixed.
#[derive(Debug, Default)]
pub struct Tally {
    scenario: Option<Rc<ScenarioContext>>,
    share: Share,
}

impl Tally {
    /// Nothing yet of `scenario`'s work.
    pub fn of(scenario: &Rc<ScenarioContext>) -> Tally {
        let fixed = scenario.state.work_done().is_some();
        Tally {
            scenario: fixed.then(|| Rc::clone(scenario)),
            share: Share::default(),
        }
    }

    /// Counts a call by its payload each way, in bytes without heads and framing; `None` if it
    /// failed.
    #[inline]
    pub fn call(&mut self, payload: Option<(u64, u64)>) {
        if self.scenario.is_some() {
            self.share.call(payload);
        }
    }

    /// Counts the time of an iteration, or of what there was of it.
    #[inline]
    pub fn iteration(&mut self, started: Moment, ended: Moment) {
        if self.scenario.is_some() {
            self.share.iteration(started, ended);
        }
    }

    /// Hands in what was counted since the last time.
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
