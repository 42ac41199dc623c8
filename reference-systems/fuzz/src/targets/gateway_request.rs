//! Data from a client to the gateway on an HTTP/1.1 connection: headers, their routes, and what an upstream would be
//! sent.

use std::cell::OnceCell;

use plimsoll_gateway::in_memory::Routing;
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

fn run(data: &[u8]) {
    GATEWAY.with(|cell| {
        let Some((runtime, routing)) = cell.get_or_init(gateway) else {
            return;
        };
        for passed in runtime.block_on(routing.read_connection(data)) {
            let Ok(passed) = passed else { continue };
            let is_dots = |segment: &str| segment == "." || segment == "..";
            assert!(!passed.path.split(['/', '\\']).any(is_dots), "{passed:?}");
            assert!(passed.target.starts_with('/'), "{passed:?}");
            // Fields of the client's own connection end at the gateway.
            for field in [
                "connection",
                "transfer-encoding",
                "content-length",
                "upgrade",
                "keep-alive",
            ] {
                assert!(
                    !passed.fields.iter().any(|name| name == field),
                    "{passed:?}"
                );
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
            let read = runtime.block_on(routing.read_connection(request.as_bytes()));
            let targets = read
                .into_iter()
                .map(|passed| passed.map(|passed| passed.target));
            targets.collect()
        };
        let asks = "GET /api/x?y HTTP/1.1\r\nHost: a.test\r\n\r\nPOST /old/12 HTTP/1.1\r\nHost: c\r\nContent-Length: 2\r\n\r\n\
            hiGET /h2/x HTTP/1.1\r\nHost: c\r\n\r\nGET /a/..%2fb HTTP/1.1\r\nHost: c\r\n\r\n";
        let wanted = [Ok("/v2/x?y"), Ok("/new/12"), Ok("/h2/x"), Err(400)];
        assert_eq!(targets(asks), wanted.map(|one| one.map(str::to_owned)));
    }
}
