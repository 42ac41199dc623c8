//! Why a command that creates a script did not.

/// Why there is no script, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCreated {
    /// An argument is wrong.
    Argument(String),
    /// The file to translate cannot be used.
    Source(String),
    /// Anything else.
    Other(String),
}

impl From<String> for NotCreated {
    fn from(message: String) -> NotCreated {
        NotCreated::Other(message)
    }
}
