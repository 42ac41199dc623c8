//! The responses of the well-behaved listeners, by path.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};

use super::{auth, packed, websocket};

type Body = BoxBody<Bytes, std::convert::Infallible>;

const NESTED: &str = r#"{"id":7,"name":"Ada","tags":["a","b","c"],"nested":{"deep":{"value":42}},"friends":[{"first":"Dale","age":44},{"first":"Roger","age":68},{"first":"Jane","age":47}],"none":null,"yes":true,"pi":3.25}"#;
const PAGE: &str = "<!doctype html><html><head><title>A page</title></head><body><h1 id=\"top\">Hello</h1><a href=\"/get?from=link\">link</a></body></html>";

/// Responds to one request. `number` counts the requests of its connection from 1.
pub async fn respond(request: Request<Incoming>, number: u64) -> Response<Body> {
    if request.uri().path().starts_with("/ws/") {
        return shake_hands(request).await;
    }
    let (head, body) = request.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let request = CaseRequest {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        version: format!("{:?}", head.version),
        headers: head.headers,
        body,
    };
    let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["get" | "echo" | "anything", ..] => json(&request.describe()),
        ["back"] => back(&request),
        ["status", code] => status(code, &request),
        ["redirect", count] => redirect(count),
        ["redirect-to"] => redirect_to(&request),
        ["set-cookie"] => set_cookies(&request),
        ["cookie-attributes"] => cookie_attributes(),
        ["cookies"] => json(&json!({ "cookies": request.cookies() })),
        ["gzip"] => packed_body("gzip", packed::GZIP),
        ["deflate"] => packed_body("deflate", packed::DEFLATE),
        ["brotli"] => packed_body("br", packed::BROTLI),
        ["zstd"] => packed_body("zstd", packed::ZSTD),
        ["unknown-coding"] => packed_body("squeezed", b"as it is"),
        ["basic", user, password] => basic(&request, user, password),
        ["digest", user, password] => digest(&request, user, password),
        ["delay", milliseconds] => {
            tokio::time::sleep(Duration::from_millis(milliseconds.parse().unwrap_or(0))).await;
            json(&json!({ "delayed": milliseconds }))
        }
        ["bytes", count] => {
            let count: usize = count.parse().unwrap_or(0);
            let body: Vec<u8> = (0..count.min(64 << 20)).map(|n| n as u8).collect();
            typed("application/octet-stream", body)
        }
        ["json"] => typed("application/json", NESTED),
        ["html"] => typed("text/html; charset=utf-8", PAGE),
        ["text", rest @ ..] => typed("text/plain", rest.join("/")),
        ["latin1"] => typed("text/plain; charset=iso-8859-1", b"caf\xe9".to_vec()),
        ["empty"] => plain(StatusCode::OK, ""),
        ["stream", count] => stream(count.parse().unwrap_or(1)),
        ["headers"] => several_headers(),
        ["connection"] => json(&json!({ "request": number })),
        ["close"] => with(json(&json!({ "request": number })), "connection", "close"),
        ["in-flight", milliseconds] => in_flight(milliseconds).await,
        ["item", ..] => json(&json!({ "path": request.path })),
        _ => plain(StatusCode::NOT_FOUND, "no such path\n"),
    }
}

async fn shake_hands(request: Request<Incoming>) -> Response<Body> {
    let handshake = websocket::respond(request).await;
    let mut response = plain(handshake.status, handshake.body);
    for (name, value) in handshake.headers {
        response = with(response, name, &value);
    }
    response
}

struct CaseRequest {
    method: String,
    path: String,
    query: String,
    version: String,
    headers: HeaderMap,
    body: Bytes,
}

impl CaseRequest {
    /// The request as JSON, without data that may differ between clients: their name, and the port of
    /// the listener.
    fn describe(&self) -> Value {
        let mut headers = BTreeMap::new();
        for name in self.headers.keys() {
            if name != "user-agent" && name != "host" {
                headers.insert(name.to_string(), self.header(name.as_str()));
            }
        }
        json!({
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "version": self.version,
            "headers": headers,
            "body": String::from_utf8_lossy(&self.body),
        })
    }

    fn header(&self, name: &str) -> String {
        let values = self.headers.get_all(name).iter();
        let values: Vec<_> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        values.join(", ")
    }

    fn cookies(&self) -> BTreeMap<String, String> {
        let sent = self.header("cookie");
        let pairs = sent
            .split(';')
            .filter_map(|pair| pair.trim().split_once('='));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }
}

fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed()
}

fn plain(status: StatusCode, body: &'static str) -> Response<Body> {
    let mut response = Response::new(whole(body));
    *response.status_mut() = status;
    response
}

fn typed(kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    with(Response::new(whole(body)), "content-type", kind)
}

fn json(value: &Value) -> Response<Body> {
    typed("application/json", value.to_string())
}

fn with(mut response: Response<Body>, name: &'static str, value: &str) -> Response<Body> {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().append(name, value);
    }
    response
}

/// Echoes the body with its original content coding and type.
fn back(request: &CaseRequest) -> Response<Body> {
    let mut response = Response::new(whole(request.body.clone()));
    for name in ["content-encoding", "content-type"] {
        if request.headers.contains_key(name) {
            response = with(response, name, &request.header(name));
        }
    }
    with(response, "x-length", &request.body.len().to_string())
}

fn status(code: &str, request: &CaseRequest) -> Response<Body> {
    let code = code.parse::<u16>().ok();
    let Some(status) = code.and_then(|code| StatusCode::from_u16(code).ok()) else {
        return plain(StatusCode::BAD_REQUEST, "no such status\n");
    };
    let mut response = plain(status, "");
    if let Some(target) = request.parameter("location") {
        response = with(response, "location", target);
    }
    response
}

fn redirect(count: &str) -> Response<Body> {
    let target = match count.parse::<u32>().unwrap_or(0) {
        0 => return json(&json!({ "arrived": true })),
        count => format!("/redirect/{}", count - 1),
    };
    with(plain(StatusCode::FOUND, ""), "location", &target)
}

/// Handles paths like `/redirect-to?status=307&url=/echo`.
fn redirect_to(request: &CaseRequest) -> Response<Body> {
    let status = request
        .parameter("status")
        .and_then(|code| code.parse().ok());
    let status = StatusCode::from_u16(status.unwrap_or(302)).unwrap_or(StatusCode::FOUND);
    let target = request.parameter("url").unwrap_or("/get").to_owned();
    with(plain(status, ""), "location", &target)
}

fn set_cookies(request: &CaseRequest) -> Response<Body> {
    let mut response = json(&json!({ "set": request.query }));
    for (name, value) in request.parameters() {
        response = with(response, "set-cookie", &format!("{name}={value}; Path=/"));
    }
    response
}

fn cookie_attributes() -> Response<Body> {
    let mut response = json(&json!({}));
    for cookie in [
        "all=1; Path=/item; Domain=127.0.0.1; Max-Age=3600; HttpOnly; Secure",
        "plain=2",
        "dated=3; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/",
        "gone=4; Max-Age=0; Path=/",
    ] {
        response = with(response, "set-cookie", cookie);
    }
    response
}

fn packed_body(coding: &'static str, body: &'static [u8]) -> Response<Body> {
    with(typed("application/json", body), "content-encoding", coding)
}

fn basic(request: &CaseRequest, user: &str, password: &str) -> Response<Body> {
    if auth::basic_allows(&request.header("authorization"), user, password) {
        return json(&json!({ "user": user }));
    }
    with(
        plain(StatusCode::UNAUTHORIZED, ""),
        "www-authenticate",
        "Basic realm=\"cases\"",
    )
}

fn digest(request: &CaseRequest, user: &str, password: &str) -> Response<Body> {
    let authorization = request.header("authorization");
    if auth::digest_allows(&authorization, &request.method, user, password) {
        return json(&json!({ "user": user }));
    }
    let challenge = auth::digest_challenge();
    with(
        plain(StatusCode::UNAUTHORIZED, ""),
        "www-authenticate",
        &challenge,
    )
}

/// A body of `count` chunks.
fn stream(count: usize) -> Response<Body> {
    let chunks = (0..count.min(1000)).map(|number| {
        Ok(Frame::data(Bytes::from(format!(
            "{{\"chunk\":{number}}}\n"
        ))))
    });
    let body = StreamBody::new(futures_util::stream::iter(chunks));
    with(
        Response::new(body.boxed()),
        "content-type",
        "application/json",
    )
}

fn several_headers() -> Response<Body> {
    let mut response = plain(StatusCode::OK, "");
    for (name, value) in [
        ("x-one", "1"),
        ("x-many", "a"),
        ("x-many", "b"),
        ("x-mixed-case", "Kept"),
        ("etag", "\"abc\""),
    ] {
        response = with(response, name, value);
    }
    response
}

/// Responds with the maximum number of these requests that were in flight at the same time.
async fn in_flight(milliseconds: &str) -> Response<Body> {
    static BUSY: AtomicU64 = AtomicU64::new(0);
    static MAX_IN_FLIGHT: AtomicU64 = AtomicU64::new(0);
    let now = BUSY.fetch_add(1, Ordering::SeqCst) + 1;
    MAX_IN_FLIGHT.fetch_max(now, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(milliseconds.parse().unwrap_or(0))).await;
    let most = MAX_IN_FLIGHT.load(Ordering::SeqCst);
    if BUSY.fetch_sub(1, Ordering::SeqCst) == 1 {
        MAX_IN_FLIGHT.store(0, Ordering::SeqCst);
    }
    json(&json!({ "most": most }))
}
