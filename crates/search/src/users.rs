//! The number of virtual users for trials. It must be high enough that the service, and not the number of users, is the
//! limit.

use std::time::Duration;

/// The initial limit of users, as a multiple of what the objective needs. If every response takes as long as the
/// objective allows, rate × bound users are busy.
const INITIAL_FACTOR: f64 = 4.0;
/// The factor by which a shortage of users raises the number.
const GROWTH: u32 = 4;
/// Without a flag, a command allows ten times its initial users, and at least 1,000.
const DEFAULT_MAX_FACTOR: u32 = 10;
const MIN_DEFAULT_MAX: u32 = 1_000;

/// A command's flags for users.
#[derive(Debug)]
pub struct UserFlags {
    /// Flags for the initial number of users.
    pub users: &'static [&'static str],
    /// Flags for connections. Without the flags above, each connection has one user, or as many as another flag sets.
    pub connections: &'static [&'static str],
    pub users_factor: &'static [&'static str],
    /// Flags for the maximum number of users.
    pub max_users: &'static [&'static str],
    /// The maximum that a search may set with that flag. `None` if there is no limit without the flag.
    pub automatic_users: Option<u32>,
}

/// The number of users that trials may use. It grows if it is too low.
#[derive(Debug, PartialEq, Eq)]
pub struct Users {
    /// The maximum that the command itself allows without a flag.
    default_max: u32,
    /// The largest maximum that is set automatically. `None` if the command line sets the number, or if there is no
    /// limit.
    automatic: Option<u32>,
    /// The maximum after a shortage of users.
    raised: u32,
}

impl Users {
    /// Reads the limits from the command line.
    pub fn of(command: &[String], flags: &UserFlags) -> Users {
        let first = number(command, flags.users).unwrap_or_else(|| {
            number(command, flags.connections)
                .unwrap_or(50)
                .saturating_mul(number(command, flags.users_factor).unwrap_or(1))
        });
        let default_max = first
            .saturating_mul(DEFAULT_MAX_FACTOR)
            .max(MIN_DEFAULT_MAX);
        let is_set = number(command, flags.max_users).is_some();
        Users {
            default_max,
            automatic: flags
                .automatic_users
                .filter(|_| !is_set)
                .map(|limit| limit.max(default_max)),
            raised: 0,
        }
    }

    /// The number of users to allow for a trial at `rate`, if it exceeds the command's default maximum.
    pub fn allowed(&self, rate: u64, bound: Duration) -> Option<u32> {
        let limit = self.automatic?;
        let initial = (rate as f64 * bound.as_secs_f64() * INITIAL_FACTOR).ceil() as u32;
        let wanted = initial.max(self.raised).min(limit);
        (wanted > self.default_max).then_some(wanted)
    }

    /// Raises the number after a trial at `rate` in which all users were busy, each for `iteration`. Returns true if
    /// the number could be raised, so that repeating the trial makes sense.
    pub fn raise(&mut self, rate: u64, bound: Duration, iteration: Duration) -> bool {
        let Some(limit) = self.automatic else {
            return false;
        };
        let previous = self.allowed(rate, bound).unwrap_or(self.default_max);
        let needed = (rate as f64 * iteration.as_secs_f64() * 2.0).ceil() as u32;
        self.raised = previous.saturating_mul(GROWTH).max(needed).min(limit);
        self.raised > previous
    }
}

/// The value of the first of these flags that occurs in a command line: `-c 20`, `-c20`, `-c=20`, `--connections 20` or
/// `--connections=20`.
fn number(command: &[String], flags: &[&str]) -> Option<u32> {
    let mut words = command.iter();
    while let Some(word) = words.next() {
        for flag in flags {
            let Some(rest) = word.strip_prefix(flag) else {
                continue;
            };
            let value = match rest.strip_prefix('=') {
                Some(value) => value,
                None if rest.is_empty() => words.as_slice().first()?,
                None => rest,
            };
            if let Ok(value) = value.parse() {
                return Some(value);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command;

    const BOUND: Duration = Duration::from_millis(50);

    fn users(line: &str) -> Users {
        let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Users::of(&command, &command::kind(&command[0]).expect("a kind").users)
    }

    #[test]
    fn the_users_that_an_objective_needs_are_allowed_from_the_start() {
        let http = users("http -c 20 http://h/");
        // 100 × 50 ms need five users, so the command's own limit is enough.
        assert_eq!(http.allowed(100, BOUND), None);
        assert_eq!(http.allowed(10_000, BOUND), Some(2_000));
        assert_eq!(http.allowed(1_000_000, BOUND), Some(20_000));
        assert_eq!(users("http -c500 http://h/").allowed(20_000, BOUND), None);
        assert_eq!(
            users("http --h2c -c=5 --streams 200 http://h/").allowed(40_000, BOUND),
            None
        );
    }

    #[test]
    fn a_number_of_users_takes_precedence_over_connections() {
        let line = "http --h2c -c 5 --users 2000 http://h/";
        assert_eq!(users(line).allowed(40_000, BOUND), None);
        let run = users("run --users 2000 script.js");
        assert_eq!(run.allowed(40_000, BOUND), None);
    }

    #[test]
    fn a_shortage_raises_the_number_of_users_up_to_a_limit() {
        let mut run = users("run -u 20 script.js");
        let iteration = Duration::from_secs(2);
        assert!(run.raise(100, BOUND, iteration));
        assert_eq!(run.allowed(100, BOUND), Some(4_000));
        assert!(run.raise(1_000, BOUND, iteration));
        assert_eq!(run.allowed(1_000, BOUND), Some(5_000));
        assert!(!run.raise(1_000, BOUND, iteration));
    }

    #[test]
    fn a_number_of_users_on_the_command_line_is_not_changed() {
        for line in [
            "http --max-users 20 http://h/",
            "http --max-users=20 http://h/",
            "attack -max-workers=20 -targets=t",
            "attack -targets=t",
        ] {
            let mut users = users(line);
            assert_eq!(users.allowed(1_000_000, BOUND), None, "{line}");
            assert!(!users.raise(1_000_000, BOUND, BOUND), "{line}");
        }
    }
}
