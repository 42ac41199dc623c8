//! Data from a client to the gateway on an HTTP/1.1 connection: headers, their routes, and the requests that the gateway
//! would send to an upstream.

use std::cell::{OnceCell, RefCell};
use std::convert::Infallible;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use plimsoll_gateway::in_memory::Routing;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
use tokio::runtime::{Builder, Runtime};

use super::Target;

pub const TARGET: Target = Target {
    name: "gateway_request",
    run,
    seeds: &[
        b"GET /api/x?y HTTP/1.1\r\nHost: a.test:80\r\nConnection: close, x-private\r\nX-Private: 1\r\n\r\n",
        b"POST /old/12 HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\nCookie: a=b\r\nCookie: c=d\r\n\r\nhiGET / HTTP/1.1\r\nHost: b\r\n\r\n",
        b"PUT /h2/%61//b HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        b"GET http://u@a/ HTTP/1.1\r\nHost: b\r\nVia: 1.1 plimsoll, 1.1 plimsoll\r\n\r\n",
        b"GET /a/..%2fb HTTP/1.0\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    ],
    words: &[
        "GET ", "POST ", "OPTIONS * ", " HTTP/1.1\r\n", " HTTP/1.0\r\n", "\r\n", "Host: a.test\r\n", "Connection: ", "Upgrade: ",
        "Content-Length: ", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", "TE: trailers\r\n", "Cookie: ", "Via: ", "%2f", "%2e",
        "%5c", "%00", "/..", "//", "/old/", "/api/", "/h2/", "X-Forwarded-For: ", "http://", "*", "\\",
    ],
};

const CONFIGURATION: &str = "\
entries: {e: {bind: '127.0.0.1:0'}}
routes:
  api: {hosts: ['*.test', b], prefix: /api, rewrite: {prefix: /v2}, service: s, request_headers: {set: {x-a: b}, remove: [cookie]}}
  old: {regex: '^/old/([0-9]+)$', rewrite: {regex: '^/old/([0-9]+)$', to: '/new/$1'}, service: s}
  h2: {prefix: /h2, service: t}
  rest: {prefix: /, service: s}
services: {s: {upstream: u}, t: {upstream: v}}
upstreams: {u: {targets: ['127.0.0.1:1']}, v: {protocol: h2, targets: ['127.0.0.1:2']}}
";

thread_local! {
    static GATEWAY: OnceCell<Option<(Runtime, Routing)>> = const { OnceCell::new() };
}

fn gateway() -> Option<(Runtime, Routing)> {
    let runtime = Builder::new_current_thread().enable_time().build().ok()?;
    Some((runtime, Routing::new(CONFIGURATION).ok()?))
}

/// Reads `bytes` as the complete data that an HTTP/1.1 client sends on one connection. Returns each request's
/// path and the request for the upstream, or the status that the gateway would send.
async fn read_connection(routing: &Routing, bytes: &[u8]) -> Vec<Result<(String, Parts), u16>> {
    let (server, client) = duplex(1 << 14);
    let read = RefCell::new(Vec::new());
    let service = service_fn(async |request: Request<Incoming>| {
        let (head, body) = request.into_parts();
        read.borrow_mut().push(routing.forward(head));
        // The next request begins where this one's body ends.
        let _ = body.collect().await;
        Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
    });
    let server = http1::Builder::new()
        // The client has sent everything, and still waits for the responses.
        .half_close(true)
        .serve_connection(TokioIo::new(server), service);
    let (mut responses, mut requests) = split(client);
    let sending = async {
        let _ = requests.write_all(bytes).await;
        let _ = requests.shutdown().await;
    };
    let mut responded = Vec::new();
    let _ = tokio::join!(server, sending, responses.read_to_end(&mut responded));
    read.into_inner()
}

/// The path and the query of a request.
fn target(request: &Parts) -> String {
    let target = request.uri.path_and_query();
    target.map_or_else(String::new, ToString::to_string)
}

fn run(data: &[u8]) {
    GATEWAY.with(|cell| {
        let Some((runtime, routing)) = cell.get_or_init(gateway) else {
            return;
        };
        for passed in runtime.block_on(read_connection(routing, data)) {
            let Ok((path, request)) = passed else {
                continue;
            };
            let is_dots = |segment: &str| segment == "." || segment == "..";
            assert!(!path.split(['/', '\\']).any(is_dots), "{path}");
            assert!(target(&request).starts_with('/'), "{request:?}");
            // Fields of the client's own connection end at the gateway.
            for field in [
                "connection",
                "transfer-encoding",
                "content-length",
                "upgrade",
                "keep-alive",
            ] {
                assert!(!request.headers.contains_key(field), "{request:?}");
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_valid_and_requests_reach_each_route() {
        let routing = Routing::new(CONFIGURATION).unwrap();
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let targets = |request: &str| -> Vec<Result<String, u16>> {
            let read = runtime.block_on(read_connection(&routing, request.as_bytes()));
            let targets = read
                .into_iter()
                .map(|passed| passed.map(|(_, request)| target(&request)));
            targets.collect()
        };
        let asks = "GET /api/x?y HTTP/1.1\r\nHost: a.test\r\n\r\nPOST /old/12 HTTP/1.1\r\nHost: c\r\nContent-Length: 2\r\n\r\n\
            hiGET /h2/x HTTP/1.1\r\nHost: c\r\n\r\nGET /a/..%2fb HTTP/1.1\r\nHost: c\r\n\r\n";
        let wanted = [Ok("/v2/x?y"), Ok("/new/12"), Ok("/h2/x"), Err(400)];
        assert_eq!(targets(asks), wanted.map(|one| one.map(str::to_owned)));
    }
}
