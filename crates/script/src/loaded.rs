//! Loads a program from a script's source: compiles it, runs its init code once and reads its exports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use plimsoll_engine::UserId;
use plimsoll_k6::files::Files;
use plimsoll_k6::secrets::Secrets;
use plimsoll_k6::user::{Common, Log, RunOptions, User};
use plimsoll_quickjs::check_threads;
use plimsoll_samples::Registry;
use serde_json::Value as Json;

use crate::exported::{self, NoJson};
use crate::failure::ScriptError;
use crate::instance::Instance;
use crate::once;
use crate::program::{
    Dependencies, Fetch, ImportMap, Library, Location, Packed, Sources, normalize,
};

/// Settings for loading a script.
pub struct LoadSettings {
    /// The script's file. For a script from stdin, it is a file in the working directory that need not exist. For one
    /// from the network, it is the `https://` address.
    pub path: PathBuf,
    /// The script's source.
    pub source: Vec<u8>,
    /// Accept TypeScript regardless of the file name.
    pub may_be_typescript: bool,
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Scripts cannot change `__ENV`.
    pub freezes_env: bool,
    /// Callbacks run with the tags and metadata with which they were registered.
    pub keeps_metric_context: bool,
    /// The registry in which the script's metrics are declared.
    pub registry: Arc<Registry>,
    /// The destination of the script's console messages.
    pub log: Log,
    /// Fetches `https://` modules; `None` when offline without a cache.
    pub fetch: Option<Fetch>,
    /// The import map for bare module names.
    pub import_map: ImportMap,
    /// An archive's files. If set, nothing is read from disk or from the network.
    pub archive: Option<Packed>,
    /// Keep the files that are read, for [`Program::files`].
    pub keep_files: bool,
    /// The secrets that the script may read.
    pub secrets: Arc<Secrets>,
}

impl LoadSettings {
    /// The files and modules that the script imports. The script is not run to find them.
    ///
    /// # Errors
    /// If a module cannot be found, read or fetched.
    pub fn dependencies(mut self) -> Result<Dependencies, ScriptError> {
        let (library, typescript) = self.library()?;
        library
            .dependencies(&self.source, typescript)
            .map_err(ScriptError::Unreadable)
    }

    /// An empty library for the script, and whether the script may be TypeScript.
    fn library(&mut self) -> Result<(Library, bool), ScriptError> {
        let (entry, folder) = place(&self.path)?;
        let typescript =
            self.may_be_typescript || matches!(entry.extension().as_str(), "ts" | "mts" | "cts");
        let sources = match self.archive.take() {
            Some(packed) => Sources::Archive(packed),
            None => Sources::Disk {
                fetch: self.fetch.take(),
                read: self.keep_files.then(Default::default),
            },
        };
        let import_map = std::mem::take(&mut self.import_map);
        Ok((Library::new(entry, folder, sources, import_map), typescript))
    }
}

/// A compiled script whose init code has run once. Users can be created from it on any thread.
#[derive(Clone)]
pub struct Program {
    pub(crate) common: Arc<Common>,
    library: Arc<Library>,
    exports: Arc<Exports>,
}

struct Exports {
    functions: Vec<String>,
    /// Names of the exports that are not functions.
    others: Vec<String>,
    options: Json,
}

impl Program {
    /// Compiles the script and everything that it imports, and runs its init code once with `__VU` 0. Blocks until that
    /// is done.
    ///
    /// # Errors
    /// If a file cannot be read or compiled, if the init code throws, or if the machine is short of threads or memory.
    pub fn load(mut settings: LoadSettings) -> Result<Program, ScriptError> {
        check_threads()?;
        let (library, typescript) = settings.library()?;
        let library = Arc::new(library);
        let common = Arc::new(Common {
            files: Arc::clone(&library) as Arc<dyn Files>,
            registry: settings.registry,
            shared_arrays: Default::default(),
            feeders: Default::default(),
            described: Default::default(),
            browser: Default::default(),
            log: settings.log,
            secrets: settings.secrets,
            env: settings.env.into_iter().collect(),
            freezes_env: settings.freezes_env,
            keeps_metric_context: settings.keeps_metric_context,
            run: OnceLock::new(),
            option_changes: OnceLock::new(),
            setup_data: Default::default(),
        });
        let source = settings.source;
        once::on_own_thread(move || {
            library
                .add_entry(&source, typescript)
                .map_err(ScriptError::Unreadable)?;
            let ran = once::block_on(first_run(Arc::clone(&common))).map_err(|error| {
                let reason = plimsoll_machine::shortage::explain(&error);
                ScriptError::Unusable(format!("could not start an event loop: {reason}"))
            })?;
            let exports = ran.map_err(|error| match (error, library.missing()) {
                // The exception reports the unreadable file, unless the script threw another error.
                (ScriptError::Exception(text), Some(reason)) if text.contains(reason) => {
                    ScriptError::Unreadable(text)
                }
                (error, _) => error,
            })?;
            library.seal();
            Ok(Program {
                common,
                library,
                exports: Arc::new(exports),
            })
        })
    }

    /// The files, in addition to the script itself, that it loaded and opened, if they were kept.
    pub fn files(&self) -> Packed {
        self.library.sources().kept()
    }

    /// The modules that it loaded from the network, by address, if files were kept.
    pub fn web_modules(&self) -> BTreeMap<String, Arc<[u8]>> {
        self.library.web_modules()
    }

    /// The contents of a file that is not part of the script itself. The path is relative to the script. The contents
    /// are kept with the other files.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_text(&self, path: &str) -> Result<String, String> {
        self.library.read_text(path)
    }

    /// The names of the functions that the script exports.
    pub fn functions(&self) -> &[String] {
        &self.exports.functions
    }

    /// The script's exported `options`, or null if there are none.
    pub fn options(&self) -> &Json {
        &self.exports.options
    }

    /// Sets the options of the run. Only the first call has an effect.
    pub fn set_run(&self, options: RunOptions) {
        let all: Json = serde_json::from_str(&options.script_options).unwrap_or_default();
        let _ = self
            .common
            .option_changes
            .set(changes_to(self.options(), &all));
        let _ = self.common.run.set(Arc::new(options));
    }

    /// The result of `setup` as JSON. `None` if it returned nothing.
    pub fn setup_data(&self) -> Option<Json> {
        let text = self.common.setup_data.text()?;
        serde_json::from_str(&text).ok()
    }

    /// Sets the result of `setup` that users get, as JSON. Users that have already run an iteration keep theirs.
    pub fn set_setup_data(&self, data: Option<String>) {
        self.common.setup_data.set(data.map(Arc::from));
    }

    /// Whether the script has an export with that name that is not a function.
    pub(crate) fn has_other(&self, name: &str) -> bool {
        self.exports.others.iter().any(|other| other == name)
    }

    /// Whether the script exports a function with that name.
    pub fn has(&self, function: &str) -> bool {
        self.exports.functions.iter().any(|name| name == function)
    }
}

/// The script's location, and the folder that paths of opened files are relative to.
fn place(path: &Path) -> Result<(Location, PathBuf), ScriptError> {
    let unknown = |error: std::io::Error| {
        ScriptError::Exception(format!("cannot find {}: {error}", path.display()))
    };
    if let Some(address) = path.to_str().filter(|path| path.starts_with("https://")) {
        let folder = std::env::current_dir().map_err(unknown)?;
        return Ok((Location::Web(address.to_owned()), folder));
    }
    let path = normalize(&std::path::absolute(path).map_err(unknown)?);
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    Ok((Location::File(path), folder))
}

/// The consolidated options that differ from the script's own, each as JSON. Options that were not set anywhere
/// are left out.
fn changes_to(own: &Json, all: &Json) -> Vec<(String, String)> {
    let all = all.as_object().into_iter().flatten();
    let changed =
        all.filter(|(key, value)| !value.is_null() && own.get(key.as_str()) != Some(value));
    changed
        .map(|(key, value)| (key.clone(), value.to_string()))
        .collect()
}

/// Runs the init code for the first time and reads the exports.
async fn first_run(common: Arc<Common>) -> Result<Exports, ScriptError> {
    let instance = Instance::start(User::new(UserId(0), common, None), None).await?;
    instance.with_exports(|exports| {
        let read = || {
            let entries = exports.entries()?;
            let options = exported::to_json(&exports.get("options")?);
            Ok((entries, options))
        };
        let thrown = |thrown| ScriptError::thrown(exports.context(), thrown);
        let (entries, options) = read().map_err(thrown)?;
        let (functions, others): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .partition(|(_, value)| value.is_function());
        let names =
            |entries: Vec<(String, _)>| entries.into_iter().map(|(name, _)| name).collect();
        let (functions, others): (Vec<_>, Vec<String>) = (names(functions), names(others));
        for name in ["setup", "teardown"] {
            if others.iter().any(|other| other == name) {
                return Err(ScriptError::Unusable(format!(
                    "the exported {name:?} is not a function: export function {name}() {{ … }}, or leave it out"
                )));
            }
        }
        if functions.is_empty() {
            return Err(ScriptError::Unusable(
                "the script exports no function: export a default one, or those that scenarios name in exec"
                    .to_owned(),
            ));
        }
        let options = match options {
            Ok(json) => serde_json::from_str(&json).map_err(|error| {
                ScriptError::Exception(format!("the exported options are not JSON: {error}"))
            })?,
            Err(NoJson::Thrown(fault)) => return Err(thrown(fault)),
            Err(NoJson::Holds(what)) => {
                return Err(ScriptError::Unusable(format!(
                    "the exported options contain {what}, which is not allowed"
                )));
            }
        };
        Ok(Exports {
            functions,
            others,
            options,
        })
    })
}
