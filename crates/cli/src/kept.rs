//! The store of runs: where it is, and opening it.

use std::path::{Path, PathBuf};

use results::store::Store;

/// Where the store is: as asked, else `plimsoll/runs.sqlite` below the user's folder for
/// data (XDG Base Directory Specification).
///
/// # Errors
/// When there is no such folder.
pub fn place(asked: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = asked.filter(|path| !path.as_os_str().is_empty()) {
        return Ok(path.to_owned());
    }
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_DATA_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/share")))
        .map(|data| data.join("plimsoll/runs.sqlite"))
        .ok_or_else(|| {
            "there is neither XDG_DATA_HOME nor HOME to keep runs below: name a file with --store"
                .to_owned()
        })
}

/// Opens the store, and makes it where it is not there yet.
///
/// # Errors
/// What is wrong with it, with the way out.
pub fn open(path: &Path) -> Result<Store, String> {
    Store::open(path).map_err(|error| failed(path, &error))
}

/// Opens a store that must be there.
///
/// # Errors
/// What is wrong with it, with the way out.
pub fn open_existing(path: &Path) -> Result<Store, String> {
    Store::open_existing(path).map_err(|error| match error {
        results::store::StoreError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!(
                "there is no store {}: plimsoll http --keep, or run --keep, makes one, and --store names another",
                path.display()
            )
        }
        error => failed(path, &error),
    })
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!(
        "the store {}: {error}; name another file with --store",
        path.display()
    )
}
