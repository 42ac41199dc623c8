//! HTTP/1.1 responses: headers, framing, body, content encodings, cookies.

use std::cell::OnceCell;
use std::time::Duration;

use plimsoll_http::in_memory::read_response;
use plimsoll_units::Moment;
use tokio::runtime::{Builder, Runtime};

use super::Target;

pub const TARGET: Target = Target {
    name: "http_response",
    run,
    seeds: &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nTrailer: a\r\n\r\n",
        b"HTTP/1.0 404 Not Found\r\nSet-Cookie: a=b\r\n\r\nuntil the end",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 401 U\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200\r\nX: a\r\n b\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 23\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03\xcbH\xcd\xc9\xc9\x07\0\x86\xa6\x106\x05\0\0\0",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\nx\x9c\xcbH\xcd\xc9\xc9\x07\0\x06,\x02\x15",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n\x0b\x02\x80hello\x03",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n\x28\xb5\x2f\xfd\x04\x00\x29\x00\x00hello\x73\xb3\x14\x8f",
        b"HTTP/1.1 302 Found\r\nLocation: /x\r\nConnection: close, upgrade\r\nContent-Length: 0\r\n\r\n",
    ],
    words: &[
        "HTTP/1.1 ", "HTTP/1.0 ", "\r\n", "\r\n\r\n", "\n", "Content-Length: ", "Transfer-Encoding: chunked\r\n",
        "Content-Encoding: ", "gzip", "br", "zstd", "deflate", "Connection: close\r\n", "0\r\n\r\n", "ffffffffffffffff\r\n",
        "Set-Cookie: a=b\r\n", "identity", ", ", "101 ", "204 ", "304 ",
    ],
};

const MAX_BODY: u64 = 1 << 20;

thread_local! {
    static RUNTIME: OnceCell<Option<Runtime>> = const { OnceCell::new() };
}

fn run(data: &[u8]) {
    // The bytes also determine how they are split into reads.
    let sum: usize = data.iter().map(|&byte| byte as usize).sum();
    let pieces: Vec<&[u8]> = match sum % 4 {
        0 => data.chunks(1 + sum % 7).collect(),
        1 => data.chunks(1 + sum % 61).collect(),
        _ => vec![data],
    };
    let deadline = Moment::ZERO + Duration::from_secs(1 << 30);
    RUNTIME.with(|cell| {
        let runtime = cell.get_or_init(|| Builder::new_current_thread().enable_time().build().ok());
        let Some(runtime) = runtime else { return };
        let response = runtime.block_on(read_response(
            &pieces,
            sum.is_multiple_of(5),
            MAX_BODY,
            deadline,
        ));
        if let Ok(response) = response {
            assert!((0..1000).contains(&response.status));
            assert!(
                response.body.is_err()
                    || response
                        .body
                        .is_ok_and(|body| body.len() as u64 <= MAX_BODY)
            );
        }
    });
}
