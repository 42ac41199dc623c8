//! The sources of a program's files: either disk and network, or only an archive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_machine::read_file;

/// Fetches an `https://` address.
pub type Fetch = Box<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

/// Files by path and by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// By absolute path.
    pub files: BTreeMap<PathBuf, Arc<[u8]>>,
    /// By address without `https://`, with percent escapes decoded: `jslib.k6.io/a.js?v=1`.
    pub web: BTreeMap<String, Arc<[u8]>>,
}

/// The sources of files.
pub enum Sources {
    Disk {
        fetch: Option<Fetch>,
        /// Everything that was read, if it should be kept.
        read: Option<Mutex<Packed>>,
    },
    /// An archive. Files that are not in it are not found, even if they are on disk.
    Archive(Packed),
}

impl Sources {
    /// Only the disk, without the network. Files that are read are not kept.
    #[cfg(test)]
    pub fn disk() -> Sources {
        Sources::Disk {
            fetch: None,
            read: None,
        }
    }

    pub fn is_file(&self, path: &Path) -> bool {
        match self {
            Sources::Disk { .. } => path.is_file(),
            Sources::Archive(packed) => packed.files.contains_key(&*shared(path)),
        }
    }

    /// Whether a file, device or pipe exists at that path.
    pub fn exists(&self, path: &Path) -> bool {
        match self {
            Sources::Disk { .. } => path.exists() && !path.is_dir(),
            Sources::Archive(_) => self.is_file(path),
        }
    }

    pub fn is_folder(&self, path: &Path) -> bool {
        match self {
            Sources::Disk { .. } => path.is_dir(),
            Sources::Archive(packed) => {
                let path = &*shared(path);
                // Paths sort by component, so the contents of a folder follow it.
                let after = packed.files.range::<Path, _>((
                    std::ops::Bound::Excluded(path),
                    std::ops::Bound::Unbounded,
                ));
                after.take(1).any(|(inside, _)| inside.starts_with(path))
            }
        }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(&self, path: &Path) -> Result<Arc<[u8]>, String> {
        match self {
            Sources::Disk { read, .. } => {
                let bytes = read_file(path).map_err(|error| error.to_string())?;
                let bytes: Arc<[u8]> = bytes.into();
                keep(read, |packed| {
                    packed.files.insert(path.to_owned(), Arc::clone(&bytes));
                });
                Ok(bytes)
            }
            Sources::Archive(packed) => packed
                .files
                .get(&*shared(path))
                .cloned()
                .ok_or_else(|| "it is not in the archive".to_owned()),
        }
    }

    /// The content at an `https://` address.
    ///
    /// # Errors
    /// Why it cannot be fetched.
    pub fn fetch(&self, address: &str) -> Result<Arc<[u8]>, String> {
        match self {
            Sources::Disk { fetch: None, .. } => {
                Err(format!("cannot fetch {address}: this run is offline"))
            }
            Sources::Disk {
                fetch: Some(fetch),
                read,
            } => {
                let bytes: Arc<[u8]> = fetch_script(fetch, address)?.into();
                keep(read, |packed| {
                    packed
                        .web
                        .insert(Sources::web_key(address), Arc::clone(&bytes));
                });
                Ok(bytes)
            }
            Sources::Archive(packed) => packed
                .web
                .get(&Sources::web_key(address))
                .cloned()
                .ok_or_else(|| format!("{address} is not in the archive")),
        }
    }

    /// The content of an `https://` address, from a local copy.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn copy(&self, address: &str, file: &Path) -> Result<Arc<[u8]>, String> {
        let Sources::Disk { read, .. } = self else {
            return self.fetch(address);
        };
        let bytes = read_file(file).map_err(|error| {
            format!(
                "cannot read {}, the copy of {address}: {error}",
                file.display()
            )
        })?;
        let bytes: Arc<[u8]> = bytes.into();
        keep(read, |packed| {
            packed
                .web
                .insert(Sources::web_key(address), Arc::clone(&bytes));
        });
        Ok(bytes)
    }

    /// The name of an address in an archive.
    pub fn web_key(address: &str) -> String {
        super::location::unescape(address.strip_prefix("https://").unwrap_or(address))
    }

    /// Everything read so far, if it was kept.
    pub fn kept(&self) -> Packed {
        match self {
            Sources::Disk {
                read: Some(read), ..
            } => read.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            Sources::Disk { read: None, .. } => Packed::default(),
            Sources::Archive(packed) => packed.clone(),
        }
    }
}

/// Fetches a script, or a module of a script.
///
/// # Errors
/// Why it cannot be fetched.
pub fn fetch_script(fetch: &Fetch, address: &str) -> Result<Vec<u8>, String> {
    // k6's library site serves the script itself only with this query, and otherwise a page about it.
    let separator = if address.contains('?') { '&' } else { '?' };
    fetch(&format!("{address}{separator}_k6=1")).or_else(|_| fetch(address))
}

fn keep(read: &Option<Mutex<Packed>>, add: impl FnOnce(&mut Packed)) {
    if let Some(read) = read {
        add(&mut read.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The name of a path in an archive. As in k6, user names are removed, so that the packer's home directory stays
/// private.
pub fn shared(path: &Path) -> std::borrow::Cow<'_, Path> {
    for homes in ["/home", "/Users"] {
        if let Ok(inside) = path.strip_prefix(homes) {
            let mut parts = inside.components();
            // A file directly in /home does not belong to a user.
            if parts.next().is_some() && parts.clone().next().is_some() {
                return Path::new(homes).join("nobody").join(parts).into();
            }
        }
    }
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(paths: &[&str]) -> Sources {
        let files = paths
            .iter()
            .map(|path| (PathBuf::from(path), Arc::from(path.as_bytes())));
        Sources::Archive(Packed {
            files: files.collect(),
            web: BTreeMap::from([("a.example/x y.js?v=1".to_owned(), Arc::from(&b"web"[..]))]),
        })
    }

    #[test]
    fn a_script_from_an_archive_reads_only_the_archive() {
        let sources = archive(&["/w/a.js", "/w/deep/b.js", "/home/nobody/c.js"]);
        assert!(sources.is_file(Path::new("/w/a.js")));
        assert!(!sources.is_file(Path::new("/etc/passwd")));
        assert!(sources.read(Path::new("/etc/passwd")).is_err());
        assert!(sources.is_folder(Path::new("/w/deep")));
        assert!(!sources.is_folder(Path::new("/w/dee")));
        assert!(!sources.is_folder(Path::new("/w/a.js")));
        assert_eq!(
            &*sources.read(Path::new("/home/ann/c.js")).unwrap(),
            b"/home/nobody/c.js"
        );
        assert_eq!(
            &*sources.fetch("https://a.example/x%20y.js?v=1").unwrap(),
            b"web"
        );
        assert!(sources.fetch("https://a.example/z.js").is_err());
    }

    #[test]
    fn user_names_are_removed_from_paths() {
        let name_of = |path| shared(Path::new(path)).display().to_string();
        assert_eq!(name_of("/home/ann/tests/a.js"), "/home/nobody/tests/a.js");
        assert_eq!(name_of("/Users/ann/a.js"), "/Users/nobody/a.js");
        assert_eq!(name_of("/home/a.js"), "/home/a.js");
        assert_eq!(name_of("/srv/home/ann/a.js"), "/srv/home/ann/a.js");
    }
}
