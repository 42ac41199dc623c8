//! All files of a program. They are read or fetched and compiled once, then shared by all users.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use plimsoll_k6::files::Files;
use plimsoll_quickjs::{Bytecode, Context};

use super::compile::{Compiled, compile};
use super::imports::outermost_file;
use super::packages::{self, ImportMap};
use super::sources::Sources;
use super::{Location, location};

pub struct Library {
    entry: Location,
    /// The folder that relative paths are relative to if the script is not a file.
    folder: PathBuf,
    sources: Sources,
    import_map: ImportMap,
    modules: RwLock<HashMap<String, Arc<Compiled>>>,
    /// Full names of modules, by importing module and specifier.
    resolved: RwLock<HashMap<String, HashMap<String, String>>>,
    files: RwLock<BTreeMap<PathBuf, Arc<[u8]>>>,
    sealed: AtomicBool,
    /// The first error of a module that could not be loaded.
    missing: OnceLock<String>,
}

impl Library {
    pub fn new(entry: Location, folder: PathBuf, sources: Sources, import_map: ImportMap) -> Self {
        Self {
            entry,
            folder,
            sources,
            import_map,
            modules: RwLock::default(),
            resolved: RwLock::default(),
            files: RwLock::default(),
            sealed: AtomicBool::new(false),
            missing: OnceLock::new(),
        }
    }

    /// The script itself.
    pub fn entry(&self) -> &Location {
        &self.entry
    }

    /// The sources of its files.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Adds the script's own source.
    ///
    /// # Errors
    /// The error in the source, with its position.
    pub fn add_entry(&self, source: &[u8], may_be_typescript: bool) -> Result<(), String> {
        let compiled = compile(&self.entry, source, may_be_typescript)?;
        write(&self.modules).insert(self.entry.name(), Arc::new(compiled));
        Ok(())
    }

    /// Stops all further reading: users find only files that the first run of the init code loaded.
    pub fn seal(&self) {
        self.sealed.store(true, Ordering::Release);
    }

    fn is_sealed(&self) -> bool {
        self.sealed.load(Ordering::Acquire)
    }

    /// The full name of the module that `base` imports as `specifier`.
    ///
    /// # Errors
    /// Why the module cannot be found.
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
            self.missed(format!(
                "cannot load the module {specifier:?} for {base}: {reason}"
            ))
        })?;
        let name = found.name();
        write(&self.resolved)
            .entry(base.to_owned())
            .or_default()
            .insert(specifier.to_owned(), name.clone());
        Ok(name)
    }

    fn missed(&self, reason: String) -> String {
        let _ = self.missing.set(reason.clone());
        reason
    }

    /// The first error of a module that could not be loaded, if any.
    pub fn missing(&self) -> Option<&str> {
        self.missing.get().map(String::as_str)
    }

    fn find(&self, base: &str, specifier: &str) -> Result<Location, String> {
        let mapped = self.import_map.find(specifier);
        let specifier = mapped.as_deref().unwrap_or(specifier);
        let base = Location::of_name(base).unwrap_or_else(|| self.entry.clone());
        match location::join(&base, specifier) {
            Ok(Location::File(path)) => match packages::existing(&self.sources, &path) {
                Some(file) => Ok(Location::File(file)),
                None => Err(format!("there is no file {}", path.display())),
            },
            Ok(found) => Ok(found),
            Err(Some(reason)) => Err(reason),
            Err(None) => match &base {
                Location::File(file) => {
                    let folder = file.parent().unwrap_or(Path::new("/"));
                    packages::in_node_modules(&self.sources, folder, specifier)?.map(Location::File).ok_or_else(|| {
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

    /// The compiled module with that full name.
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
        let (source, typescript) = self
            .source(&location)
            .map_err(|reason| self.missed(reason))?;
        let compiled = compile(&location, &source, typescript).map_err(|why| self.missed(why))?;
        let compiled = Arc::new(compiled);
        write(&self.modules).insert(name.to_owned(), Arc::clone(&compiled));
        Ok(compiled)
    }

    /// The contents of a text file. The path is relative to the script.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_text(&self, path: &str) -> Result<String, String> {
        let path = self.path(None, path)?;
        let read = self.sources.read(&path);
        let bytes = read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        String::from_utf8(bytes.to_vec()).map_err(|_| format!("{} is not text", path.display()))
    }

    /// The modules that were loaded from the network, by address, if files were kept.
    pub fn web_modules(&self) -> BTreeMap<String, Arc<[u8]>> {
        let kept = self.sources.kept().web;
        let modules = read(&self.modules);
        let loaded = modules.keys().filter(|name| **name != self.entry.name());
        let loaded = loaded.filter(|name| name.starts_with("https://"));
        loaded
            .filter_map(|address| {
                let content = kept.get(&Sources::web_key(address))?;
                Some((address.clone(), Arc::clone(content)))
            })
            .collect()
    }

    /// The compiled code, once it is complete.
    pub fn code(&self) -> Vec<Bytecode> {
        if !self.is_sealed() {
            return Vec::new();
        }
        let modules = read(&self.modules);
        modules
            .values()
            .filter_map(|compiled| match &**compiled {
                Compiled::Module { code, .. } | Compiled::CommonJs { code, .. } => {
                    Some(code.clone())
                }
                Compiled::Json(_) => None,
            })
            .collect()
    }

    /// The compiled CommonJS files.
    pub fn common_js(&self) -> Vec<Bytecode> {
        let modules = read(&self.modules);
        modules
            .values()
            .filter_map(|compiled| match &**compiled {
                Compiled::CommonJs { code, .. } => Some(code.clone()),
                Compiled::Module { .. } | Compiled::Json(_) => None,
            })
            .collect()
    }

    /// A module's text, and whether it may be TypeScript.
    pub(super) fn source(&self, location: &Location) -> Result<(Arc<[u8]>, bool), String> {
        match location {
            Location::File(path) => {
                let source = self.sources.read(path);
                let source =
                    source.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                let typescript = matches!(location.extension().as_str(), "ts" | "mts" | "cts");
                Ok((source, typescript))
            }
            Location::Web(address) => {
                let source = self.web_source(address);
                let source = source.map_err(|error| match self.importer(address) {
                    Some(place) => format!("{error} (imported at {place})"),
                    None => error,
                })?;
                Ok((source, false))
            }
            Location::BuiltIn(_) => Err(format!("{} has no source", location.name())),
        }
    }
}

impl Library {
    fn web_source(&self, address: &str) -> Result<Arc<[u8]>, String> {
        let source = match self.import_map.copy(address) {
            Some(file) => self.sources.copy(address, file)?,
            None => self.sources.fetch(address)?,
        };
        if let Some(integrity) = self.import_map.integrity(address) {
            integrity.check(address, &source)?;
        }
        Ok(source)
    }

    /// The file that imports a module, with the line if it can be found.
    fn importer(&self, name: &str) -> Option<String> {
        let resolved = read(&self.resolved);
        let importers = resolved.iter().flat_map(|(base, names)| {
            let specifiers = names.iter().filter(|(_, found)| *found == name);
            specifiers.map(move |(specifier, _)| (base, specifier))
        });
        let (base, specifier) = importers.min()?;
        let Some(Location::File(path)) = Location::of_name(base) else {
            return Some(base.clone());
        };
        let text = self.sources.read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().position(|line| line.contains(&**specifier));
        Some(match line {
            Some(before) => format!("{}:{}", path.display(), before + 1),
            None => path.display().to_string(),
        })
    }
}

impl Files for Library {
    fn base(&self, context: &Context) -> Option<String> {
        outermost_file(context)
    }

    fn exists(&self, path: &Path) -> bool {
        self.sources.exists(path)
    }

    fn open(&self, base: Option<&str>, path: &str) -> Result<Arc<[u8]>, String> {
        let path = self.path(base, path)?;
        if let Some(bytes) = read(&self.files).get(&path) {
            return Ok(Arc::clone(bytes));
        }
        if self.is_sealed() {
            return Err(format!(
                "{} was not opened when the script first ran; open it in the init code of every user",
                path.display()
            ));
        }
        if self.sources.is_folder(&path) {
            return Err(format!(
                "{} is a folder, which cannot be opened",
                path.display()
            ));
        }
        let bytes = self
            .sources
            .read(&path)
            .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        write(&self.files).insert(path, Arc::clone(&bytes));
        Ok(bytes)
    }

    fn path(&self, base: Option<&str>, path: &str) -> Result<PathBuf, String> {
        if path.is_empty() {
            return Err("open() needs a file name".to_owned());
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

/// Takes a lock even if another thread panicked: no writer leaves a map half-changed.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
