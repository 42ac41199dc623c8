//! Responds to every gRPC call with the same `helloworld.HelloReply`, on one thread: the server for
//! measuring gRPC load generators.
//!
//! ```text
//! grpc-fixed [--port 0] [--cpu 0]
//! ```
//!
//! It prints `listening on 127.0.0.1:PORT` and serves HTTP/2 without TLS until it is killed. It
//! does not read headers: the response is the same for every request. Responses are so short that
//! a client's windows never close while it reads; a client that does not read is disconnected.

use std::process::ExitCode;

use plimsoll_bench::http2::{
    Connection, DATA, END_HEADERS, END_STREAM, FixedResponse, HEADERS, frame,
};
use plimsoll_bench::peers::program;

fn main() -> ExitCode {
    program::<Connection<HelloReply>>("grpc-fixed")
}

/// The flag and length of gRPC, followed by a `HelloReply` of "Hello world".
const MESSAGE: &[u8] = b"\0\0\0\0\x0d\x0a\x0bHello world";

#[derive(Default)]
struct HelloReply;

impl FixedResponse for HelloReply {
    /// `:status: 200`, `content-type: application/grpc`, the message, `grpc-status: 0`.
    fn append(is_first: bool, stream: u32, out: &mut Vec<u8>) {
        let (headers, trailers): (&[u8], &[u8]) = if is_first {
            (b"\x88\x5f\x10application/grpc", b"\x40\x0bgrpc-status\x010")
        } else {
            (&[0x88, 0xbf], &[0xbe])
        };
        frame(out, HEADERS, END_HEADERS, stream, headers);
        frame(out, DATA, 0, stream, MESSAGE);
        frame(out, HEADERS, END_HEADERS | END_STREAM, stream, trailers);
    }
}
