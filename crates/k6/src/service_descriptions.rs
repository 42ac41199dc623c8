//! Descriptions of gRPC services. The first user reads them and shares them with all others.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use plimsoll_grpc::{Method, Schema};

/// Descriptions by their sources.
#[derive(Default)]
pub struct ServiceDescriptions(Mutex<HashMap<String, Description>>);

/// The result of reading one description.
pub type Description = Result<(Schema, Vec<Method>), String>;

impl ServiceDescriptions {
    /// The description stored for `key`. Calls `read` if there is none yet.
    pub fn once(&self, key: &str, read: impl FnOnce() -> Description) -> Description {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(key) {
            return known.clone();
        }
        let made = read();
        known.insert(key.to_owned(), made.clone());
        made
    }
}
