//! The load of a run without a script: a duration, a rate, a number of requests, or a fixed amount of work, and how its
//! users share connections.

use std::str::FromStr;
use std::time::Duration;

use plimsoll_plan::{Arrivals, Executor, Rate, Scenario};
use serde_json::{Value, json};

/// The number of users if neither users nor connections are given.
const DEFAULT_USERS: u32 = 50;
/// The time limit of a fixed amount of work if no duration is given.
const MAX_WORK_DURATION: Duration = Duration::from_secs(86_400);

#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The number of virtual users. In the open model, the initial number.
    pub users: Option<u32>,
    pub connections: Option<Connections>,
    /// Whether each request opens a new connection.
    pub no_keepalive: bool,
    /// The duration of the run, or the limit of its duration.
    pub duration: Option<Duration>,
    /// Requests per second, which select the open model.
    pub rate: Option<Rate>,
    /// Maximum number of users in the open model.
    pub max_users: Option<u32>,
    /// The distribution of arrivals at the rate; even by default.
    pub arrivals: Option<Arrivals>,
    /// The default seed of random arrivals.
    pub arrivals_seed: Option<u64>,
    /// The total number of requests.
    pub requests: Option<u64>,
    /// Requests per user: a fixed amount of work.
    pub loops: Option<u64>,
    /// Whether the makespan of a fixed amount of work includes opening connections.
    pub include_connecting: bool,
    pub threads: Option<usize>,
}

/// How users share connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// This number, shared by all users. If the number of users is not given, each connection has one user.
    Count(u32),
    /// One connection for all users.
    Shared,
    /// One connection for each user.
    Kept,
    /// A new connection for each request.
    Fresh,
}

impl FromStr for Connections {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "shared" => Ok(Connections::Shared),
            "kept" => Ok(Connections::Kept),
            "fresh" => Ok(Connections::Fresh),
            "0" => Err("at least one connection is needed".to_owned()),
            number => number
                .parse()
                .map(Connections::Count)
                .map_err(|_| "write a number, shared, kept or fresh".to_owned()),
        }
    }
}

impl LoadOptions {
    /// Parses a duration with its unit.
    ///
    /// # Errors
    /// If the text is not one. A text that looks like the message of a request gets advice.
    pub fn parse_duration(text: &str) -> Result<Duration, String> {
        if text.starts_with(['{', '[', '@']) {
            return Err(
                "-d is the duration of the run, such as 10s; set the message with --data"
                    .to_owned(),
            );
        }
        plimsoll_units::duration::parse_with_unit(text)
    }

    /// Checks that the options are consistent.
    ///
    /// # Errors
    /// If options contradict each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = match self.connections {
            Some(Connections::Shared) => "shared",
            Some(Connections::Kept) => "kept",
            _ => return Ok(()),
        };
        match self.no_keepalive {
            true => Err(format!(
                "--no-keepalive with --connections {name}: remove one of them"
            )),
            false => Ok(()),
        }
    }

    /// Seeds random arrivals. If arrivals follow a trace, reads it, and sets the load to its mean rate and its length.
    ///
    /// # Errors
    /// If the trace cannot be read, or if another option determines the load.
    pub(crate) fn settle_arrivals(&mut self) -> Result<(), String> {
        let Some(arrivals) = &mut self.arrivals else {
            return Ok(());
        };
        *arrivals = std::mem::take(arrivals).seeded(self.arrivals_seed);
        if arrivals.trace().is_none() {
            return match self.rate {
                Some(_) => Ok(()),
                None => Err(format!(
                    "--arrivals {arrivals} needs --rate: they are spread around it"
                )),
            };
        }
        if self.rate.is_some() || self.requests.is_some() || self.loops.is_some() {
            return Err(format!(
                "--arrivals {arrivals}: a trace sets the rate and the number of requests; omit --rate, --requests and \
                 --loops"
            ));
        }
        arrivals
            .read_trace(read_trace_file)
            .map_err(|error| format!("--arrivals {error}"))?;
        if let Some(trace) = arrivals.trace() {
            let (duration, rate) = trace.extent(self.duration);
            if rate.count == 0 {
                return Err(format!("--arrivals {trace}: no arrival within --duration"));
            }
            (self.rate, self.duration) = (Some(rate), Some(duration));
        }
        Ok(())
    }

    /// The number of users if each connection has `streams` of them.
    pub fn users(&self, streams: u32) -> Result<u32, String> {
        let connections = match (self.users, self.connections) {
            (Some(users), _) => return Ok(users),
            (None, Some(Connections::Count(count))) => count,
            (None, _) => DEFAULT_USERS.min(self.max_users.unwrap_or(DEFAULT_USERS)),
        };
        connections.checked_mul(streams).ok_or_else(|| {
            format!("{connections} connections with {streams} streams each: too many users")
        })
    }

    /// The number of connections that all users share. `None` if each user has its own.
    pub fn shared(&self) -> Option<u32> {
        match (self.users, self.connections) {
            (_, Some(Connections::Shared)) => Some(1),
            (Some(_), Some(Connections::Count(count))) => Some(count),
            _ => None,
        }
    }

    /// Whether each request opens a new connection.
    pub fn opens_connection_per_request(&self) -> bool {
        self.no_keepalive || self.connections == Some(Connections::Fresh)
    }

    /// Whether each user has a fixed amount of work.
    pub fn is_fixed_work(&self) -> bool {
        self.loops.is_some()
    }

    /// Whether connections are opened before the first request.
    pub fn connects_before_start(&self) -> bool {
        self.is_fixed_work() && !self.include_connecting
    }

    /// The duration of a run that only time ends.
    pub fn fixed_duration(&self) -> Option<Duration> {
        (self.requests.is_none() && self.loops.is_none()).then(|| self.limit())
    }

    fn limit(&self) -> Duration {
        let usual = match self.loops {
            Some(_) => MAX_WORK_DURATION,
            None => Duration::from_secs(10),
        };
        self.duration.unwrap_or(usual)
    }

    /// The only scenario of the run.
    ///
    /// # Errors
    /// If an option is invalid.
    pub fn scenario(&self, name: &str, users: u32) -> Result<Scenario, String> {
        let mut scenario = Scenario::new(name, self.executor(users)?);
        scenario.graceful_stop = plimsoll_scriptless::GRACEFUL_STOP;
        scenario.arrivals = self.arrivals.clone().unwrap_or_default();
        Ok(scenario)
    }

    fn executor(&self, users: u32) -> Result<Executor, String> {
        let duration = self.limit();
        if duration.is_zero() {
            return Err("--duration 0: give the run a duration, such as 10s".to_owned());
        }
        if users == 0 {
            return Err("--users 0: at least one user is needed".to_owned());
        }
        if let Some(iterations) = self.loops {
            if iterations == 0 {
                return Err("--loops 0: each user needs at least one".to_owned());
            }
            return Ok(Executor::PerUserIterations {
                users,
                iterations,
                max_duration: duration,
            });
        }
        match (self.rate, self.requests) {
            (Some(rate), _) if rate.count == 0 => {
                Err("--rate 0: omit --rate for a closed model".to_owned())
            }
            (_, Some(0)) => Err("--requests 0: give at least one, or omit it".to_owned()),
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

    /// The options, in the form of a record.
    pub(crate) fn describe(&self, users: u32, scenario: &Scenario) -> Value {
        json!({
            "load": [scenario.description()],
            "users": users,
            "connections": match self.connections {
                Some(Connections::Shared) => Some(1),
                Some(Connections::Count(count)) => Some(count),
                _ => None,
            },
            "keep_alive": !self.opens_connection_per_request(),
            "include_connecting": self.include_connecting,
            "rate": self.rate.map(rate_in_record),
            "requests": self.requests,
            "loops": self.loops,
            "threads": self.threads,
        })
    }

    /// A rate of `what`, for a run's title. Includes the distribution of arrivals, unless it is even.
    pub(crate) fn describe_rate(&self, rate: Rate, what: &str) -> String {
        let uneven = self.arrivals.as_ref();
        match uneven.filter(|arrivals| !arrivals.is_even()) {
            None => format!("{} {what}/s", rate.per_second()),
            Some(trace) if trace.trace().is_some() => {
                format!("{what} at recorded times (arrivals: {trace})")
            }
            Some(uneven) => format!("{} {what}/s (arrivals: {uneven})", rate.per_second()),
        }
    }

    /// The connections, for the title of a run whose users do not share them.
    pub(crate) fn describe_connections(&self) -> String {
        let connections = match self.shared() {
            _ if self.opens_connection_per_request() => {
                return "a new connection for each request".to_owned();
            }
            Some(1) => "one shared connection".to_owned(),
            Some(count) => format!("{count} shared connections"),
            None => "a connection each".to_owned(),
        };
        match (self.loops, self.include_connecting) {
            (None, _) => connections,
            (Some(_), true) => format!("{connections}, opened within the makespan"),
            (Some(_), false) => format!("{connections}, opened before the makespan"),
        }
    }
}

/// Reads the file of a trace of arrivals.
pub(crate) fn read_trace_file(file: &str) -> Result<String, String> {
    plimsoll_machine::read_text_file(file.as_ref())
        .map_err(|error| format!("trace {file}: cannot read it: {error}"))
}

/// A rate per second for a record. A whole number stays one, so that `10` and `600/m` are the same configuration.
fn rate_in_record(rate: Rate) -> Value {
    let per_second = rate.per_second();
    if per_second.fract() == 0.0 && per_second < u64::MAX as f64 {
        (per_second as u64).into()
    } else {
        per_second.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_name_arrivals_that_are_not_even() {
        const RATE: Rate = Rate {
            count: 20,
            per: Duration::from_secs(1),
        };
        let described = |text| {
            let arrivals = Arrivals::parse(text).ok();
            LoadOptions {
                arrivals,
                ..LoadOptions::default()
            }
            .describe_rate(RATE, "calls")
        };
        assert_eq!(described("even"), "20 calls/s");
        assert_eq!(described("poisson@7"), "20 calls/s (arrivals: poisson@7)");
        assert_eq!(
            described("trace:a.log"),
            "calls at recorded times (arrivals: trace:a.log)"
        );
    }

    #[test]
    fn options_choose_the_executor() {
        let seconds = Duration::from_secs;
        let mut load = LoadOptions::default();
        assert_eq!(
            load.executor(5),
            Ok(Executor::ConstantUsers {
                users: 5,
                duration: seconds(10)
            })
        );
        load.requests = Some(3);
        assert_eq!(load.fixed_duration(), None);
        assert_eq!(
            load.executor(5),
            Ok(Executor::SharedIterations {
                users: 3,
                iterations: 3,
                max_duration: seconds(10)
            })
        );
        let load = LoadOptions {
            loops: Some(7),
            ..LoadOptions::default()
        };
        assert_eq!(load.fixed_duration(), None);
        assert_eq!(
            load.executor(2),
            Ok(Executor::PerUserIterations {
                users: 2,
                iterations: 7,
                max_duration: seconds(24 * 3600)
            })
        );
    }

    #[test]
    fn zero_is_refused_by_its_flag() {
        let mut wrong = vec![LoadOptions::default(); 4];
        wrong[0].rate = Some(Rate {
            count: 0,
            per: Duration::from_secs(1),
        });
        wrong[1].requests = Some(0);
        wrong[2].duration = Some(Duration::ZERO);
        wrong[3].loops = Some(0);
        let flags = ["--rate", "--requests", "--duration", "--loops"];
        for (load, flag) in wrong.iter().zip(flags) {
            let error = load.executor(5).expect_err(flag);
            assert!(error.starts_with(flag), "{error}");
        }
        let error = LoadOptions::default().executor(0).unwrap_err();
        assert!(error.starts_with("--users"), "{error}");
    }

    #[test]
    fn users_and_connections_mean_the_same_for_every_protocol() {
        let load = |users, connections| LoadOptions {
            users,
            connections,
            ..LoadOptions::default()
        };
        let four = Some(Connections::Count(4));
        for (load, users, shared) in [
            (load(None, None), 50, None),
            (load(Some(8), None), 8, None),
            (load(None, four), 4, None),
            (load(Some(8), four), 8, Some(4)),
            (load(Some(8), Some(Connections::Shared)), 8, Some(1)),
            (load(Some(8), Some(Connections::Fresh)), 8, None),
        ] {
            assert_eq!(
                (load.users(1), load.shared()),
                (Ok(users), shared),
                "{load:?}"
            );
        }
    }
}
