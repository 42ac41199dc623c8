//! `plimsoll attack`: a target list, with vegeta's flags.

use std::io::{IsTerminal, Write};

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::{Destination, Refusal};
use plimsoll_terminal::messages::{complain, say};

use crate::args::{AttackArgs, GlobalArgs};
use crate::exit::Exit;
use crate::scriptless::{self, Keep, Show};

/// Attacks the targets and prints the result.
pub fn attack(args: &AttackArgs, global: &GlobalArgs) -> Exit {
    load(args, global).unwrap_or_else(|refusal| scriptless::refuse(&refusal))
}

fn load(args: &AttackArgs, global: &GlobalArgs) -> Result<Exit, Refusal> {
    let options = args.options().map_err(Refusal::config)?;
    let results = destination(args).map_err(Refusal::config)?;
    let show = match (args.record.json, &results) {
        (true, _) => Show::Json,
        (false, Destination::Stream(..)) => Show::TextOnStderr,
        (false, _) => Show::Text,
    };
    let resolved = options.resolve(results).map_err(Refusal::config)?;
    let keep = Keep {
        record: &args.record,
        web: &args.web,
    };
    let finished = scriptless::run(resolved, HttpResult::new, keep, global)?;
    finished.show(show, global)?;
    let input_error = finished.outcome.input_error.clone();
    let exit = finished.exit();
    match input_error {
        Some(error) => {
            complain(&error);
            exit.map(|_| Exit::INVALID_CONFIG)
        }
        None => exit,
    }
}

fn destination(args: &AttackArgs) -> Result<Destination, String> {
    match args.results.output.as_deref() {
        None if args.record.json => Ok(Destination::Nowhere),
        Some("stdout" | "-") if args.record.json => Err(
            "-output=stdout and --json both write to stdout: name a file for one of them"
                .to_owned(),
        ),
        None | Some("stdout" | "-") if std::io::stdout().is_terminal() => {
            say(
                "results are binary and not shown on a terminal: pipe them into `plimsoll vegeta report`, \
                 or name a file with -output",
            );
            Ok(Destination::Nowhere)
        }
        None | Some("stdout" | "-") => {
            let stdout =
                unbuffered_stdout().map_err(|error| format!("cannot write results: {error}"))?;
            Ok(Destination::Stream("stdout", stdout))
        }
        Some(path) => Ok(Destination::File(path.into())),
    }
}

/// Stdout without the buffer that waits for the end of a line: batches are large already.
#[cfg(unix)]
fn unbuffered_stdout() -> std::io::Result<Box<dyn Write + Send>> {
    use std::os::fd::AsFd;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Box::new(std::fs::File::from(output)))
}

#[cfg(not(unix))]
fn unbuffered_stdout() -> std::io::Result<Box<dyn Write + Send>> {
    Ok(Box::new(std::io::stdout()))
}
