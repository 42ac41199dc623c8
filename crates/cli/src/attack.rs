//! `plimsoll attack`: a target list, with vegeta's flags.

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::{Destination, Refusal};
use plimsoll_terminal::attack_results;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run::{self, Show};
use plimsoll_terminal::messages::complain;

use crate::args::{AttackArgs, GlobalArgs};
use crate::fleet;

/// Attacks the targets and prints the result.
pub fn attack(args: &AttackArgs, global: &GlobalArgs) -> Exit {
    load(args, global).unwrap_or_else(|refusal| Exit::refuse(&refusal))
}

fn load(args: &AttackArgs, global: &GlobalArgs) -> Result<Exit, Refusal> {
    let options = args.options().map_err(Refusal::config)?;
    let results = destination(args).map_err(Refusal::config)?;
    let show = match (args.record.json, &results) {
        (true, _) => Show::Json,
        (false, Destination::Stream(..)) => Show::TextOnStderr,
        (false, _) => Show::Text,
    };
    let load = fleet::load(&args.fleet, || options.resolve(results))?;
    let presentation = args.record.presentation(&args.web, global);
    let finished = load_run::run(load, HttpResult::new, presentation)?;
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

fn destination(args: &AttackArgs) -> Result<Destination, String> {
    let (output, address) = (&args.results.output, &args.results.prometheus_addr);
    match &args.fleet.fleet {
        None => attack_results::destination(output.as_deref(), args.record.json),
        Some(_) if output.is_none() && address.is_none() => Ok(Destination::Nowhere),
        Some(_) => Err("--fleet does not work with -output and -prometheus-addr: agents send sums, not single results".to_owned()),
    }
}
