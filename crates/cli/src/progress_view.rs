//! A run's progress as `report` draws it, from its counters.

use std::time::Duration;

use engine::{ScenarioReading, ScenarioState};
use plan::{Executor, Rate, Stage};
use report::fixed_width::fixed_width;
use report::progress::{Phase as Shown, ProgressView, ScenarioView, Status};
use units::Moment;

use crate::session::{Phase, Session};

/// What a run needs at the most, which sets the width of figures.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub longest: Duration,
    pub users: u32,
}

/// The view at `now`.
pub fn view(session: &Session, extent: Extent, now: Moment) -> ProgressView {
    let state = &session.running.state;
    let phase = match session.phase {
        Phase::Init => Shown::Init {
            what: format!("{}/{} VUs initialized", state.users_initialized(), extent.users),
            done: f64::from(state.users_initialized()) / f64::from(extent.users.max(1)),
        },
        Phase::SetUp => Shown::SetUp,
        Phase::Running => Shown::Running,
        Phase::TearDown => Shown::TearDown,
    };
    ProgressView {
        phase,
        elapsed: session.elapsed(),
        longest: extent.longest,
        users_active: state.users_active(),
        users_initialized: state.users_initialized(),
        users_max: extent.users,
        iterations_complete: state.iterations_completed(),
        iterations_interrupted: state.iterations_interrupted(),
        scenarios: session.running.scenarios.iter().map(|s| scenario(s, now)).collect(),
    }
}

fn scenario(state: &ScenarioState, now: Moment) -> ScenarioView {
    let reading = state.read(now);
    let (left, right) = match reading.elapsed {
        Some(elapsed) => (users(state, &reading), columns(state, &reading, elapsed)),
        None => {
            let wait = state.scenario.start_time;
            ("waiting".to_owned(), vec![fixed_width(wait, wait)])
        }
    };
    ScenarioView {
        name: state.scenario.name.clone(),
        status: status(state, &reading),
        done: if reading.finished { 1.0 } else { reading.progress },
        left,
        right,
    }
}

fn status(state: &ScenarioState, reading: &ScenarioReading) -> Status {
    let regular = state.regular_duration();
    match reading.elapsed {
        None => Status::Waiting,
        Some(_) if reading.finished && reading.interrupted => Status::Interrupted,
        Some(_) if reading.finished => Status::Done,
        Some(elapsed) if elapsed >= regular => Status::Stopping,
        Some(_) => Status::Running,
    }
}

fn users(state: &ScenarioState, reading: &ScenarioReading) -> String {
    let of = |whole: u32| {
        let digits = whole.to_string().len();
        format!("{:0digits$}/{whole} VUs", reading.users_active)
    };
    match &state.scenario.executor {
        executor @ Executor::RampingUsers { .. } => of(executor.planned_users()),
        executor @ (Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. }) => {
            of(reading.users_taken.max(executor.planned_users()))
        }
        executor => format!("{} VUs", executor.planned_users()),
    }
}

fn columns(state: &ScenarioState, reading: &ScenarioReading, elapsed: Duration) -> Vec<String> {
    let executor = &state.scenario.executor;
    let whole = state.regular_duration();
    let elapsed = reading.ran_for.unwrap_or(elapsed).min(whole);
    let by_count = matches!(
        executor,
        Executor::SharedIterations { .. } | Executor::PerUserIterations { .. }
    );
    let time = if executor.duration().is_none() {
        fixed_width(elapsed, elapsed)
    } else if reading.finished && !by_count {
        units::duration::format(whole)
    } else {
        format!("{}/{}", fixed_width(elapsed, whole), units::duration::format(whole))
    };
    let done = reading.iterations_completed;
    let work = match executor {
        Executor::SharedIterations { iterations, .. } => {
            let digits = iterations.to_string().len();
            Some(format!("{done:0digits$}/{iterations} shared iters"))
        }
        Executor::PerUserIterations { users, iterations, .. } => {
            let all = u64::from(*users).saturating_mul(*iterations);
            let digits = all.to_string().len();
            Some(format!("{done:0digits$}/{all} iters, {iterations} per VU"))
        }
        Executor::ConstantArrivalRate { rate, .. } => Some(format!("{:.2} iters/s", rate.per_second())),
        Executor::RampingArrivalRate { start, stages, .. } => {
            let highest = stages.iter().map(|stage| stage.target).max().unwrap_or(0).max(start.count);
            let highest = Rate { count: highest, per: start.per }.per_second();
            let width = format!("{highest:.2}").len();
            Some(format!("{:0width$.2} iters/s", rate_at(*start, stages, elapsed)))
        }
        _ => None,
    };
    std::iter::once(time).chain(work).collect()
}

/// The rate that stages have come to after `elapsed`, per second.
fn rate_at(start: Rate, stages: &[Stage], elapsed: Duration) -> f64 {
    let mut from = start.count as f64;
    let mut left = elapsed;
    for stage in stages {
        let to = stage.target as f64;
        if left < stage.duration {
            let share = left.as_secs_f64() / stage.duration.as_secs_f64();
            from += (to - from) * share;
            break;
        }
        left -= stage.duration;
        from = to;
    }
    from / start.per.as_secs_f64().max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_follow_the_stages() {
        let start = Rate { count: 5, per: Duration::from_secs(1) };
        let stages = [
            Stage { duration: Duration::from_secs(10), target: 15 },
            Stage { duration: Duration::from_secs(10), target: 15 },
        ];
        assert_eq!(rate_at(start, &stages, Duration::ZERO), 5.0);
        assert_eq!(rate_at(start, &stages, Duration::from_secs(5)), 10.0);
        assert_eq!(rate_at(start, &stages, Duration::from_secs(25)), 15.0);
    }
}
