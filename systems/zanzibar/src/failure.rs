//! What can go wrong with a request, in the words of gRPC's status codes.

use std::fmt;

use plimsoll_serving::log;

/// Why a request was not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The request is wrong; says which field and why.
    Invalid(String),
    /// There is no such tuple.
    NotFound,
    /// It would take more work than one request may.
    TooMuch(String),
    /// The storage is down or full now.
    Unavailable(String),
    /// The method is not there, or not in this form.
    Unimplemented(String),
    /// A bug in this program; the log says more than the client gets.
    Internal,
}

impl Failure {
    /// A bug in this program, written to the log.
    pub fn internal(what: &str, error: &dyn fmt::Display) -> Failure {
        log::error(what, &[("reason", error.to_string().into())]);
        Failure::Internal
    }

    /// The message that the client gets.
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
