//! The gateway's own responses: why a request was not forwarded or got no response.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Bad(&'static str),
    Method,
    /// An unsupported Transfer-Encoding.
    Coding,
    NoRoute,
    /// The request has come through this gateway many times before.
    Loop,
    BodyTooLarge(u64),
    BodyTooSlow,
    /// The client disconnected, so nobody reads the response.
    ClientGone,
    /// Too many requests for its key; there is capacity again after this time.
    RateLimited(Duration),
    /// Too many requests are in flight and waiting.
    Overloaded,
    /// It waited too long.
    Waited,
    /// No target of the upstream is healthy.
    NoTarget,
    Unreachable,
    Broken,
    TooLate,
}

impl Refusal {
    pub fn status(&self) -> StatusCode {
        match self {
            Refusal::Bad(_) => StatusCode::BAD_REQUEST,
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Coding => StatusCode::NOT_IMPLEMENTED,
            Refusal::NoRoute => StatusCode::NOT_FOUND,
            Refusal::Loop => StatusCode::LOOP_DETECTED,
            Refusal::BodyTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Refusal::ClientGone => StatusCode::BAD_REQUEST,
            Refusal::RateLimited(_) => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Overloaded | Refusal::Waited | Refusal::NoTarget => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Refusal::Unreachable | Refusal::Broken => StatusCode::BAD_GATEWAY,
            Refusal::TooLate => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    pub fn message(&self) -> String {
        let message = match self {
            Refusal::Bad(what) => what,
            Refusal::Method => "this method is not passed on",
            Refusal::Coding => "Transfer-Encoding may be 'chunked' alone",
            Refusal::NoRoute => "no route leads there",
            Refusal::Loop => "the request goes in circles",
            Refusal::BodyTooLarge(most) => {
                return format!("the body is too large: at most {most} bytes are taken");
            }
            Refusal::BodyTooSlow => "the body comes too slowly",
            Refusal::ClientGone => "the body broke off",
            Refusal::RateLimited(_) => "too many requests; try again later",
            Refusal::Overloaded => "too many requests are in progress; try again later",
            Refusal::Waited => "too many requests are before this one; try again later",
            Refusal::NoTarget => "no server is well; try again later",
            Refusal::Unreachable => "the server cannot be reached",
            Refusal::Broken => "the server broke off",
            Refusal::TooLate => "the server does not respond in time",
        };
        message.to_owned()
    }

    /// When to try again, in whole seconds (RFC 9110, section 10.2.3).
    fn retry_after(&self) -> Option<u64> {
        match self {
            Refusal::RateLimited(wait) => {
                Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).map(|wait| wait.max(1))
            }
            Refusal::Overloaded | Refusal::Waited | Refusal::NoTarget => Some(1),
            _ => None,
        }
    }

    /// The response: JSON, or for gRPC a trailers-only response.
    /// `kind` is the request's Content-Type.
    pub fn response(&self, kind: Option<&HeaderValue>) -> Response<Bytes> {
        let grpc = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
        let mut response = if grpc { self.grpc() } else { self.plain() };
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }

    fn plain(&self) -> Response<Bytes> {
        let body = serde_json::json!({"error": self.message()}).to_string() + "\n";
        let mut response = Response::new(body.into());
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if *self == Refusal::Method {
            let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
            headers.insert(ALLOW, HeaderValue::from_static(methods));
        }
        response
    }

    /// gRPC over HTTP/2, "Responses"; the codes are from gRPC's table for HTTP statuses.
    fn grpc(&self) -> Response<Bytes> {
        let code = match self.status() {
            StatusCode::BAD_REQUEST | StatusCode::METHOD_NOT_ALLOWED => "13",
            StatusCode::NOT_FOUND | StatusCode::NOT_IMPLEMENTED => "12",
            StatusCode::PAYLOAD_TOO_LARGE => "8",
            StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => "4",
            _ => "14",
        };
        let mut response = Response::new(Bytes::new());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert("grpc-status", HeaderValue::from_static(code));
        if let Ok(message) = HeaderValue::from_str(&self.message()) {
            headers.insert("grpc-message", message);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_to_try_again_is_rounded_up() {
        let after = |wait| {
            let response = Refusal::RateLimited(wait).response(None);
            assert_eq!(response.status(), 429);
            response.headers()[RETRY_AFTER].to_str().unwrap().to_owned()
        };
        assert_eq!(after(Duration::from_millis(1)), "1");
        assert_eq!(after(Duration::from_millis(2500)), "3");
    }

    #[test]
    fn grpc_errors_have_a_grpc_status() {
        let kind = HeaderValue::from_static("application/grpc+proto");
        let response = Refusal::TooLate.response(Some(&kind));
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["grpc-status"], "4");
    }
}
