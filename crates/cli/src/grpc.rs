//! `plimsoll grpc`: one method, no script.

use plimsoll_output::http_result::HttpResult;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run;

use crate::args::{GlobalArgs, GrpcArgs};
use crate::fleet;

/// Makes the calls and prints the result.
pub fn grpc(args: &GrpcArgs, global: &GlobalArgs) -> Exit {
    let load = fleet::load(&args.fleet, || args.options().resolve());
    let presentation = args.record.presentation(&args.web, global);
    load_run::run_and_print(load, HttpResult::of_grpc, presentation)
}
