//! A kernel file that stays open, so that it can be read when a run has exhausted the file descriptors.

use std::fs::File;
use std::io::Seek;
use std::path::Path;

/// A file whose content the kernel generates for each read. Absent if it could not be opened.
pub(crate) struct OpenFile(Option<File>);

impl OpenFile {
    pub fn open(path: &Path) -> Self {
        OpenFile(File::open(path).ok())
    }

    pub fn exists(&self) -> bool {
        self.0.is_some()
    }

    /// The current content, or an empty string if it cannot be read.
    pub fn read(&self) -> String {
        let content = |mut file: &File| {
            file.rewind()?;
            std::io::read_to_string(file)
        };
        let file = self.0.as_ref();
        file.and_then(|file| content(file).ok()).unwrap_or_default()
    }
}
