//! `plimsoll http`: one URL, no script.

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::HttpOptions;

use crate::args::{GlobalArgs, HttpArgs};
use crate::exit::Exit;
use crate::scriptless::{self, Keep};

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
    let keep = Keep {
        record: &args.record,
        web: &args.web,
    };
    scriptless::run_and_print(options.resolve(), HttpResult::new, keep, global)
}
