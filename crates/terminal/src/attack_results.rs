//! The destination of an attack's results: a file or stdout.

use std::io::IsTerminal;

use plimsoll_run::Destination;

use crate::messages::print_message;
use crate::streams::unbuffered_stdout;

/// The destination that `-output` names. `is_json`: whether stdout will contain a JSON document.
///
/// # Errors
/// If both would write to stdout, or if the file cannot be opened.
pub fn destination(output: Option<&str>, is_json: bool) -> Result<Destination, String> {
    match output {
        None if is_json => Ok(Destination::Nowhere),
        Some("stdout" | "-") if is_json => Err(
            "-output=stdout and --json both write to stdout: name a file for one of them"
                .to_owned(),
        ),
        None | Some("stdout" | "-") if std::io::stdout().is_terminal() => {
            print_message(
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
