//! The facts about a run that a page shows and that are not in the run's events.

use std::time::Duration;

/// The title of a page, and what else the run's events do not say.
#[derive(Clone, Debug, Default)]
pub struct PageTitle {
    /// The script or the URL.
    pub title: String,
    /// The longest duration, if known.
    pub duration: Option<Duration>,
}
