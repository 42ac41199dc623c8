//! How many users a run needs, and for how long.

use std::time::Duration;

use crate::build::Plan;
use crate::scenario::Scenario;

/// What a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Users to make ready before the start.
    pub planned_users: u32,
    /// The most users there can be at once.
    pub max_users: u32,
    /// When the last iteration is interrupted at the latest; `None` when a
    /// scenario runs until stopped.
    pub duration_with_graceful_stop: Option<Duration>,
}

impl Plan {
    /// The users and the time this run needs: what k6 tells as
    /// `N max VUs, D max duration (incl. graceful stop)`.
    pub fn requirements(&self) -> Requirements {
        Requirements {
            planned_users: self.most_at_once(Scenario::planned_users),
            max_users: self.most_at_once(Scenario::max_users),
            duration_with_graceful_stop: self.last_end(),
        }
    }

    /// The largest sum over the scenarios running at one time. It is reached
    /// where one of them starts.
    fn most_at_once(&self, users: impl Fn(&Scenario) -> u32) -> u32 {
        let running_at = |moment: Duration| {
            let running = self.scenarios.iter().filter(|scenario| {
                scenario.start_time <= moment && scenario.end().is_none_or(|end| end > moment)
            });
            running.fold(0u32, |sum, scenario| sum.saturating_add(users(scenario)))
        };
        let starts = self.scenarios.iter().map(|scenario| scenario.start_time);
        starts.map(running_at).max().unwrap_or(0)
    }

    fn last_end(&self) -> Option<Duration> {
        let mut last = Duration::ZERO;
        for scenario in self.scenarios.iter().filter(|s| s.has_work()) {
            last = last.max(scenario.end()?);
        }
        Some(last)
    }
}
