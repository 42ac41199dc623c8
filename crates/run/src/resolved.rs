//! A load without a script after its options are resolved, and how to present it.

use std::time::Duration;

use serde_json::Value;

use crate::request::Load;

/// The resolved options of a command, such as [`HttpOptions`](crate::HttpOptions).
pub struct ResolvedLoad {
    pub load: Load,
    /// The title line above the figures.
    pub title: String,
    /// The settings in the header of a record.
    pub configuration: Value,
    /// Its duration, if only time ends it.
    pub duration: Option<Duration>,
    /// Whether each user has a fixed amount of work.
    pub is_fixed_work: bool,
    /// The number of worker threads. The default is one per processor.
    pub threads: Option<usize>,
}
