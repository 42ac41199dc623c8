//! The state of a run whose workers are not threads of this process.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use plimsoll_plan::Plan;
use plimsoll_units::Moment;

use crate::{Event, RunState, Running, ScenarioState};

/// Sends the events of a run that takes place in other processes, and sets its counters. Its
/// [`Running`] looks like that of a local run.
pub struct Mirror {
    events: Sender<Event>,
    state: Arc<RunState>,
    scenarios: Vec<Arc<ScenarioState>>,
}

impl Mirror {
    /// Returns the run of `plan` and its mirror.
    pub fn of(plan: &Plan) -> (Running, Mirror) {
        let (events, received) = channel();
        let state = Arc::new(RunState::new());
        let scenarios = plan.scenarios.iter();
        let scenarios: Vec<_> = scenarios
            .map(|scenario| Arc::new(ScenarioState::new(scenario.clone())))
            .collect();
        let running = Running {
            events: received,
            state: Arc::clone(&state),
            scenarios: scenarios.clone(),
            calls: None,
        };
        let mirror = Mirror {
            events,
            state,
            scenarios,
        };
        (running, mirror)
    }

    /// Sends an event. Returns false if nothing receives the run's events.
    pub fn send(&self, event: Event) -> bool {
        self.events.send(event).is_ok()
    }

    /// The run's counters, and whether it was aborted.
    pub fn state(&self) -> &Arc<RunState> {
        &self.state
    }

    /// Records that the scenarios started, or will start, with the run's start at this moment.
    pub fn start(&self, at: Moment) {
        self.state.start(at);
        for scenario in &self.scenarios {
            scenario.start(at + scenario.scenario.start_time);
        }
    }

    /// Records that the last scenario has ended.
    pub fn end(&self, at: Moment) {
        self.state.end(at);
        for scenario in &self.scenarios {
            scenario.finish_share(1);
        }
    }

    /// Sets the number of users that run iterations, and of those whose init code has run.
    pub fn set_users(&self, active: u32, ready: u32) {
        self.state.set_users(active, ready);
    }

    /// Adds iterations of the run: completed, interrupted, and those in which a script threw an
    /// exception.
    pub fn add_iterations(&self, completed: u64, interrupted: u64, threw: u64) {
        self.state.add_iterations(completed, interrupted, threw);
    }

    /// Adds iterations of the scenario with that index: started, completed and dropped.
    pub fn add_to_scenario(&self, index: usize, started: u64, completed: u64, dropped: u64) {
        if let Some(scenario) = self.scenarios.get(index) {
            scenario.add(started, completed, dropped);
        }
    }
}
