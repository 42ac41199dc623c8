//! `plimsoll probe`: measurements of a network path.

use plimsoll_probe::{Plan, Report};
use plimsoll_terminal::exit::Exit;
use plimsoll_verdict::with_hint;

use crate::args::ProbeArgs;

/// Measures and prints.
pub fn probe(args: &ProbeArgs) -> Exit {
    let text = run(args).map(|report| match args.json {
        true => format!("{:#}\n", report.json()),
        false => report.text(),
    });
    Exit::of_text(text.map_err(|error| with_hint(&error)))
}

fn run(args: &ProbeArgs) -> Result<Report, String> {
    let plan = Plan {
        address: args.address.clone(),
        repeats: args.repeats,
        timeout: args.timeout,
        tls: match args.tls || args.files.files().is_given() {
            true => Some(args.files.files().read()?),
            false => None,
        },
        path: args.path.clone(),
        throughput_port: args.throughput,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start an event loop: {error}"))?;
    tokio::task::LocalSet::new().block_on(&runtime, plimsoll_probe::probe(&plan))
}
