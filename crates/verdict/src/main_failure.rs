//! The most frequent failure.

use crate::Cause;

/// The most frequent failure of the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainFailure {
    /// The likely cause of the failure.
    pub cause: Cause,
    /// The error message and what to check, such as `connection refused: is the server running?`.
    pub text: String,
    /// Number of requests that failed this way.
    pub count: u64,
    /// Whether the response arrived, but its body could not be decompressed.
    pub is_of_body: bool,
}
