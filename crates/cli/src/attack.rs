//! `plimsoll attack`: a target list, with vegeta's flags.

mod flags;

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::{AttackOptions, Destination, Refusal};
use plimsoll_terminal::attack_results;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run;
use plimsoll_terminal::streams::Stream;

use crate::args::GlobalArgs;
use crate::fleet;

pub use flags::AttackArgs;

/// Attacks the targets and prints the result.
pub fn attack(args: &AttackArgs, global: &GlobalArgs) -> Exit {
    let (options, results) = match options(args) {
        Ok(options) => options,
        Err(error) => return Exit::refuse(&Refusal::config(error)),
    };
    let text_to = match results {
        Destination::Stream(..) => Stream::Stderr,
        _ => Stream::Stdout,
    };
    let load = fleet::load(&args.fleet, || options.resolve(results));
    let presentation = args.record.presentation(&args.web, global);
    load_run::run_and_print(load, HttpResult::new, presentation, text_to)
}

/// The options of the attack, and the destination of its results.
fn options(args: &AttackArgs) -> Result<(AttackOptions, Destination), String> {
    let options = args.options()?;
    let (output, address) = (&args.results.output, &args.results.prometheus_addr);
    let results = match &args.fleet.fleet {
        None => attack_results::destination(output.as_deref(), args.record.json)?,
        Some(_) if output.is_none() && address.is_none() => Destination::Nowhere,
        Some(_) => return Err("--fleet does not work with -output and -prometheus-addr: agents send totals, not individual results".to_owned()),
    };
    Ok((options, results))
}
