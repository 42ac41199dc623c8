//! `plimsoll inspect`: what a script's options come to.

use std::sync::Arc;

use crate::args::{GlobalArgs, InspectArgs};
use crate::exit::Exit;
use crate::log::Log;
use crate::prepared::prepare;
use crate::talk::{complain, put};

/// Prints the options as JSON.
pub fn inspect(args: &InspectArgs, global: &GlobalArgs) -> Exit {
    let log = match Log::new(global) {
        Ok(log) => Arc::new(log),
        Err(message) => {
            complain(&message);
            return Exit::INVALID_CONFIG;
        }
    };
    let prepared = match prepare(&args.script, &args.runtime, &args.options, &log, false) {
        Ok(prepared) => prepared,
        Err(refusal) => {
            log.error(&refusal.message);
            return refusal.exit;
        }
    };
    let mut options = prepared.plan.options.to_json();
    if args.execution_requirements
        && let Some(object) = options.as_object_mut()
    {
        let needs = prepared.plan.requirements();
        let duration = needs
            .duration_with_graceful_stop
            .map(units::duration::format);
        object.insert("totalDuration".to_owned(), duration.into());
        object.insert("maxVUs".to_owned(), needs.max_users.into());
    }
    put(format!("{}\n", report::pretty_json(&options)).as_bytes());
    Exit::SUCCESS
}
