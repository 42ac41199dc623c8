//! The commands that can be searched with: those of this program that generate load at a rate.

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

/// Flags of a command without a script that the search sets itself.
const RATE_AND_LENGTH: &[&str] = &[
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

/// Flags about one run, of which a search has many.
const OF_ONE_RUN: &[&str] = &[
    "--report",
    "--export-markdown",
    "--junit",
    "--fail-on",
    "--baseline",
    "--github",
];

const KINDS: &[Kind] = &[
    Kind {
        name: "http",
        ours: RATE_AND_LENGTH,
        quiet: &["--quiet", "--json"],
        users: UserFlags {
            users: &["-u", "--users", "--vus"],
            connections: &["-c", "--connections"],
            users_factor: &["--streams"],
            most_users: &["--max-users"],
            automatic_users: Some(20_000),
        },
    },
    Kind {
        name: "grpc",
        ours: RATE_AND_LENGTH,
        quiet: &["--quiet", "--json"],
        users: UserFlags {
            users: &["-u", "--users", "--vus", "--concurrency"],
            connections: &["-c", "--connections"],
            users_factor: &[],
            most_users: &["--max-users"],
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
            most_users: &["--max-users"],
            // Each has a JavaScript runtime of its own.
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
            most_users: &["-max-workers", "--max-workers"],
            automatic_users: None,
        },
    },
];

/// The command with this name, if it can be searched with.
pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The command that generates the load, without a rate and a duration.
pub struct LoadCommand {
    words: Vec<String>,
    kind: &'static Kind,
}

impl LoadCommand {
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
                .chain(OF_ONE_RUN)
                .any(|flag| word == flag || word.starts_with(&format!("{flag}=")))
        });
        if let Some(word) = set {
            return Err(format!(
                "find sets {word} itself, or has it as a flag before --: remove it from the command"
            ));
        }
        Ok(LoadCommand {
            words: words.to_vec(),
            kind,
        })
    }

    /// The number of users that its trials may use.
    pub(crate) fn users(&self) -> Users {
        Users::of(&self.words, &self.kind.users)
    }

    /// The command line of a trial at `rate`, for `warm_up` and then for `length`, with at most
    /// `users` if given. Each `trial` has other random arrivals.
    pub(crate) fn at_rate(
        &self,
        trial: usize,
        rate: u64,
        length: Duration,
        warm_up: Duration,
        users: Option<u32>,
    ) -> Vec<String> {
        let quiet = self.kind.quiet.iter().map(|word| (*word).to_owned());
        let mut words = with_seed(&self.words, trial);
        words.extend(quiet);
        words.extend(["--rate".to_owned(), rate.to_string()]);
        let whole = plimsoll_units::duration::format(warm_up + length);
        words.extend(["--duration".to_owned(), whole]);
        if !warm_up.is_zero() {
            let warm_up = plimsoll_units::duration::format(warm_up);
            words.extend(["--warm-up".to_owned(), warm_up]);
        }
        if let (Some(users), Some(flag)) = (users, self.kind.users.most_users.first()) {
            words.extend([(*flag).to_owned(), users.to_string()]);
        }
        words
    }
}

/// Gives random arrivals a seed, unless they have one: with equal random numbers, every trial would have the same excess or lack
/// of arrivals by chance, and repeats would not show it.
fn with_seed(words: &[String], seed: usize) -> Vec<String> {
    let random = |process: &str| {
        let name = process.split(':').next().unwrap_or_default();
        ["poisson", "gamma", "on-off"].contains(&name) && !process.contains('@')
    };
    let mut is_value = false;
    let seeded = words.iter().map(|word| {
        let (flag, value) = word.split_once('=').unwrap_or((word, ""));
        let is_flag = flag == "--arrivals" || flag == "-arrivals";
        let process = if is_value { word } else { value };
        let is_random = (is_value || is_flag) && random(process);
        is_value = is_flag && !word.contains('=');
        match is_random {
            true => format!("{word}@{seed}"),
            false => word.clone(),
        }
    });
    seeded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_have_other_random_arrivals() {
        let arrivals = |text: &str| -> String {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            with_seed(&words, 3).join(" ")
        };
        for (command, seeded) in [
            (
                "http --arrivals poisson URL",
                "http --arrivals poisson@3 URL",
            ),
            ("attack -arrivals=gamma:0.5", "attack -arrivals=gamma:0.5@3"),
            (
                "run --arrivals=on-off:1s/2s s.js",
                "run --arrivals=on-off:1s/2s@3 s.js",
            ),
            (
                "http --arrivals poisson@7 URL",
                "http --arrivals poisson@7 URL",
            ),
            ("http --arrivals even URL", "http --arrivals even URL"),
            (
                "http --arrivals trace:poisson URL",
                "http --arrivals trace:poisson URL",
            ),
            ("http poisson --name=poisson", "http poisson --name=poisson"),
        ] {
            assert_eq!(arrivals(command), seeded);
        }
    }
}
