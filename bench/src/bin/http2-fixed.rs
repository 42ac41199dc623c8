//! Responds to every HTTP/2 request with the same 66 bytes, on one thread: the server for measuring
//! HTTP/2 load generators.
//!
//! ```text
//! http2-fixed [--port 0] [--cpu 0]
//! ```
//!
//! It prints `listening on 127.0.0.1:PORT` and serves HTTP/2 without TLS until it is killed. It
//! does not read headers: the response is the same for every request.

use std::process::ExitCode;

use plimsoll_bench::http2::{
    Connection, DATA, END_HEADERS, END_STREAM, FixedResponse, HEADERS, frame,
};
use plimsoll_bench::peers::program;

fn main() -> ExitCode {
    program::<Connection<Document>>("http2-fixed")
}

const BODY: &[u8] = b"{\"id\":1,\"name\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}";
const _: () = assert!(BODY.len() == 66);

#[derive(Default)]
struct Document;

impl FixedResponse for Document {
    /// `:status: 200`, `server`, `date`, `content-type` and `content-length`, the same fields as
    /// common servers send.
    fn append(is_first: bool, stream: u32, out: &mut Vec<u8>) {
        let headers: &[u8] = if is_first {
            b"\x88\x76\x03fix\x61\x1dThu, 01 Jan 2026 00:00:00 GMT\x5f\x10application/json\x5c\x0266"
        } else {
            &[0x88, 0xc1, 0xc0, 0xbf, 0xbe]
        };
        frame(out, HEADERS, END_HEADERS, stream, headers);
        frame(out, DATA, END_STREAM, stream, BODY);
    }
}
