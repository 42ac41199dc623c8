//! Reasons why a command did not create a script.

/// Why no script was created, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCreated {
    /// An argument is invalid.
    Argument(String),
    /// The file to translate cannot be used.
    Source(String),
    /// Any other reason.
    Other(String),
}

impl From<String> for NotCreated {
    fn from(message: String) -> NotCreated {
        NotCreated::Other(message)
    }
}
