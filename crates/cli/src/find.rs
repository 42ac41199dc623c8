//! `plimsoll find`: the highest rate that meets an objective. Each trial is a run of this very program,
//! so a trial is what a user would have run.

use plimsoll_run::child::Scratch;
use plimsoll_search::{LoadCommand, search};
use plimsoll_stats::limit::Limit;
use plimsoll_terminal::messages::{complain, put, say, screen_columns};

use crate::args::FindArgs;
use crate::exit::Exit;

/// Columns where there is no terminal.
const COLUMNS: usize = 100;

/// Searches, and prints what was found.
pub fn find(args: &FindArgs) -> Exit {
    match run(args) {
        Ok(exit) => exit,
        Err(text) => {
            complain(&text);
            Exit::GENERIC
        }
    }
}

fn run(args: &FindArgs) -> Result<Exit, String> {
    let command = LoadCommand::parse(&args.command)?;
    let scratch = Scratch::new()?;
    let found = search(
        args.settings(),
        &command,
        &mut |name, words| scratch.run(name, words),
        &mut |line| say(line),
    )?;
    let text = if args.json {
        format!("{:#}\n", found.json())
    } else {
        found.text(screen_columns().unwrap_or(COLUMNS))
    };
    put(text.as_bytes());
    Ok(match found.limit {
        Limit {
            confirmed: false, ..
        } => Exit::UNCERTAIN,
        Limit { kept: None, .. } => Exit::NOT_EVEN_THE_LEAST,
        _ => Exit::SUCCESS,
    })
}
