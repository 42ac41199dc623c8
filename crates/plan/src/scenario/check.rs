//! Turns a scenario as written into a valid one, or returns all errors.

use std::time::Duration;

use plimsoll_units::duration::format;

use super::{GRACEFUL_STOP, Scenario, ScenarioOptions};
use crate::error::Errors;
use crate::executor::{Executor, ExecutorKind, Rate, Stage};
use crate::stage::StageOption;
use crate::stripe::{Division, Stripe};
use crate::trace::Trace;

const DEFAULT_MAX_DURATION: Duration = Duration::from_secs(600);
const MIN_DURATION: Duration = Duration::from_secs(1);

/// Checks one scenario. Collects errors with its name.
pub(crate) struct Checked<'a> {
    name: &'a str,
    options: &'a ScenarioOptions,
    division: &'a Division,
    /// The division of the users. If work is divided in the same way as users, it is also the division of the work.
    stripe: Stripe,
    errors: &'a mut Errors,
}

impl<'a> Checked<'a> {
    /// The scenario, if it has no errors. `functions` are the exported functions.
    pub(crate) fn scenario(
        name: &'a str,
        options: &'a ScenarioOptions,
        functions: &[String],
        division: &'a Division,
        errors: &'a mut Errors,
    ) -> Option<Scenario> {
        let found_before = errors.0.len();
        let mut checked = Checked {
            name,
            options,
            division,
            stripe: division.stripe(),
            errors,
        };
        checked.name();
        let exec = checked.exec(functions);
        let executor = checked.executor();
        if checked.errors.0.len() > found_before {
            return None;
        }
        let mut scenario = Scenario::new(name, executor);
        scenario.start_time = options.start_time.unwrap_or_default();
        if let Some(graceful_stop) = options.graceful_stop {
            scenario.graceful_stop = graceful_stop;
        }
        scenario.exec = exec;
        scenario.env = options.env.clone().unwrap_or_default();
        scenario.tags = options.tags.clone().unwrap_or_default();
        scenario.browser = options
            .options
            .as_ref()
            .and_then(|o| o.get("browser"))
            .cloned();
        scenario.stripe = checked.stripe;
        scenario.arrivals = options.arrivals.clone().unwrap_or_default();
        Some(scenario)
    }

    fn fault(&mut self, field: &str, message: impl Into<String>) {
        let place = match field {
            "" => format!("scenarios.{}", self.name),
            field => format!("scenarios.{}.{field}", self.name),
        };
        self.errors.push(place, message);
    }

    fn name(&mut self) {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if self.name.is_empty() {
            self.fault("", "a scenario needs a name");
        } else if !self.name.chars().all(allowed) {
            self.fault(
                "",
                "a scenario's name may contain only Latin letters, digits, \"_\" and \"-\"",
            );
        }
    }

    fn exec(&mut self, functions: &[String]) -> String {
        let exec = self
            .options
            .exec
            .clone()
            .unwrap_or_else(|| "default".to_owned());
        if exec.is_empty() {
            self.fault(
                "exec",
                "must not be empty: name an exported function, or omit it for the default one",
            );
        } else if !functions.contains(&exec) {
            let hint = match plimsoll_units::nearest(&exec, functions.iter().map(String::as_str)) {
                Some(meant) => format!("; did you mean \"{meant}\"?"),
                None if functions.is_empty() => ": it does not export any function".to_owned(),
                None => format!(": it exports {}", functions.join(", ")),
            };
            self.fault(
                "exec",
                format!("the script exports no function \"{exec}\"{hint}"),
            );
        }
        exec
    }

    /// If the result is not usable, errors were added.
    fn executor(&mut self) -> Executor {
        match self.options.executor {
            ExecutorKind::SharedIterations => self.shared_iterations(),
            ExecutorKind::PerUserIterations => {
                let users = self.users("vus", self.options.vus.unwrap_or(1), 1);
                let iterations = self.options.iterations.unwrap_or(1);
                if iterations <= 0 {
                    self.fault(
                        "iterations",
                        format!("must be more than 0, but is {iterations}"),
                    );
                }
                Executor::PerUserIterations {
                    users: self.scaled(users),
                    iterations: unsigned(iterations),
                    max_duration: self.max_duration(),
                }
            }
            ExecutorKind::ConstantUsers => {
                let users = self.users("vus", self.options.vus.unwrap_or(1), 1);
                Executor::ConstantUsers {
                    users: self.scaled(users),
                    duration: self.duration(),
                }
            }
            ExecutorKind::RampingUsers => self.ramping_users(),
            ExecutorKind::ConstantArrivalRate if self.trace().is_some() => self.recorded_arrivals(),
            ExecutorKind::ConstantArrivalRate => {
                let rate = match self.options.rate {
                    Some(rate) if rate > 0 => rate,
                    Some(rate) => {
                        self.fault("rate", format!("must be more than 0, but is {rate}"));
                        0
                    }
                    None => {
                        self.fault(
                            "rate",
                            "is missing: set the number of iterations that start per timeUnit",
                        );
                        0
                    }
                };
                let rate = self.rate(rate);
                let duration = self.duration();
                let (pre_allocated, max_users) = self.arrival_users();
                Executor::ConstantArrivalRate {
                    rate,
                    duration,
                    pre_allocated,
                    max_users,
                }
            }
            ExecutorKind::RampingArrivalRate => {
                if self.trace().is_some() {
                    self.fault(
                        "arrivals",
                        "a trace has its own rate: use the executor constant-arrival-rate, without a rate",
                    );
                }
                let start = self.options.start_rate.unwrap_or(0);
                if start < 0 {
                    self.fault("startRate", format!("must not be negative, but is {start}"));
                }
                let start = self.rate(start);
                let stages = self.stages();
                let (pre_allocated, max_users) = self.arrival_users();
                Executor::RampingArrivalRate {
                    start,
                    stages,
                    pre_allocated,
                    max_users,
                }
            }
            ExecutorKind::ExternallyControlled => self.externally_controlled(),
        }
    }

    fn trace(&self) -> Option<&'a Trace> {
        self.options.arrivals.as_ref()?.trace()
    }

    /// Iterations at the times of a trace, with its mean rate, for as long as the trace lasts.
    fn recorded_arrivals(&mut self) -> Executor {
        if self.options.rate.is_some() || self.options.time_unit.is_some() {
            self.fault(
                "rate",
                "a trace has its own rate: remove rate and timeUnit, or arrivals",
            );
        }
        let limit = self.options.duration;
        let limit = limit.map(|duration| self.long_enough("duration", duration));
        let none = Rate {
            count: 0,
            per: MIN_DURATION,
        };
        let extent = self.trace().map(|trace| trace.extent(limit));
        let (duration, rate) = extent.unwrap_or((MIN_DURATION, none));
        if rate.count == 0 {
            self.fault("arrivals", "the trace has no arrival in the duration");
        }
        let (pre_allocated, max_users) = self.arrival_users();
        Executor::ConstantArrivalRate {
            rate,
            duration,
            pre_allocated,
            max_users,
        }
    }

    fn shared_iterations(&mut self) -> Executor {
        let users = self.users("vus", self.options.vus.unwrap_or(1), 1);
        let iterations = self.options.iterations.unwrap_or(1);
        if iterations < i64::from(users) || iterations <= 0 {
            self.fault(
                "iterations",
                format!(
                    "must be at least 1 for each user, so at least {}, but is {iterations}",
                    users.max(1)
                ),
            );
        }
        let scaled = self.scaled(users);
        self.stripe = self.division.stripe_by_users(u64::from(users));
        Executor::SharedIterations {
            users: scaled,
            iterations: self.stripe.share(unsigned(iterations)),
            max_duration: self.max_duration(),
        }
    }

    fn ramping_users(&mut self) -> Executor {
        let start = self.users("startVUs", self.options.start_vus.unwrap_or(1), 0);
        let stages = self.stages();
        let most = stages.iter().map(|stage| stage.target).max().unwrap_or(0);
        if most > u64::from(u32::MAX) {
            self.fault("stages", format!("{most} users are too many"));
        }
        if start == 0 && most == 0 && !stages.is_empty() {
            self.fault(
                "stages",
                "no stage and no startVUs is above 0, so nothing would run",
            );
        }
        Executor::RampingUsers {
            start,
            stages,
            graceful_ramp_down: self.options.graceful_ramp_down.unwrap_or(GRACEFUL_STOP),
        }
    }

    fn externally_controlled(&mut self) -> Executor {
        let users = self.users("vus", self.options.vus.unwrap_or(1), 0);
        let max_users = match self.options.max_vus {
            Some(most) => self.users("maxVUs", most, 1),
            None => users,
        };
        if users > max_users {
            self.fault(
                "vus",
                format!("{users} is above maxVUs, which is {max_users}"),
            );
        }
        if self.options.graceful_stop.is_some() {
            self.fault(
                "gracefulStop",
                "does not exist for an externally controlled scenario: leave it out",
            );
        }
        if self.options.duration.is_none() {
            self.fault("duration", "is missing: set it, or 0 to run until stopped");
        }
        Executor::ExternallyControlled {
            users: self.scaled(users),
            max_users: self.scaled(max_users),
            duration: self.options.duration.filter(|d| !d.is_zero()),
        }
    }

    /// A number of users that is at least `least`.
    fn users(&mut self, field: &str, written: i64, least: u32) -> u32 {
        match u32::try_from(written) {
            Ok(users) if users >= least => users,
            _ if written < i64::from(least) => {
                let bound = if least == 0 {
                    "must not be negative"
                } else {
                    "must be more than 0"
                };
                self.fault(field, format!("{bound}, but is {written}"));
                least
            }
            _ => {
                self.fault(field, format!("{written} users are too many"));
                least
            }
        }
    }

    fn scaled(&self, users: u32) -> u32 {
        // A share is never larger than the whole.
        self.stripe.share(u64::from(users)) as u32
    }

    fn duration(&mut self) -> Duration {
        match self.options.duration {
            Some(duration) => self.long_enough("duration", duration),
            None => {
                self.fault(
                    "duration",
                    "is missing: set how long the scenario runs, such as \"30s\"",
                );
                Duration::ZERO
            }
        }
    }

    fn max_duration(&mut self) -> Duration {
        let duration = self.options.max_duration.unwrap_or(DEFAULT_MAX_DURATION);
        self.long_enough("maxDuration", duration)
    }

    fn long_enough(&mut self, field: &str, duration: Duration) -> Duration {
        if duration < MIN_DURATION {
            self.fault(
                field,
                format!("must be at least 1s, but is {}", format(duration)),
            );
        }
        duration
    }

    fn rate(&mut self, count: i64) -> Rate {
        let per = self.options.time_unit.unwrap_or(Duration::from_secs(1));
        if per.is_zero() {
            self.fault("timeUnit", "must be more than 0");
        }
        Rate {
            count: unsigned(count),
            per,
        }
    }

    fn arrival_users(&mut self) -> (u32, u32) {
        let Some(pre_allocated) = self.options.pre_allocated_vus else {
            self.fault(
                "preAllocatedVUs",
                "is missing: set the number of users to initialize before the start",
            );
            return (0, 0);
        };
        let pre_allocated = self.users("preAllocatedVUs", pre_allocated, 0);
        let max_users = match self.options.max_vus {
            Some(most) => self.users("maxVUs", most, 0),
            None => pre_allocated,
        };
        if max_users < pre_allocated {
            self.fault(
                "maxVUs",
                format!("{max_users} is below preAllocatedVUs, which is {pre_allocated}"),
            );
        } else if max_users == 0 {
            self.fault(
                "maxVUs",
                "no user could ever run an iteration: set preAllocatedVUs or maxVUs above 0",
            );
        }
        let scaled = (self.scaled(pre_allocated), self.scaled(max_users));
        self.stripe = self.division.stripe_by_users(u64::from(max_users));
        scaled
    }

    fn stages(&mut self) -> Vec<Stage> {
        let written: &[StageOption] = self.options.stages.as_deref().unwrap_or_default();
        if written.is_empty() {
            self.fault(
                "stages",
                "at least one stage { duration, target } is needed",
            );
        }
        let mut stages = Vec::with_capacity(written.len());
        for (index, stage) in written.iter().enumerate() {
            let place = format!("stages[{index}]");
            if stage.duration.is_none() {
                self.fault(&place, "has no duration");
            }
            let target = match stage.target {
                Some(target) if target >= 0 => target,
                Some(target) => {
                    self.fault(
                        &place,
                        format!("its target must not be negative, but is {target}"),
                    );
                    0
                }
                None => {
                    self.fault(&place, "has no target");
                    0
                }
            };
            stages.push(Stage {
                duration: stage.duration.unwrap_or_default(),
                target: unsigned(target),
            });
        }
        stages
    }
}

/// A negative number has already been reported as an error.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
