//! Reasons why a test did not finish.

use std::fmt;
use std::io;

/// An error, with iperf3's message if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The server is running another client's test.
    Busy,
    /// The other side ended the test: the server, or the client.
    Ended(&'static str),
    /// This side ended the test: the server, or the client.
    Interrupted(&'static str),
    /// Any other error, with its message.
    Other(String),
}

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Error::Other(text.into())
    }

    /// An error with the message `doing: ` and the system's error.
    pub(crate) fn io(doing: &str, error: &io::Error) -> Self {
        Error::Other(format!("{doing}: {}", describe(error)))
    }
}

/// The system's message, without Rust's "(os error N)".
pub(crate) fn describe(error: &io::Error) -> String {
    if matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    ) {
        return "Connection timed out".to_owned();
    }
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Busy => f.write_str("the server is busy running a test. try again later"),
            Error::Ended(who) | Error::Interrupted(who) => write!(f, "the {who} has terminated"),
            Error::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
