//! Facts about a run that a page shows but that are not in the run's events.

use std::time::Duration;

/// The title of a page, and other facts that are not in the run's events.
#[derive(Clone, Debug, Default)]
pub struct PageTitle {
    /// The script or the URL.
    pub title: String,
    /// The maximum duration, if known.
    pub duration: Option<Duration>,
}
