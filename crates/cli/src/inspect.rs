//! `plimsoll inspect`: a script's consolidated options.

use plimsoll_run::needed_json;
use plimsoll_terminal::exit::Exit;

use crate::args::{GlobalArgs, InspectArgs};
use crate::script_request::{Purpose, prepared, with_log};

/// Prints the options as JSON: the script's own, or with
/// `--execution-requirements` all layers together, and what they need.
pub fn inspect(args: &InspectArgs, global: &GlobalArgs) -> Exit {
    let purpose = Purpose {
        is_only_read: !args.execution_requirements,
        ..Purpose::default()
    };
    with_log(global, |log| {
        let prepared = prepared(&args.script, &args.runtime, &args.options, log, purpose)?;
        let options = match args.execution_requirements {
            true => needed_json(&prepared.plan),
            false => prepared.own_options.to_json(),
        };
        let text = plimsoll_output::option_json(&options);
        Ok(Exit::of_text(Ok(format!("{text}\n"))))
    })
}
