//! `plimsoll http`: one URL, no script.

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::HttpOptions;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run;

use crate::args::{GlobalArgs, HttpArgs};

/// Sends the requests and prints the result.
pub fn http(args: &HttpArgs, global: &GlobalArgs) -> Exit {
    let options = HttpOptions {
        url: args.url.clone(),
        method: args.request.method.clone(),
        headers: args.request.headers.clone(),
        body: args.request.body.clone(),
        body_lines: args.request.body_lines.clone(),
        timeout: args.request.timeout,
        protocol: args.version.protocol(),
        streams: args.streams,
        load: args.load.options(args.connection.no_keepalive),
        connection: args.connection.options(&args.tls),
    };
    let presentation = args.record.presentation(&args.web, global);
    load_run::run_and_print(options.resolve(), HttpResult::new, presentation)
}
