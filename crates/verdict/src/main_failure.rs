//! The most frequent failure.

use crate::Cause;

/// The most frequent failure of the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainFailure {
    /// The likely cause.
    pub cause: Cause,
    /// The error and what to check, such as `connection refused: is the server running?`.
    pub text: String,
    /// Requests that failed this way.
    pub count: u64,
    /// The response arrived, but its body could not be decompressed.
    pub is_of_body: bool,
}
