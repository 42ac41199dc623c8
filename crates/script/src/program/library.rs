//! All files of a program: read, fetched, compiled once; then the same for every user.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::compile::{Compiled, compile};
use super::packages::{self, ImportMap};
use super::{Location, location};

/// Fetches an `https://` address.
pub type Fetch = Box<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

/// All files of a program.
pub struct Library {
    entry: Location,
    /// What relative paths of an entry without a file of its own are relative to.
    folder: PathBuf,
    fetch: Option<Fetch>,
    import_map: ImportMap,
    modules: RwLock<HashMap<String, Arc<Compiled>>>,
    /// By importing module and specifier: the full name.
    resolved: RwLock<HashMap<String, HashMap<String, String>>>,
    files: RwLock<BTreeMap<PathBuf, Arc<[u8]>>>,
    sealed: AtomicBool,
}

impl Library {
    pub fn new(
        entry: Location,
        folder: PathBuf,
        fetch: Option<Fetch>,
        import_map: ImportMap,
    ) -> Self {
        Self {
            entry,
            folder,
            fetch,
            import_map,
            modules: RwLock::default(),
            resolved: RwLock::default(),
            files: RwLock::default(),
            sealed: AtomicBool::new(false),
        }
    }

    /// The script itself.
    pub fn entry(&self) -> &Location {
        &self.entry
    }

    /// Adds the script's own source.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn add_entry(&self, source: &[u8], may_be_typescript: bool) -> Result<(), String> {
        let compiled = compile(&self.entry, source, may_be_typescript)?;
        write(&self.modules).insert(self.entry.name(), Arc::new(compiled));
        Ok(())
    }

    /// From now on nothing is read any more: users find what the first run of the init code has found.
    pub fn seal(&self) {
        self.sealed.store(true, Ordering::Release);
    }

    fn is_sealed(&self) -> bool {
        self.sealed.load(Ordering::Acquire)
    }

    /// The full name of what the module `base` calls `specifier`.
    ///
    /// # Errors
    /// Why there is no such module.
    pub fn resolve(&self, base: &str, specifier: &str) -> Result<String, String> {
        if let Some(name) = read(&self.resolved)
            .get(base)
            .and_then(|names| names.get(specifier))
        {
            return Ok(name.clone());
        }
        if self.is_sealed() {
            return Err(format!(
                "the module {specifier:?} was not loaded when the script first ran, and no module can be added later"
            ));
        }
        let found = self.find(base, specifier).map_err(|reason| {
            format!("cannot load the module {specifier:?} for {base}: {reason}")
        })?;
        let name = found.name();
        write(&self.resolved)
            .entry(base.to_owned())
            .or_default()
            .insert(specifier.to_owned(), name.clone());
        Ok(name)
    }

    fn find(&self, base: &str, specifier: &str) -> Result<Location, String> {
        let mapped = self.import_map.find(specifier);
        let specifier = mapped.as_deref().unwrap_or(specifier);
        let base = Location::of_name(base).unwrap_or_else(|| self.entry.clone());
        match location::join(&base, specifier) {
            Ok(Location::File(path)) => match packages::existing(&path) {
                Some(file) => Ok(Location::File(file)),
                None => Err(format!("there is no file {}", path.display())),
            },
            Ok(found) => Ok(found),
            Err(Some(reason)) => Err(reason),
            Err(None) => match &base {
                Location::File(file) => {
                    let folder = file.parent().unwrap_or(Path::new("/"));
                    packages::in_node_modules(folder, specifier)?.map(Location::File).ok_or_else(|| {
                        "it is neither one of k6's modules, nor a path (./…), nor an https:// address, nor a package \
                         in node_modules"
                            .to_owned()
                    })
                }
                _ => Err(
                    "it is neither one of k6's modules, nor a path (./…), nor an https:// address"
                        .to_owned(),
                ),
            },
        }
    }

    /// The compiled module of that full name.
    ///
    /// # Errors
    /// Why it cannot be read or compiled.
    pub fn module(&self, name: &str) -> Result<Arc<Compiled>, String> {
        if let Some(compiled) = read(&self.modules).get(name) {
            return Ok(Arc::clone(compiled));
        }
        if self.is_sealed() {
            return Err(format!(
                "the module {name} was not loaded when the script first ran"
            ));
        }
        let location =
            Location::of_name(name).ok_or_else(|| format!("there is no module {name}"))?;
        let (source, typescript) = match &location {
            Location::File(path) => {
                let source = std::fs::read(path)
                    .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                (
                    source,
                    matches!(location.extension().as_str(), "ts" | "mts" | "cts"),
                )
            }
            Location::Web(address) => (self.fetch(address)?, false),
            Location::BuiltIn(_) => return Err(format!("{name} has no source")),
        };
        let compiled = Arc::new(compile(&location, &source, typescript)?);
        write(&self.modules).insert(name.to_owned(), Arc::clone(&compiled));
        Ok(compiled)
    }

    fn fetch(&self, address: &str) -> Result<Vec<u8>, String> {
        let Some(fetch) = &self.fetch else {
            return Err(format!("cannot fetch {address}: this run is offline"));
        };
        // k6's own library pages answer this query with the script instead of a page about it.
        let separator = if address.contains('?') { '&' } else { '?' };
        fetch(&format!("{address}{separator}_k6=1")).or_else(|_| fetch(address))
    }

    /// The bytes of a file opened by the script in module `base`.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn open(&self, base: Option<&str>, path: &str) -> Result<Arc<[u8]>, String> {
        let path = self.path(base, path)?;
        if let Some(bytes) = read(&self.files).get(&path) {
            return Ok(Arc::clone(bytes));
        }
        if self.is_sealed() {
            return Err(format!(
                "{} was not opened when the script first ran; open it there, in all users alike",
                path.display()
            ));
        }
        if path.is_dir() {
            return Err(format!(
                "{} is a folder, which cannot be opened",
                path.display()
            ));
        }
        let bytes = std::fs::read(&path)
            .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        let bytes = Arc::<[u8]>::from(bytes);
        write(&self.files).insert(path, Arc::clone(&bytes));
        Ok(bytes)
    }

    /// The path that `open(path)` in module `base` means.
    pub fn path(&self, base: Option<&str>, path: &str) -> Result<PathBuf, String> {
        if path.is_empty() {
            return Err("open() needs a file's name".to_owned());
        }
        let base = base
            .and_then(Location::of_name)
            .unwrap_or_else(|| self.entry.clone());
        let base = match base {
            Location::File(file) => Location::File(file),
            _ => Location::File(self.folder.join("-")),
        };
        let relative = path.starts_with('/') || path.contains("://");
        let path = if relative {
            path.to_owned()
        } else {
            format!("./{path}")
        };
        match location::join(&base, &path) {
            Ok(Location::File(path)) => Ok(path),
            Ok(_) | Err(None) => Err(format!("{path} cannot be opened: only local files can")),
            Err(Some(reason)) => Err(reason),
        }
    }
}

/// A lock that a panic elsewhere cannot make unusable: no writer leaves a map half changed.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
