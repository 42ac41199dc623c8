//! The result of `setup`.

use std::sync::{Arc, PoisonError, RwLock};

/// The result of `setup` as JSON. Each user reads it once, before its first iteration.
#[derive(Debug, Default)]
pub struct SetupData(RwLock<Option<Arc<str>>>);

impl SetupData {
    /// The JSON. `None` if setup did not run or returned nothing.
    pub fn text(&self) -> Option<Arc<str>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces the result.
    pub fn set(&self, text: Option<Arc<str>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = text;
    }
}
