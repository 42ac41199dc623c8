//! The description of a scenario in the banner of a run.

use std::time::Duration;

use plimsoll_units::duration::format;

use super::Scenario;
use crate::executor::{Executor, Rate, Stage, total};

impl Scenario {
    /// The text after `* name: `, such as `10 looping VUs for 30s (gracefulStop: 30s)`.
    pub fn description(&self) -> String {
        let mut notes = Vec::new();
        let text = match &self.executor {
            Executor::SharedIterations {
                users,
                iterations,
                max_duration,
            } => {
                notes.push(format!("maxDuration: {}", format(*max_duration)));
                format!("{iterations} iterations shared among {users} VUs")
            }
            Executor::PerUserIterations {
                users,
                iterations,
                max_duration,
            } => {
                notes.push(format!("maxDuration: {}", format(*max_duration)));
                format!("{iterations} iterations for each of {users} VUs")
            }
            Executor::ConstantUsers { users, duration } => {
                format!("{users} looping VUs for {}", format(*duration))
            }
            Executor::RampingUsers {
                stages,
                graceful_ramp_down,
                ..
            } => {
                notes.push(format!("gracefulRampDown: {}", format(*graceful_ramp_down)));
                format!(
                    "Up to {} looping VUs for {} over {} stages",
                    self.planned_users(),
                    format(total(stages)),
                    stages.len()
                )
            }
            Executor::ConstantArrivalRate {
                rate,
                duration,
                pre_allocated,
                max_users,
            } => {
                notes.push(users_span(*pre_allocated, *max_users));
                format!(
                    "{:.2} iterations/s for {}",
                    self.scaled(rate.per_second()),
                    format(*duration)
                )
            }
            Executor::RampingArrivalRate {
                start,
                stages,
                pre_allocated,
                max_users,
            } => {
                notes.push(users_span(*pre_allocated, *max_users));
                format!(
                    "Up to {:.2} iterations/s for {} over {} stages",
                    self.scaled(highest(*start, stages).per_second()),
                    format(total(stages)),
                    stages.len()
                )
            }
            Executor::ExternallyControlled {
                users,
                max_users,
                duration,
            } => {
                let duration = match duration {
                    Some(duration) => format!("{} duration", format(*duration)),
                    None => "infinite duration".to_owned(),
                };
                format!(
                    "Externally controlled execution with {users} VUs, {max_users} max VUs, {duration}"
                )
            }
        };
        self.note_surroundings(&mut notes);
        if notes.is_empty() {
            text
        } else {
            format!("{text} ({})", notes.join(", "))
        }
    }

    fn note_surroundings(&self, notes: &mut Vec<String>) {
        if self.executor.is_open() && !self.arrivals.is_even() {
            notes.push(format!("arrivals: {}", self.arrivals));
        }
        if self.exec != "default" {
            notes.push(format!("exec: {}", self.exec));
        }
        if self.start_time > Duration::ZERO {
            notes.push(format!("startTime: {}", format(self.start_time)));
        }
        if self.graceful_stop > Duration::ZERO {
            notes.push(format!("gracefulStop: {}", format(self.graceful_stop)));
        }
    }

    fn scaled(&self, rate: f64) -> f64 {
        let (held, of) = self.stripe.fraction();
        rate * f64::from(held) / f64::from(of)
    }
}

fn users_span(pre_allocated: u32, max_users: u32) -> String {
    if max_users > pre_allocated {
        format!("maxVUs: {pre_allocated}-{max_users}")
    } else {
        format!("maxVUs: {pre_allocated}")
    }
}

fn highest(start: Rate, stages: &[Stage]) -> Rate {
    let target = stages.iter().map(|stage| stage.target).max().unwrap_or(0);
    Rate {
        count: start.count.max(target),
        per: start.per,
    }
}
