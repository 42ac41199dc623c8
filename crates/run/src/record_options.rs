//! The record options of the command line: `--record`, `--keep` and `--store`.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_results::objective::Objective;
use plimsoll_results::store_location;
use serde_json::Value;

use crate::place::Place;
use crate::request::RecordRequest;

/// The options for a record. No record is written unless one is requested.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// The file to write it to.
    pub file: Option<PathBuf>,
    /// Whether to add it to the store.
    pub is_kept: bool,
    /// The store, if it is not the default one.
    pub store: Option<PathBuf>,
    /// How much of the start of the run the verdict leaves out, as requested.
    pub warm_up: Duration,
    pub objectives: Vec<Objective>,
}

impl RecordOptions {
    /// How much of the start of the run the verdict leaves out, in whole seconds, because the verdict is based on
    /// seconds.
    pub fn warm_up(&self) -> Duration {
        let is_partial = u64::from(self.warm_up.subsec_nanos() > 0);
        Duration::from_secs(self.warm_up.as_secs().saturating_add(is_partial))
    }

    /// The requested record, or one that only reports need (`is_read`). `notify` receives a message about runs that
    /// were recovered in the store.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub fn resolve(
        self,
        title: &str,
        configuration: Value,
        is_read: bool,
        notify: &mut dyn FnMut(&str),
    ) -> Result<Option<RecordRequest>, String> {
        let warm_up = self.warm_up();
        let store = if self.is_kept {
            let store = store_location::place(self.store.as_deref())?;
            // Fail before the run rather than after it.
            for sentence in store_location::recover(&store, &mut store_location::open(&store)?) {
                notify(&sentence);
            }
            Some(store)
        } else {
            None
        };
        let place = match (self.file, store) {
            (None, None) if is_read => Place::temporary(),
            (None, None) => return Ok(None),
            (Some(path), store) => Place::file(path, store),
            (None, Some(store)) => Place::store(store),
        };
        Ok(Some(RecordRequest {
            place,
            is_read,
            objectives: self.objectives,
            title: title.to_owned(),
            warm_up,
            configuration,
            command: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
        }))
    }
}
