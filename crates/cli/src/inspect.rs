//! `plimsoll inspect`: what a script's options come to.

use std::sync::Arc;

use plimsoll_run::prepare;

use crate::args::{GlobalArgs, InspectArgs};
use crate::exit::Exit;
use crate::log::Log;
use crate::script_request::{Purpose, script_request};
use crate::talk::{complain, put};

/// Prints the options as JSON: the script's own, or with
/// `--execution-requirements` what all layers come to and what that needs.
pub fn inspect(args: &InspectArgs, global: &GlobalArgs) -> Exit {
    let log = match Log::new(global) {
        Ok(log) => Arc::new(log),
        Err(message) => {
            complain(&message);
            return Exit::GENERIC;
        }
    };
    let purpose = Purpose::default();
    let request = script_request(&args.script, &args.runtime, &args.options, &log, purpose);
    let prepared = match request.and_then(|request| prepare(request, &log.sink())) {
        Ok(prepared) => prepared,
        Err(refusal) => return log.refuse(&refusal),
    };
    if !args.execution_requirements {
        show(&prepared.own_options.to_json());
        return Exit::SUCCESS;
    }
    let mut options = prepared.plan.options.to_json();
    if let Some(object) = options.as_object_mut() {
        let needs = prepared.plan.requirements();
        let duration = needs
            .duration_with_graceful_stop
            .map(plimsoll_units::duration::format);
        object.insert("totalDuration".to_owned(), duration.into());
        object.insert("maxVUs".to_owned(), needs.max_users.into());
    }
    show(&options);
    Exit::SUCCESS
}

fn show(options: &serde_json::Value) {
    put(format!("{}\n", plimsoll_output::option_json(options)).as_bytes());
}
