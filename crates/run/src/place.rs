//! Where the record of a run goes: a file, the store of runs, or both.

use std::path::{Path, PathBuf};

use plimsoll_results::store_location;

/// Where a record goes.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    /// The store that takes the run too.
    store: Option<PathBuf>,
    /// The file was asked for by nobody, and goes when the store has it.
    passing: bool,
}

impl Place {
    /// A file that stays; the run is kept in `store` too, if there is one.
    pub fn file(path: PathBuf, store: Option<PathBuf>) -> Place {
        Place {
            path,
            store,
            passing: false,
        }
    }

    /// The store alone. During the run, its record is in a file next to the store.
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

    /// Puts the record that was written into the store, and returns a sentence that says so.
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
