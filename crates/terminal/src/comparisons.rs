//! Prints comparisons of runs, and the history of a figure.

use plimsoll_compare::{History, HistorySettings, Judgment, Settings};
use plimsoll_run::child::Scratch;

use crate::exit::Exit;
use crate::messages::{print_error, print_message, print_result, table_columns};

/// Compares two stored runs. Without them, runs and compares two commands. Prints the differences.
pub fn compare(
    settings: &Settings,
    stored: Option<(&str, &str)>,
    commands: &[String],
    is_json: bool,
) -> Exit {
    let comparison = match stored {
        Some((a, b)) => plimsoll_compare::stored(settings, a, b),
        None => {
            // Created with the first run, when the commands have turned out to be valid.
            let mut scratch: Option<Scratch> = None;
            plimsoll_compare::commands(
                settings,
                commands,
                &mut |name, words| {
                    let scratch = match &scratch {
                        Some(scratch) => scratch,
                        None => scratch.insert(Scratch::new()?),
                    };
                    scratch.run(name, words)
                },
                &mut |line| print_message(line),
            )
        }
    };
    let printed = comparison.map(|comparison| {
        print_result(is_json, || comparison.json(), || comparison.text());
        match comparison.judgment() {
            Judgment::Failed => Exit::FAILED_ON,
            Judgment::Open => Exit::NOT_JUDGED,
            Judgment::Passed => Exit::SUCCESS,
        }
    });
    exit(printed)
}

/// Prints the runs in the store, with one figure.
pub fn history(settings: &HistorySettings, is_json: bool) -> Exit {
    exit(
        History::read(settings, &mut |line| print_message(line)).map(|history| {
            print_result(is_json, || history.json(), || history.text(table_columns()));
            Exit::SUCCESS
        }),
    )
}

fn exit(printed: Result<Exit, String>) -> Exit {
    printed.unwrap_or_else(|message| {
        print_error(&message);
        Exit::NOT_COMPARED
    })
}
