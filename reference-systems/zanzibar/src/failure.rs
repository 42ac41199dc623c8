//! Errors of requests, in terms of gRPC's status codes.

use std::fmt;

use plimsoll_serving::log;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The request is invalid; the string states which field and why.
    Invalid(String),
    /// The tuple does not exist.
    NotFound,
    /// The request needs more work than is allowed.
    TooMuch(String),
    /// The storage is currently unavailable or full.
    Unavailable(String),
    /// The method does not exist, or not in this form.
    Unimplemented(String),
    /// A bug in this program; the log contains more than the client's message.
    Internal,
}

impl Failure {
    /// A bug in this program, written to the log.
    pub fn internal(what: &str, error: &dyn fmt::Display) -> Failure {
        log::error(what, &[("reason", error.to_string().into())]);
        Failure::Internal
    }

    /// The message for the client.
    pub fn message(&self) -> &str {
        match self {
            Failure::Invalid(message)
            | Failure::TooMuch(message)
            | Failure::Unavailable(message)
            | Failure::Unimplemented(message) => message,
            Failure::NotFound => "there is no such tuple",
            Failure::Internal => "internal error; the log says more",
        }
    }
}
