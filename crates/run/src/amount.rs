//! How much load a run without a script generates: for a time, at a rate, a number of calls, or fixed work.

use std::time::Duration;

use plimsoll_plan::{Executor, Rate, Scenario};

/// A flag's name, for error messages, and its value.
#[derive(Clone, Copy, Debug)]
pub struct Flag<T> {
    pub name: &'static str,
    pub value: T,
}

/// The amount of load as set by a command's flags.
#[derive(Clone, Copy, Debug)]
pub struct Amount<'a> {
    /// Simultaneous users; in the open model, users at the start.
    pub users: Flag<u32>,
    /// How often calls start.
    pub rate: Flag<Option<Rate>>,
    /// Total number of calls.
    pub total: Flag<Option<u64>>,
    /// Most users in the open model.
    pub max_users: Option<u32>,
    /// The duration, or the longest time.
    pub duration: Option<&'a str>,
    /// Users of a fixed amount of work.
    pub workers: Option<u32>,
    /// Calls per user.
    pub loops: Option<u64>,
}

/// Time limit of a fixed amount of work, which may take as long as necessary.
const AS_LONG_AS_IT_TAKES: &str = "24h";

impl Amount<'_> {
    /// The only scenario of the run, named after the command.
    ///
    /// # Errors
    /// An invalid flag.
    pub fn scenario(&self, name: &str) -> Result<Scenario, String> {
        let mut scenario = Scenario::new(name, self.executor()?);
        scenario.graceful_stop = Duration::from_secs(1);
        Ok(scenario)
    }

    /// Whether only time ends the run.
    pub fn is_by_time(&self) -> bool {
        self.total.value.is_none() && self.loops.is_none()
    }

    fn executor(&self) -> Result<Executor, String> {
        let usual = if self.loops.is_some() {
            AS_LONG_AS_IT_TAKES
        } else {
            "10s"
        };
        let duration = parse_duration("--duration", self.duration.unwrap_or(usual))?;
        if duration.is_zero() {
            return Err("--duration 0: give the run some time, like 10s".to_owned());
        }
        let users = self.users.value;
        if users == 0 {
            return Err(format!(
                "{} 0: at least one user is needed",
                self.users.name
            ));
        }
        if self.workers == Some(0) || self.loops == Some(0) {
            return Err("--workers and --loops: at least one of each makes a call".to_owned());
        }
        if let (Some(users), Some(iterations)) = (self.workers, self.loops) {
            return Ok(Executor::PerUserIterations {
                users,
                iterations,
                max_duration: duration,
            });
        }
        match (self.rate.value, self.total.value) {
            (Some(rate), _) if rate.count == 0 => Err(format!(
                "{} 0: leave it out for a closed model",
                self.rate.name
            )),
            (_, Some(0)) => Err(format!(
                "{} 0: there is nothing to do; leave it out, or give a number",
                self.total.name
            )),
            (Some(rate), _) => Ok(Executor::ConstantArrivalRate {
                rate,
                duration,
                pre_allocated: users,
                max_users: self.max_users.unwrap_or(users.saturating_mul(10).max(1000)),
            }),
            (None, Some(iterations)) => Ok(Executor::SharedIterations {
                users: u32::try_from(iterations).unwrap_or(u32::MAX).min(users),
                iterations,
                max_duration: duration,
            }),
            (None, None) => Ok(Executor::ConstantUsers { users, duration }),
        }
    }
}

/// A rate per second for a record: a whole number if possible, so that `10` and `600/m` are the same
/// configuration.
pub fn rate_in_record(rate: Rate) -> serde_json::Value {
    let per_second = rate.per_second();
    if per_second.fract() == 0.0 && per_second < u64::MAX as f64 {
        (per_second as u64).into()
    } else {
        per_second.into()
    }
}

/// Parses a flag's time, with its unit.
///
/// # Errors
/// Why it is invalid, with the flag's name.
pub fn parse_duration(flag: &str, text: &str) -> Result<Duration, String> {
    plimsoll_units::duration::parse_with_unit(text)
        .map_err(|error| format!("{flag} {text}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Amount<'_> = Amount {
        users: Flag {
            name: "--users",
            value: 5,
        },
        rate: Flag {
            name: "--rate",
            value: None,
        },
        total: Flag {
            name: "--total",
            value: None,
        },
        max_users: None,
        duration: None,
        workers: None,
        loops: None,
    };

    #[test]
    fn flags_choose_the_executor() {
        let seconds = Duration::from_secs;
        assert_eq!(
            USUAL.executor(),
            Ok(Executor::ConstantUsers {
                users: 5,
                duration: seconds(10)
            })
        );
        let mut amount = USUAL;
        amount.total.value = Some(3);
        assert!(!amount.is_by_time());
        assert_eq!(
            amount.executor(),
            Ok(Executor::SharedIterations {
                users: 3,
                iterations: 3,
                max_duration: seconds(10)
            })
        );
        let amount = Amount {
            workers: Some(2),
            loops: Some(7),
            ..USUAL
        };
        assert!(!amount.is_by_time());
        assert_eq!(
            amount.executor(),
            Ok(Executor::PerUserIterations {
                users: 2,
                iterations: 7,
                max_duration: seconds(24 * 3600)
            })
        );
    }

    #[test]
    fn nothing_at_all_is_refused_by_its_flag() {
        let mut none = [USUAL; 4];
        none[0].users.value = 0;
        none[1].rate.value = Some(Rate {
            count: 0,
            per: Duration::from_secs(1),
        });
        none[2].total.value = Some(0);
        none[3].duration = Some("0s");
        for (amount, flag) in none
            .iter()
            .zip(["--users", "--rate", "--total", "--duration"])
        {
            let error = amount.executor().expect_err(flag);
            assert!(error.starts_with(flag), "{error}");
        }
    }
}
