//! The destination of a run's record: a file, the store of runs, or both.

use std::path::{Path, PathBuf};

use plimsoll_results::store_location;

/// The destination of a record.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    /// The store that also receives the run.
    store: Option<PathBuf>,
    /// The file is temporary, and is removed when the store has the run.
    passing: bool,
}

impl Place {
    /// A permanent file; the run is also added to `store`, if given.
    pub fn file(path: PathBuf, store: Option<PathBuf>) -> Place {
        Place {
            path,
            store,
            passing: false,
        }
    }

    /// Only the store. During the run, the record is in a file next to the store.
    pub fn store(store: PathBuf) -> Place {
        Place {
            path: store_location::passing(&store),
            store: Some(store),
            passing: true,
        }
    }

    /// The file that the record is written to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the written record to the store, and returns a message about it.
    pub(crate) fn keep(&self) -> Result<Option<String>, String> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let failed = |error: &dyn std::fmt::Display| {
            format!(
                "cannot keep the run in {}: {error}; its record is in {}",
                store.display(),
                self.path.display()
            )
        };
        let bytes = plimsoll_script::read_file(&self.path).map_err(|error| failed(&error))?;
        let number = store_location::open(store)?
            .keep(&bytes)
            .map_err(|error| failed(&error))?;
        if self.passing {
            let _ = std::fs::remove_file(&self.path);
        }
        Ok(Some(format!("kept as run {number} in {}", store.display())))
    }
}
