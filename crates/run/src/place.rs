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
    /// Whether the file is temporary, and is removed once the store contains the run.
    passing: bool,
}

impl Place {
    /// A permanent file. If `store` is given, the run is also added to it.
    pub fn file(path: PathBuf, store: Option<PathBuf>) -> Place {
        Place {
            path: Some(path),
            store,
            passing: false,
        }
    }

    /// Only the store. During the run, the record is a file next to the store.
    pub fn store(store: PathBuf) -> Place {
        Place {
            path: Some(store_location::passing(&store)),
            store: Some(store),
            passing: true,
        }
    }

    /// A temporary file that is deleted when the process exits, for a record that is only read back.
    pub fn temporary() -> Place {
        Place {
            path: None,
            store: None,
            passing: true,
        }
    }

    /// Creates the file. If `is_read`, it can also be read, so it cannot be a pipe.
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

    /// The place's name in messages.
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
