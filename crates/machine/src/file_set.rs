//! Provides another process with the files that this process has read.
//!
//! An agent of a fleet resolves the same command line as the coordinator, but does not have the
//! coordinator's files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Files, by the name under which they were read.
pub type FileSet = BTreeMap<PathBuf, Vec<u8>>;

enum Mode {
    Collecting(FileSet),
    Given(FileSet),
}

thread_local! {
    static MODE: RefCell<Option<Mode>> = const { RefCell::new(None) };
}

/// Runs `act` and collects the files that it reads on this thread.
pub fn collect_files<R>(act: impl FnOnce() -> R) -> (R, FileSet) {
    MODE.set(Some(Mode::Collecting(FileSet::new())));
    let result = act();
    match MODE.take() {
        Some(Mode::Collecting(files)) => (result, files),
        _ => (result, FileSet::new()),
    }
}

/// Runs `act`, which reads only these files on this thread.
pub fn with_files<R>(files: FileSet, act: impl FnOnce() -> R) -> R {
    MODE.set(Some(Mode::Given(files)));
    let result = act();
    MODE.set(None);
    result
}

/// Whether this thread collects the files that it reads, or reads given files.
pub fn is_file_set() -> bool {
    MODE.with_borrow(Option::is_some)
}

/// Whether a file with this name exists.
pub fn file_exists(path: &Path) -> bool {
    let is_given = MODE.with_borrow(|mode| match mode {
        Some(Mode::Given(files)) => Some(files.contains_key(path)),
        _ => None,
    });
    is_given.unwrap_or_else(|| path.exists())
}

/// The content of a file: the given content, or the result of `read`.
///
/// # Errors
/// Returns an error if the file does not exist or cannot be read.
pub fn read_in_set(path: &Path, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    let given = MODE.with_borrow(|mode| match mode {
        Some(Mode::Given(files)) => Some(files.get(path).cloned()),
        _ => None,
    });
    if let Some(found) = given {
        return found
            .ok_or_else(|| Error::new(ErrorKind::NotFound, "the coordinator did not send it"));
    }
    let bytes = read()?;
    MODE.with_borrow_mut(|mode| {
        if let Some(Mode::Collecting(files)) = mode {
            files.insert(path.to_owned(), bytes.clone());
        }
    });
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_file;

    #[test]
    fn collected_files_are_read_elsewhere() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"one").unwrap();
        let (read, files) = collect_files(|| read_file(file.path()).unwrap());
        assert_eq!(read, b"one");
        std::fs::write(file.path(), b"two").unwrap();
        let other = Path::new("/etc/hostname");
        let read = with_files(files, || {
            assert!(!file_exists(other));
            assert!(read_file(other).is_err());
            read_file(file.path()).unwrap()
        });
        assert_eq!(read, b"one");
        assert!(!is_file_set());
        assert_eq!(read_file(file.path()).unwrap(), b"two");
    }
}
