//! The commands that a search can run: the commands of this program that generate load at a rate.

use std::time::Duration;

use crate::users::{UserFlags, Users};

/// A command, and the flags that set its rate and duration.
#[derive(Debug)]
pub(crate) struct Kind {
    name: &'static str,
    /// Flags that the search sets itself.
    ours: &'static [&'static str],
    /// Flags that suppress its output.
    quiet: &'static [&'static str],
    pub users: UserFlags,
}

/// Flags of commands without a script that the search sets itself.
const RATE_AND_DURATION: &[&str] = &[
    "-r",
    "--rate",
    "--rps",
    "-d",
    "-z",
    "--duration",
    "-n",
    "--requests",
    "--total",
    "--loops",
    "--json",
    "--record",
    "--warm-up",
];

/// Flags for a single run. A search has many runs, so it does not support them.
const SINGLE_RUN_FLAGS: &[&str] = &[
    "--report",
    "--export-markdown",
    "--junit",
    "--fail-on",
    "--baseline",
    "--github",
];

const COMMANDS: &[Kind] = &[
    Kind {
        name: "http",
        ours: RATE_AND_DURATION,
        quiet: &["--quiet", "--json"],
        users: UserFlags {
            users: &["-u", "--users", "--vus"],
            connections: &["-c", "--connections"],
            users_factor: &["--streams"],
            max_users: &["--max-users"],
            automatic_users: Some(20_000),
        },
    },
    Kind {
        name: "grpc",
        ours: RATE_AND_DURATION,
        quiet: &["--quiet", "--json"],
        users: UserFlags {
            users: &["-u", "--users", "--vus", "--concurrency"],
            connections: &["-c", "--connections"],
            users_factor: &[],
            max_users: &["--max-users"],
            automatic_users: Some(20_000),
        },
    },
    Kind {
        name: "run",
        ours: &[
            "--rate",
            "-d",
            "--duration",
            "-i",
            "--iterations",
            "-s",
            "--stage",
            "--record",
            "--warm-up",
        ],
        quiet: &["--quiet", "--summary-mode", "disabled"],
        users: UserFlags {
            users: &["-u", "--vus", "--users"],
            connections: &[],
            users_factor: &[],
            max_users: &["--max-users"],
            // Each user has its own JavaScript runtime.
            automatic_users: Some(5_000),
        },
    },
    Kind {
        name: "attack",
        ours: &[
            "-rate",
            "--rate",
            "-duration",
            "--duration",
            "--record",
            "--warm-up",
        ],
        quiet: &["--quiet"],
        users: UserFlags {
            users: &["-workers", "--workers"],
            connections: &[],
            users_factor: &[],
            max_users: &["-max-workers", "--max-workers"],
            automatic_users: None,
        },
    },
];

/// The command with this name, if a search can run it.
pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
    COMMANDS.iter().find(|kind| kind.name == name)
}

/// Whether the argument is this flag, with or without a value.
fn is_flag(word: &str, flag: &str) -> bool {
    let rest = word.strip_prefix(flag);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// The command that generates the load, without a rate and a duration.
pub struct LoadCommand {
    words: Vec<String>,
    kind: &'static Kind,
}

impl LoadCommand {
    /// Parses the command of a search.
    ///
    /// # Errors
    /// If the command is invalid; the message says how to fix it.
    pub fn parse(words: &[String]) -> Result<LoadCommand, String> {
        let Some(name) = words.first() else {
            return Err(
                "the command must follow --, for example: -- http http://127.0.0.1:8080/"
                    .to_owned(),
            );
        };
        let Some(kind) = kind(name) else {
            return Err(format!(
                "find cannot search with {name:?}; use one of: http URL, grpc ADDRESS METHOD, run script.js, or attack -targets=FILE"
            ));
        };
        let set = words.iter().find(|word| {
            kind.ours
                .iter()
                .chain(SINGLE_RUN_FLAGS)
                .any(|flag| is_flag(word, flag))
        });
        if let Some(word) = words.iter().find(|word| is_flag(word, "--until")) {
            return Err(format!(
                "find stops when it knows the limit precisely enough: remove {word} from the command, and set --precision before --"
            ));
        }
        if let Some(word) = set {
            return Err(format!(
                "find sets {word} itself, or has it as a flag before --; remove it from the command"
            ));
        }
        Ok(LoadCommand {
            words: words.to_vec(),
            kind,
        })
    }

    /// The number of users that the trials may use.
    pub(crate) fn users(&self) -> Users {
        Users::of(&self.words, &self.kind.users)
    }

    /// The command line of a trial at `rate` that lasts for `warm_up` plus `length`. `users` is the maximum number of
    /// users, if given.
    pub(crate) fn at_rate(
        &self,
        rate: u64,
        length: Duration,
        warm_up: Duration,
        users: Option<u32>,
    ) -> Vec<String> {
        let quiet = self.kind.quiet.iter().map(|word| (*word).to_owned());
        let mut words = self.words.clone();
        words.extend(quiet);
        words.extend(["--rate".to_owned(), rate.to_string()]);
        let whole = plimsoll_units::duration::format(warm_up + length);
        words.extend(["--duration".to_owned(), whole]);
        if !warm_up.is_zero() {
            let warm_up = plimsoll_units::duration::format(warm_up);
            words.extend(["--warm-up".to_owned(), warm_up]);
        }
        if let (Some(users), Some(flag)) = (users, self.kind.users.max_users.first()) {
            words.extend([(*flag).to_owned(), users.to_string()]);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        LoadCommand::parse(&words).map(|_| ()).unwrap_err()
    }

    #[test]
    fn precision_is_a_flag_of_the_search() {
        let url = "http://127.0.0.1:1/";
        for words in [
            ["http", "--until", "p99 ±5%", url].as_slice(),
            &["http", "--until=p99 ±5%", url],
        ] {
            assert!(refusal(words).contains("set --precision before --"));
        }
        assert!(refusal(&["http", "--rate=5", url]).starts_with("find sets --rate=5 itself"));
    }
}
