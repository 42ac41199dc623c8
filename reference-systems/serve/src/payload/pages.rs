//! The pages: the payload at `/`, a little JSON, health and metrics.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::service::Service;
use hyper::{Method, Request, Response, StatusCode};

use plimsoll_serving::counters::{self, Exposition, count};
use plimsoll_serving::drain::Draining;

use super::counters::{AllCounters, Counters, METRICS};

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROMETHEUS: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The contents of the pages, created once and never freed, so that responses touch no reference
/// counter shared by threads.
#[derive(Clone, Copy)]
pub struct Content(&'static Fixed);

struct Fixed {
    payload: Bytes,
    json: Bytes,
    counters: AllCounters,
    connections: counters::AllCounters,
}

impl Fixed {
    fn metrics(&self) -> String {
        let mut text = Exposition::default();
        text.metrics(METRICS, &self.counters);
        text.connections(&self.connections);
        text.into_text()
    }
}

impl Content {
    /// A payload of `length` bytes, the same in every process.
    pub fn new(
        length: usize,
        counters: AllCounters,
        connections: counters::AllCounters,
    ) -> Content {
        let payload: &'static [u8] = Box::leak(random_text(length).into_boxed_slice());
        let json = serde_json::json!({
            "message": "hello",
            "system": "payload",
            "payload": {"path": "/", "bytes": length},
            "numbers": [1, 2, 3],
        });
        let json: &'static [u8] = Box::leak(json.to_string().into_bytes().into_boxed_slice());
        let fixed = Fixed {
            payload: Bytes::from_static(payload),
            json: Bytes::from_static(json),
            counters,
            connections,
        };
        Content(Box::leak(Box::new(fixed)))
    }
}

/// Letters and digits that do not compress well. SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)
/// with a fixed seed.
fn random_text(length: usize) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut state = 0x0070_6c69_6d73_6f6c_u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        LETTERS[((mixed ^ (mixed >> 31)) % 64) as usize]
    };
    (0..length).map(|_| next()).collect()
}

/// The pages for one connection.
pub struct Pages {
    content: Content,
    counters: Arc<Counters>,
    draining: Draining,
}

impl Pages {
    pub fn new(content: Content, counters: Arc<Counters>, draining: Draining) -> Pages {
        Pages {
            content,
            counters,
            draining,
        }
    }

    fn respond(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        let fixed = self.content.0;
        let reading = matches!(*method, Method::GET | Method::HEAD);
        match path {
            "/" if reading => {
                count(&self.counters.payloads);
                return page(StatusCode::OK, TEXT, fixed.payload.clone());
            }
            _ => count(&self.counters.others),
        }
        match path {
            "/" | "/json" | "/healthz" | "/metrics" if !reading => {
                let text =
                    Bytes::from_static(b"{\"error\":\"only GET and HEAD are supported here\"}\n");
                let mut response = page(StatusCode::METHOD_NOT_ALLOWED, JSON, text);
                response
                    .headers_mut()
                    .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                response
            }
            "/json" => page(StatusCode::OK, JSON, fixed.json.clone()),
            "/healthz" if self.draining.has_begun() => page(
                StatusCode::SERVICE_UNAVAILABLE,
                TEXT,
                Bytes::from_static(b"draining\n"),
            ),
            "/healthz" => page(StatusCode::OK, TEXT, Bytes::from_static(b"ok\n")),
            "/metrics" => page(StatusCode::OK, PROMETHEUS, fixed.metrics().into()),
            _ => {
                let text = b"{\"error\":\"page not found; try /, /json, /healthz or /metrics\"}\n";
                page(StatusCode::NOT_FOUND, JSON, Bytes::from_static(text))
            }
        }
    }
}

fn page(status: StatusCode, kind: HeaderValue, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

impl Service<Request<Incoming>> for Pages {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        ready(Ok(self.respond(request.method(), request.uri().path())))
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_serving::drain::Drain;

    use super::*;

    #[test]
    fn the_payload_is_the_same_each_time_and_has_the_requested_length() {
        assert_eq!(random_text(4096), random_text(4096));
        assert_eq!(random_text(4096).len(), 4096);
        assert!(random_text(4096).is_ascii());
        assert_eq!(random_text(0), b"");
    }

    #[test]
    fn each_page_responds() {
        let counters = AllCounters::new(1);
        let (_drain, draining) = Drain::new();
        let content = Content::new(16, counters.clone(), counters::AllCounters::new(1));
        let pages = Pages::new(content, counters.of_worker(0), draining);
        let status = |method: Method, path: &str| pages.respond(&method, path).status().as_u16();
        assert_eq!(status(Method::GET, "/"), 200);
        assert_eq!(status(Method::HEAD, "/"), 200);
        assert_eq!(status(Method::POST, "/"), 405);
        assert_eq!(status(Method::GET, "/json"), 200);
        assert_eq!(status(Method::GET, "/healthz"), 200);
        assert_eq!(status(Method::GET, "/metrics"), 200);
        assert_eq!(status(Method::GET, "/none"), 404);
        let text = content.0.metrics();
        assert!(text.contains("payloads_total 2\n"));
        assert!(text.contains("other_answers_total 5\n"));
    }
}
