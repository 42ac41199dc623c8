//! Errors for clients: `application/problem+json` (RFC 9457).

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use plimsoll_serving::trouble;
use serde_json::json;

use crate::store::Failure;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The request is invalid, with the reason.
    Wrong(String),
    /// No API key, or a wrong one.
    Unauthorized,
    /// It does not exist; names what.
    Missing(String),
    /// No format that the client accepts.
    NotAcceptable,
    /// The method is not supported here.
    WrongMethod,
    /// The body is larger than this many bytes.
    TooLarge(u64),
    /// Too few indices are available.
    Underflow,
    /// The store failed.
    Store(Failure),
    /// Too many requests are in flight.
    Overloaded,
    /// Cannot happen unless there is a bug.
    Broken(String),
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Problem::Wrong(_) => StatusCode::BAD_REQUEST,
            Problem::Unauthorized => StatusCode::UNAUTHORIZED,
            Problem::Missing(_) => StatusCode::NOT_FOUND,
            Problem::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Problem::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Problem::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Problem::Underflow => StatusCode::TOO_MANY_REQUESTS,
            Problem::Store(_) | Problem::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Problem::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn detail(&self) -> String {
        match self {
            Problem::Wrong(detail) | Problem::Missing(detail) => detail.clone(),
            Problem::Unauthorized => {
                "the header X-Api-Key is missing, or is not the pool's key".to_owned()
            }
            Problem::NotAcceptable => "a list is given out as application/statuslist+jwt, \
                 application/statuslist+cwt or application/statuslist+json"
                .to_owned(),
            Problem::WrongMethod => "that method is not for this place".to_owned(),
            Problem::TooLarge(most) => format!("the body is too large: at most {most} bytes"),
            Problem::Underflow => "fewer indices are ready than were requested".to_owned(),
            // The store's message is only for the log: it may name hosts and users.
            Problem::Store(Failure::Unavailable(_)) => {
                "the store is unavailable; whether a change was made is unknown".to_owned()
            }
            Problem::Store(Failure::Overloaded) | Problem::Overloaded => {
                "too many requests are in progress; try again later".to_owned()
            }
            Problem::Broken(_) => "something is wrong inside the server".to_owned(),
        }
    }

    pub fn body(&self) -> String {
        let status = self.status();
        json!({
            "type": "about:blank",
            "title": status.canonical_reason().unwrap_or_default(),
            "status": status.as_u16(),
            "detail": self.detail(),
        })
        .to_string()
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Problem {
        Problem::Store(failure)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        if let Problem::Broken(reason) | Problem::Store(Failure::Unavailable(reason)) = &self {
            trouble::happened(reason);
        }
        let mut response = (self.status(), self.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        match self.status() {
            // RFC 9110, section 15.5.2: a 401 must name a way to authenticate.
            StatusCode::UNAUTHORIZED => {
                headers.insert(
                    WWW_AUTHENTICATE,
                    HeaderValue::from_static("ApiKey realm=\"statuslist\""),
                );
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}
