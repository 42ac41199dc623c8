//! What is searched with: a command of this program that can make load at a rate.

use std::time::Duration;

use results::record::Record;

use crate::own_run::Scratch;

/// A command, and the words that set its rate and its length.
struct Kind {
    name: &'static str,
    /// Flags that the search sets itself.
    ours: &'static [&'static str],
    /// Flags that keep it quiet.
    quiet: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "http",
        ours: &[
            "-r",
            "--rate",
            "-d",
            "--duration",
            "-n",
            "--requests",
            "--json",
            "--record",
            "--warm-up",
        ],
        quiet: &["--quiet", "--json"],
    },
    Kind {
        name: "grpc",
        ours: &[
            "-r",
            "--rps",
            "--rate",
            "-z",
            "--duration",
            "-n",
            "--total",
            "--requests",
            "--workers",
            "--loops",
            "--json",
            "--record",
            "--warm-up",
        ],
        quiet: &["--quiet", "--json"],
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
    },
];

/// The command, and where its runs leave their record.
pub struct Subject<'a> {
    command: &'a [String],
    kind: &'static Kind,
    scratch: Scratch,
}

impl Subject<'_> {
    /// # Errors
    /// What is wrong with the command, with the way out.
    pub fn of(command: &[String]) -> Result<Subject<'_>, String> {
        let Some(name) = command.first() else {
            return Err("after -- comes the command, like: http http://127.0.0.1:8080/".to_owned());
        };
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            return Err(format!(
                "find cannot search with {name:?}; after -- comes: http URL, grpc ADDRESS METHOD, run script.js, or attack -targets=FILE"
            ));
        };
        let set = command.iter().find(|word| {
            kind.ours
                .iter()
                .any(|flag| word == flag || word.starts_with(&format!("{flag}=")))
        });
        if let Some(word) = set {
            return Err(format!(
                "{word} is what find sets itself, by --start, --trial, --warm-up and --soak: leave it out"
            ));
        }
        Ok(Subject {
            command,
            kind,
            scratch: Scratch::new()?,
        })
    }

    /// Runs the command once at `rate`, for `warm_up` and then for `length`.
    pub fn run(&self, rate: u64, length: Duration, warm_up: Duration) -> Result<Record, String> {
        let words = self.kind.quiet.iter().map(|word| (*word).to_owned());
        let mut arguments = self.command.to_vec();
        arguments.extend(words);
        arguments.extend(["--rate".to_owned(), rate.to_string()]);
        let whole = units::duration::format(warm_up + length);
        arguments.extend(["--duration".to_owned(), whole]);
        if !warm_up.is_zero() {
            let warm_up = units::duration::format(warm_up);
            arguments.extend(["--warm-up".to_owned(), warm_up]);
        }
        self.scratch
            .run(&format!("the trial at {rate}/s"), &arguments)
    }
}
