//! `plimsoll http`: one URL, no script.

use plimsoll_output::http_result::HttpResult;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run;

use crate::args::{GlobalArgs, HttpArgs};
use crate::fleet;

/// Sends the requests and prints the result.
pub fn http(args: &HttpArgs, global: &GlobalArgs) -> Exit {
    let load = fleet::load(&args.fleet, || args.options().resolve());
    let presentation = args.record.presentation(&args.web, global);
    load_run::run_and_print(load, HttpResult::new, presentation)
}
