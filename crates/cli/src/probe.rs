//! `plimsoll probe`: measurements of a network path.

use plimsoll_probe::{Plan, Report};
use plimsoll_terminal::messages::{complain, put};

use crate::args::ProbeArgs;
use crate::exit::Exit;
use plimsoll_verdict::with_hint;

/// Measures and prints.
pub fn probe(args: &ProbeArgs) -> Exit {
    match run(args) {
        Ok(report) => {
            let text = if args.json {
                format!("{:#}\n", report.json())
            } else {
                report.text()
            };
            put(text.as_bytes());
            Exit::SUCCESS
        }
        Err(text) => {
            complain(&with_hint(&text));
            Exit::GENERIC
        }
    }
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
