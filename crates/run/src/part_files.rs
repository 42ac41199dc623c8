//! The files that an agent of a fleet needs in addition to the script's archive.

pub use plimsoll_machine::{FileSet, collect_files, with_files};

#[cfg(feature = "scripts")]
use crate::TlsFiles;

/// Reads the files that TLS and secret flags name.
///
/// # Errors
/// If one of them cannot be read.
#[cfg(feature = "scripts")]
pub fn files_of_flags(tls: &TlsFiles, secret_sources: &[String]) -> Result<FileSet, String> {
    let (read, files) = collect_files(|| {
        plimsoll_k6::secrets::Secrets::open(secret_sources, &plimsoll_machine::read_text_file)?;
        tls.read().map(|_| ())
    });
    read.map(|()| files)
}
