//! The user's settings for an import.

#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The server to send requests to, instead of the one in the source: a URL without a path.
    pub server: Option<String>,
    /// Hosts of other sites to include.
    pub hosts: Vec<String>,
}
