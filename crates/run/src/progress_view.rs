//! The progress bars of a script's run, from its counters.

use std::time::Duration;

use plimsoll_engine::{ScenarioReading, ScenarioState};
use plimsoll_output::progress::{Phase as Shown, ProgressView, ScenarioView, Status};
use plimsoll_output::progress_texts::{ScenarioFacts, scenario_view};
use plimsoll_units::Moment;

use crate::{Phase, Progress};

/// Upper bounds of a run's numbers, which determine their width.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub longest: Duration,
    /// The highest number of virtual users.
    pub users: u32,
}

impl Progress {
    /// The view of progress bars at `now`.
    pub fn bars(&self, extent: Extent, now: Moment) -> ProgressView {
        let state = self.state();
        let phase = match self.phase() {
            Phase::Init => Shown::Init {
                what: format!(
                    "{}/{} VUs initialized",
                    state.users_initialized(),
                    extent.users
                ),
                done: f64::from(state.users_initialized()) / f64::from(extent.users.max(1)),
            },
            Phase::SetUp => Shown::SetUp,
            Phase::Running => Shown::Running,
            Phase::TearDown => Shown::TearDown,
        };
        let elapsed = self.elapsed();
        let scenarios = self.scenarios();
        ProgressView {
            phase,
            elapsed,
            longest: extent.longest,
            users_active: state.users_active(),
            users_initialized: state.users_initialized(),
            users_max: extent.users,
            iterations_complete: state.iterations_completed(),
            iterations_interrupted: state.iterations_interrupted(),
            scenarios: scenarios
                .iter()
                // Skip scenarios that have no share in this segment of the run.
                .filter(|state| state.scenario.max_users() > 0)
                .map(|state| scenario(state, elapsed, now))
                .collect(),
        }
    }
}

fn scenario(state: &ScenarioState, elapsed: Duration, now: Moment) -> ScenarioView {
    let reading = state.read(now);
    let facts = ScenarioFacts {
        status: status(state, &reading),
        starts_in: state.scenario.start_time.saturating_sub(elapsed),
        elapsed: reading.ran_for.or(reading.elapsed).unwrap_or_default(),
        users_active: reading.users_active,
        users_taken: reading.users_taken,
        iterations_complete: reading.iterations_completed,
    };
    scenario_view(&state.scenario, &facts)
}

fn status(state: &ScenarioState, reading: &ScenarioReading) -> Status {
    let regular = state.regular_duration();
    match (reading.elapsed, reading.ran_for) {
        (None, _) => Status::Waiting,
        (_, Some(_)) if reading.cut_short => Status::Interrupted,
        (_, Some(_)) => Status::Done,
        (Some(elapsed), None) if elapsed >= regular => Status::Stopping,
        _ => Status::Running,
    }
}
