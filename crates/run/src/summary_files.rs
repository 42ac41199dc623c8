//! The files to which the summary of a run is written.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

#[cfg(feature = "scripts")]
use plimsoll_script::SummaryOutput;

use crate::Refusal;

/// A file that is written after the run, such as that of `--summary-export`.
#[derive(Debug)]
pub struct ExportFile(File);

impl ExportFile {
    /// Opens the file before the run to check that it can be written. Keeps its contents until the run is over.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn open(flag: &str, path: &Path) -> Result<ExportFile, Refusal> {
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(false).open(path);
        file.map(ExportFile).map_err(|error| {
            Refusal::config(format!(
                "{flag} {}: cannot write it: {error}; name a file in a directory that you can write to",
                path.display()
            ))
        })
    }

    /// Opens the file if one is requested; see [`ExportFile::open`].
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn requested(flag: &str, path: Option<&Path>) -> Result<Option<ExportFile>, Refusal> {
        path.map(|path| ExportFile::open(flag, path)).transpose()
    }

    /// Replaces its contents.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(mut self, text: &str) -> io::Result<()> {
        // A device such as /dev/stdout has no length to set.
        if self.0.metadata().is_ok_and(|data| data.is_file()) {
            self.0.set_len(0)?;
        }
        self.0.write_all(text.as_bytes())
    }
}

/// Writes the result of `handleSummary`. Calls `print` with the text for stdout (`true`) and stderr (`false`).
///
/// # Errors
/// If a file cannot be written. The other files are written anyway.
#[cfg(feature = "scripts")]
pub fn write_outputs(
    outputs: &[SummaryOutput],
    mut print: impl FnMut(bool, &[u8]),
) -> Result<(), String> {
    let mut faults = Vec::new();
    for output in outputs {
        match output.place.as_str() {
            stream @ ("stdout" | "stderr") => print(stream == "stdout", &output.bytes),
            path => {
                if let Err(error) = std::fs::write(path, &output.bytes) {
                    faults.push(format!("cannot write {path}: {error}"));
                }
            }
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("; "))
    }
}
