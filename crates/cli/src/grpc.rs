//! `plimsoll grpc`: one method, no script.

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::{GrpcOptions, SchemaOptions};
use plimsoll_scriptless::Streaming;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run;

use crate::args::{GlobalArgs, GrpcArgs};

/// Makes the calls and prints the result.
pub fn grpc(args: &GrpcArgs, global: &GlobalArgs) -> Exit {
    let request = &args.request;
    let file = request.data_file.as_ref().map(|file| format!("@{file}"));
    let method = args.method.clone().or(request.call.clone());
    let options = GrpcOptions {
        address: args.address.clone(),
        method: method.unwrap_or_default(),
        schema: SchemaOptions {
            proto: request.proto.clone(),
            protoset: request.protoset.clone(),
            import_paths: request.import_paths.clone(),
            reflect_metadata: request.reflect_metadata.clone(),
        },
        metadata: request.metadata.clone(),
        data: request.data.clone().or(file),
        timeout: request.timeout,
        connect_timeout: args.connect_timeout,
        streaming: Streaming {
            messages: request.stream_call_count.filter(|count| *count > 0),
            duration: request.stream_call_duration.filter(|time| !time.is_zero()),
            interval: request.stream_interval.unwrap_or_default(),
        },
        gzip: request.gzip,
        max_receive: request.max_receive_size,
        plaintext: args.plaintext,
        authority: args.authority.clone(),
        load: args.load.options(args.connection.no_keepalive),
        connection: args.connection.options(&args.tls),
    };
    let presentation = args.record.presentation(&args.web, global);
    load_run::run_and_print(options.resolve(), HttpResult::of_grpc, presentation)
}
