//! `plimsoll inspect`: a script's consolidated options.

use std::sync::Arc;

use plimsoll_run::needed_json;
use plimsoll_terminal::messages::{complain, put};

use crate::args::{GlobalArgs, InspectArgs};
use crate::exit::Exit;
use crate::script_request::{Purpose, prepared};

/// Prints the options as JSON: the script's own, or with
/// `--execution-requirements` all layers together, and what they need.
pub fn inspect(args: &InspectArgs, global: &GlobalArgs) -> Exit {
    let log = match global.log() {
        Ok(log) => Arc::new(log),
        Err(message) => {
            complain(&message);
            return Exit::GENERIC;
        }
    };
    let purpose = Purpose {
        is_only_read: !args.execution_requirements,
        ..Purpose::default()
    };
    let prepared = prepared(&args.script, &args.runtime, &args.options, &log, purpose);
    match prepared {
        Ok(prepared) => {
            let options = if args.execution_requirements {
                needed_json(&prepared.plan)
            } else {
                prepared.own_options.to_json()
            };
            put(format!("{}\n", plimsoll_output::option_json(&options)).as_bytes());
            Exit::SUCCESS
        }
        Err(refusal) => Exit::of_refusal(&refusal, &log),
    }
}
