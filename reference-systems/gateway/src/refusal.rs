//! The gateway's own responses: why a request was not forwarded or got no response.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::LengthLimitError;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub status: StatusCode,
    pub message: Cow<'static, str>,
    /// When to try again, in whole seconds (RFC 9110, section 10.2.3).
    retry_after: Option<u64>,
}

const BUSY: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl Error for Refusal {}

impl Refusal {
    pub const TOO_LARGE: Refusal = Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "the body is larger than this gateway accepts",
    );
    pub const TOO_SLOW: Refusal =
        Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body arrives too slowly");
    pub const NO_ROUTE: Refusal = Refusal::new(StatusCode::NOT_FOUND, "no route leads there");
    pub const LOOP: Refusal = Refusal::new(StatusCode::LOOP_DETECTED, "the request is in a loop");
    pub const OVERLOADED: Refusal = Refusal::new(BUSY, "too many requests are in progress");
    pub const WAITED: Refusal = Refusal::new(BUSY, "too many requests are before this one");
    pub const NO_TARGET: Refusal = Refusal::new(BUSY, "no server is well");
    pub const UNREACHABLE: Refusal =
        Refusal::new(StatusCode::BAD_GATEWAY, "the server cannot be reached");
    pub const BROKEN: Refusal =
        Refusal::new(StatusCode::BAD_GATEWAY, "the server closed the connection");
    pub const TOO_LATE: Refusal = Refusal::new(
        StatusCode::GATEWAY_TIMEOUT,
        "the server does not respond in time",
    );

    pub const fn new(status: StatusCode, message: &'static str) -> Refusal {
        Refusal {
            status,
            message: Cow::Borrowed(message),
            retry_after: if status.as_u16() == 503 {
                Some(1)
            } else {
                None
            },
        }
    }

    pub const fn bad(message: &'static str) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, message)
    }

    pub fn broken_body(error: &hyper::Error) -> Refusal {
        let message = format!("the body was cut off: {error}");
        Refusal {
            message: message.into(),
            ..Refusal::bad("")
        }
    }

    /// The error that a body caused, if one did.
    pub fn of_body(error: &(dyn Error + 'static)) -> Option<Refusal> {
        if error.is::<LengthLimitError>() {
            return Some(Refusal::TOO_LARGE);
        }
        error.downcast_ref().cloned()
    }

    /// Too many requests for a key; there is capacity again after this time.
    pub fn rate_limited(wait: Duration) -> Refusal {
        let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
        Refusal {
            retry_after: Some(seconds),
            ..Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests; try again later",
            )
        }
    }

    /// The response: JSON, or for gRPC a trailers-only response (gRPC over HTTP/2, "Responses").
    /// `kind` is the request's Content-Type.
    pub fn response(&self, kind: Option<&HeaderValue>) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
            headers.insert(ALLOW, HeaderValue::from_static(methods));
        }
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc")) {
            // From gRPC's table for HTTP statuses.
            let code = match self.status.as_u16() {
                400 | 405 | 505 => "13",
                404 | 501 => "12",
                413 => "8",
                408 | 504 => "4",
                _ => "14",
            };
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
            headers.insert("grpc-status", HeaderValue::from_static(code));
            if let Ok(message) = HeaderValue::from_str(&self.message) {
                headers.insert("grpc-message", message);
            }
        } else {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let text = serde_json::json!({"error": self.message}).to_string() + "\n";
            *response.body_mut() = text.into();
            *response.status_mut() = self.status;
        }
        response
    }
}
