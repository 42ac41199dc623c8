//! Files that a command creates.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes a file. Unless `force` is set, it must not exist yet.
///
/// # Errors
/// The message for the user.
pub fn write(file: &Path, text: &str, force: bool) -> Result<(), String> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists_message(file),
        _ => format!("cannot write {}: {error}", file.display()),
    })
}

/// The message about a file that is not overwritten.
pub fn exists_message(file: &Path) -> String {
    format!(
        "{} already exists; use --force to overwrite it",
        file.display()
    )
}
