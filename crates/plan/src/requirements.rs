//! How many users a run needs, and for how long.

use std::time::Duration;

use crate::build::Plan;

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
        let slots = self.assign_slots();
        Requirements {
            planned_users: slots.planned_users,
            max_users: slots.max_users,
            duration_with_graceful_stop: self.last_end(),
        }
    }

    fn last_end(&self) -> Option<Duration> {
        let mut last = Duration::ZERO;
        for scenario in self.scenarios.iter().filter(|s| s.has_work()) {
            last = last.max(scenario.end()?);
        }
        Some(last)
    }
}
