//! `plimsoll attack`: a target list, with vegeta's flags.

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::{Destination, Refusal};
use plimsoll_terminal::attack_results;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run::{self, Show};
use plimsoll_terminal::messages::complain;

use crate::args::{AttackArgs, GlobalArgs};

/// Attacks the targets and prints the result.
pub fn attack(args: &AttackArgs, global: &GlobalArgs) -> Exit {
    load(args, global).unwrap_or_else(|refusal| Exit::refuse(&refusal))
}

fn load(args: &AttackArgs, global: &GlobalArgs) -> Result<Exit, Refusal> {
    let options = args.options().map_err(Refusal::config)?;
    let results = attack_results::destination(args.results.output.as_deref(), args.record.json)
        .map_err(Refusal::config)?;
    let show = match (args.record.json, &results) {
        (true, _) => Show::Json,
        (false, Destination::Stream(..)) => Show::TextOnStderr,
        (false, _) => Show::Text,
    };
    let resolved = options.resolve(results).map_err(Refusal::config)?;
    let presentation = args.record.presentation(&args.web, global);
    let finished = load_run::run(resolved, HttpResult::new, presentation)?;
    finished.show(show)?;
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
