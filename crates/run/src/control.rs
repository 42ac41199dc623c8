//! Controls a run from any thread.

use std::sync::Arc;

use plimsoll_engine::{AbortReason, Calls, RunState, ScenarioState, Step, Takeover};
use plimsoll_plan::Executor;
use plimsoll_units::Moment;

use crate::record_figures::reason_text;

/// Stops, pauses and scales a run.
#[derive(Clone)]
pub struct Control {
    state: Arc<RunState>,
    scenarios: Arc<[Arc<ScenarioState>]>,
    calls: Option<Calls>,
}

/// The state of a run that a controller can read or change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlReading {
    pub is_paused: bool,
    /// Whether a stop was requested, or the run stopped early for another reason.
    pub is_stopped: bool,
    /// Users that run iterations.
    pub users: u32,
    /// Users whose init code has run.
    pub users_ready: u32,
}

impl Control {
    pub(crate) fn of(
        state: &Arc<RunState>,
        scenarios: &[Arc<ScenarioState>],
        calls: Option<&Calls>,
    ) -> Control {
        Control {
            state: Arc::clone(state),
            scenarios: scenarios.into(),
            calls: calls.cloned(),
        }
    }

    /// Ends the run gracefully, as a signal does.
    pub fn stop(&self) {
        self.state.abort(AbortReason::Signal);
    }

    /// Ends the run for this reason.
    pub fn abort(&self, reason: AbortReason) {
        self.state.abort(reason);
    }

    /// Sets when the scenarios start, if the run waits for that ([`Workers::Part`](crate::Workers::Part)).
    pub fn start_at(&self, at: Moment) {
        self.state.start_at(at);
    }

    /// Takes over a part of the schedule that another process had in the scenario with this name. Returns false if no
    /// scenario has that name.
    pub fn take_over(&self, scenario: &str, part: Takeover) -> bool {
        let mut scenarios = self.scenarios.iter();
        let found = scenarios.find(|state| state.scenario.name == scenario);
        found.is_some_and(|state| {
            state.take_over(part);
            true
        })
    }

    /// Holds `teardown` back, or lets it run.
    pub fn set_teardown_waits(&self, waits: bool) {
        self.state.set_teardown_waits(waits);
    }

    /// Like [`Control::stop`], for a request to the run's API.
    pub fn stop_by_api(&self) {
        self.state.abort(AbortReason::ByApi);
    }

    /// Pauses or resumes the run. A run that waits for its start can always be resumed. After the start, only
    /// externally controlled scenarios can be paused.
    ///
    /// # Errors
    /// If it is already in that state, or if a scenario cannot be paused.
    pub fn set_paused(&self, is_paused: bool) -> Result<(), String> {
        if self.state.is_paused() == is_paused {
            return Err(format!(
                "the run is {}",
                if is_paused {
                    "paused already"
                } else {
                    "not paused"
                }
            ));
        }
        let other = self.scenarios.iter().find(|state| {
            !matches!(
                state.scenario.executor,
                Executor::ExternallyControlled { .. }
            )
        });
        if let Some(other) = other.filter(|_| is_paused) {
            return Err(format!(
                "scenario {} has the executor {}, which cannot be paused; use externally-controlled",
                other.scenario.name,
                other.scenario.executor.kind().name()
            ));
        }
        self.state.set_paused(is_paused);
        Ok(())
    }

    /// Changes the number of users of the externally controlled scenario. If there are several, changes the first one.
    ///
    /// # Errors
    /// If the scenario does not exist, or if `users` exceeds its `maxVUs`.
    pub fn scale(&self, users: u32) -> Result<(), String> {
        let mut scenarios = self.scenarios.iter();
        let found = scenarios.find_map(|state| match state.scenario.executor {
            Executor::ExternallyControlled { max_users, .. } => Some((state, max_users)),
            _ => None,
        });
        let Some((scenario, max_users)) = found else {
            return Err("no scenario has the executor externally-controlled, the only one whose users can be changed".to_owned());
        };
        if scenario.scale(users) {
            Ok(())
        } else {
            Err(format!(
                "{users} users are more than the scenario's maxVUs, {max_users}"
            ))
        }
    }

    /// The `maxVUs` of the first externally controlled scenario.
    pub fn max_users(&self) -> Option<u32> {
        let mut scenarios = self.scenarios.iter();
        scenarios.find_map(|state| match state.scenario.executor {
            Executor::ExternallyControlled { max_users, .. } => Some(max_users),
            _ => None,
        })
    }

    /// Calls the script's `setup` or `teardown` in addition to the run's own call, and waits for it to return.
    ///
    /// # Errors
    /// If it failed, or if the run ended before.
    pub fn call(&self, step: Step) -> Result<(), String> {
        let calls = self
            .calls
            .as_ref()
            .ok_or("the users of this run are in other processes")?;
        match calls.call(step) {
            Some(Ok(())) => Ok(()),
            Some(Err(reason)) => Err(reason_text(&reason)),
            None => Err("the run has ended".to_owned()),
        }
    }

    /// The current state.
    pub fn read(&self) -> ControlReading {
        let state = &self.state;
        ControlReading {
            is_paused: state.is_paused(),
            is_stopped: state.aborted().is_some(),
            users: state.users_active(),
            users_ready: state.users_initialized(),
        }
    }
}
