//! The directory that contains the certificates.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Certificates;

/// The owner of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Authority,
    Server,
    Client,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Authority, Role::Server, Role::Client];

    /// The file name without its extension.
    pub fn stem(self) -> &'static str {
        match self {
            Role::Authority => "ca",
            Role::Server => "server",
            Role::Client => "client",
        }
    }
}

/// A directory with one file per certificate and key.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A directory at this path. It is created on the first write.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Folder(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn certificate(&self, role: Role) -> PathBuf {
        self.0.join(format!("{}.pem", role.stem()))
    }

    pub fn key(&self, role: Role) -> PathBuf {
        self.0.join(format!("{}.key", role.stem()))
    }

    /// Checks that writing here does not overwrite anything.
    ///
    /// # Errors
    /// Returns a message with a solution if a file already exists.
    pub fn check_empty(&self) -> Result<(), String> {
        let present: Vec<String> = Role::ALL
            .iter()
            .flat_map(|role| [self.certificate(*role), self.key(*role)])
            .filter(|path| path.symlink_metadata().is_ok())
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        if present.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} already has {}; name another directory, or overwrite them with --force",
            self.0.display(),
            present.join(", ")
        ))
    }

    /// Writes all six files. Only their owner can read the keys. With `force`, existing files are
    /// replaced atomically. Without it, existing files are an error and nothing is written.
    ///
    /// # Errors
    /// Returns an error if a file could not be written.
    pub fn write(&self, certificates: &Certificates, force: bool) -> Result<(), String> {
        if !force {
            self.check_empty()?;
        }
        fs::create_dir_all(&self.0)
            .map_err(|error| format!("cannot create the folder {}: {error}", self.0.display()))?;
        for role in Role::ALL {
            let pair = match role {
                Role::Authority => &certificates.authority,
                Role::Server => &certificates.server,
                Role::Client => &certificates.client,
            };
            write_file(&self.key(role), &pair.key, 0o600, force)?;
            write_file(&self.certificate(role), &pair.certificate, 0o644, force)?;
        }
        Ok(())
    }
}

fn write_file(path: &Path, text: &str, mode: u32, force: bool) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    // An existing file may be readable by other users or may be a link, so replace it with a new file.
    let new_path = path.with_extension(format!("new-{}", std::process::id()));
    let target = if force { &new_path } else { path };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let _ = mode;
    options
        .open(target)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(failed)?;
    if force {
        fs::rename(target, path).map_err(|error| {
            let _ = fs::remove_file(target);
            failed(error)
        })?;
    }
    Ok(())
}
