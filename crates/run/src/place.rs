//! The destination of a run's record: a file, the store of runs, or both.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_results::store_location;

/// The destination of a record.
#[derive(Clone, Debug)]
pub struct Place {
    /// `None` for a temporary file without a name.
    path: Option<PathBuf>,
    /// The store that also receives the run.
    store: Option<PathBuf>,
    /// The file is temporary, and is removed when the store has the run.
    passing: bool,
}

impl Place {
    /// A permanent file; the run is also added to `store`, if given.
    pub fn file(path: PathBuf, store: Option<PathBuf>) -> Place {
        Place {
            path: Some(path),
            store,
            passing: false,
        }
    }

    /// Only the store. During the run, the record is in a file next to the store.
    pub fn store(store: PathBuf) -> Place {
        Place {
            path: Some(store_location::passing(&store)),
            store: Some(store),
            passing: true,
        }
    }

    /// A temporary file that ends with the process, for a record that is only read back.
    pub fn temporary() -> Place {
        Place {
            path: None,
            store: None,
            passing: true,
        }
    }

    /// Creates the file. It can also be read if `is_read` is set, which a pipe cannot.
    pub(crate) fn create(&self, is_read: bool) -> io::Result<File> {
        match &self.path {
            Some(path) if is_read => File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(path),
            Some(path) => File::create(path),
            None => tempfile::tempfile(),
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        self.path.as_deref().map_or_else(
            || format!("a temporary file in {}", std::env::temp_dir().display()),
            |path| path.display().to_string(),
        )
    }

    /// Adds the written record to the store, and returns a message about it.
    pub(crate) fn keep(&self) -> Result<Option<String>, String> {
        match (&self.path, &self.store) {
            (Some(path), Some(store)) => self.keep_in(store, path).map(Some),
            _ => Ok(None),
        }
    }

    fn keep_in(&self, store: &Path, path: &Path) -> Result<String, String> {
        let failed = |error: &dyn std::fmt::Display| {
            format!(
                "cannot keep the run in {}: {error}; its record is in {}",
                store.display(),
                path.display()
            )
        };
        let bytes = plimsoll_machine::read_file(path).map_err(|error| failed(&error))?;
        let number = store_location::open(store)?
            .keep(&bytes)
            .map_err(|error| failed(&error))?;
        if self.passing {
            let _ = std::fs::remove_file(path);
        }
        Ok(format!("kept as run {number} in {}", store.display()))
    }
}
