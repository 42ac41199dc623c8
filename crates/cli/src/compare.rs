//! `plimsoll compare` and `plimsoll history`.

use plimsoll_compare::{History, HistorySettings, Judgment};
use plimsoll_run::child::Scratch;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::{complain, put, say, screen_columns};

use crate::args::{CompareArgs, HistoryArgs};

/// Columns where there is no terminal.
const COLUMNS: usize = 100;

/// Compares, and prints the differences.
pub fn compare(args: &CompareArgs) -> Exit {
    let settings = args.settings();
    let comparison = match (&args.a, &args.b) {
        (Some(a), Some(b)) => plimsoll_compare::stored(&settings, a, b),
        _ => {
            // Made with the first run, when the commands were found to be right.
            let mut scratch: Option<Scratch> = None;
            plimsoll_compare::commands(
                &settings,
                &args.commands,
                &mut |name, words| {
                    let scratch = match &scratch {
                        Some(scratch) => scratch,
                        None => scratch.insert(Scratch::new()?),
                    };
                    scratch.run(name, words)
                },
                &mut |line| say(line),
            )
        }
    };
    match comparison {
        Ok(comparison) => {
            let text = if args.stored.json {
                format!("{:#}\n", comparison.json())
            } else {
                comparison.text()
            };
            put(text.as_bytes());
            match comparison.judgment() {
                Judgment::Failed => Exit::FAILED_ON,
                Judgment::Open => Exit::NOT_JUDGED,
                Judgment::Passed => Exit::SUCCESS,
            }
        }
        Err(message) => {
            complain(&message);
            Exit::NOT_COMPARED
        }
    }
}

/// Lists the runs of the store.
pub fn history(args: &HistoryArgs) -> Exit {
    let settings = HistorySettings {
        figure: args.figure,
        configuration: args.configuration.clone(),
        any_environment: args.stored.any_environment,
        store: args.stored.store.clone(),
    };
    match History::read(&settings, &mut |sentence| say(sentence)) {
        Ok(history) => {
            let text = if args.stored.json {
                format!("{:#}\n", history.json())
            } else {
                history.text(screen_columns().unwrap_or(COLUMNS))
            };
            put(text.as_bytes());
            Exit::SUCCESS
        }
        Err(message) => {
            complain(&message);
            Exit::NOT_COMPARED
        }
    }
}
