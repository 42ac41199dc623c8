//! A load without a script, with everything decided, and how to present it.

use std::time::Duration;

use serde_json::Value;

use crate::request::Load;

/// The result of resolving the options of a command, such as [`HttpOptions`](crate::HttpOptions).
pub struct Resolved {
    pub load: Load,
    /// The line above the figures.
    pub title: String,
    /// The settings in the header of a record.
    pub configuration: Value,
    /// Its duration, if only time ends it.
    pub duration: Option<Duration>,
    /// Whether each user does a fixed amount of work.
    pub is_fixed_work: bool,
    /// Worker threads; by default one for each processor.
    pub threads: Option<usize>,
}
