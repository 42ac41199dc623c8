//! From a script's source to a program: compiled, its init code run once, its exports known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use plimsoll_engine::UserId;
use plimsoll_samples::Registry;
use serde_json::Value as Json;

use crate::exported::{self, NoJson};
use crate::failure::ScriptError;
use crate::instance::Instance;
use crate::once;
use crate::program::{Fetch, ImportMap, Library, Location, Packed, Sources, normalize};
use crate::user::{Common, Log, RunOptions, User};

/// What a script is loaded with.
pub struct LoadSettings {
    /// The script's file; for one that was piped in, a file in the working
    /// directory that need not exist; for one from the network its `https://`
    /// address.
    pub path: PathBuf,
    /// Its text.
    pub source: Vec<u8>,
    /// It may be TypeScript whatever its file's name is.
    pub may_be_typescript: bool,
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Where its metrics are declared.
    pub registry: Arc<Registry>,
    /// Where its console goes.
    pub log: Log,
    /// Fetches `https://` modules; absent when offline without a cache.
    pub fetch: Option<Fetch>,
    /// Bare names of modules.
    pub import_map: ImportMap,
    /// An archive's files. Then nothing is read from the disk or the network.
    pub archive: Option<Packed>,
    /// Keep what is read, for [`Program::files`].
    pub keep_files: bool,
}

/// A script, compiled, whose init code has run once. Users are made of it on
/// any thread.
#[derive(Clone)]
pub struct Program {
    pub(crate) common: Arc<Common>,
    exports: Arc<Exports>,
}

struct Exports {
    functions: Vec<String>,
    /// What is exported and is no function.
    others: Vec<String>,
    options: Json,
}

impl Program {
    /// Compiles the script and all it imports, and runs its init code once, as
    /// `__VU` 0. Blocks until that is done.
    ///
    /// # Errors
    /// What cannot be read or compiled, or what the init code threw.
    pub fn load(settings: LoadSettings) -> Result<Program, ScriptError> {
        let (entry, folder) = place(&settings.path)?;
        let typescript = settings.may_be_typescript
            || matches!(entry.extension().as_str(), "ts" | "mts" | "cts");
        let sources = match settings.archive {
            Some(packed) => Sources::Archive(packed),
            None => Sources::Disk {
                fetch: settings.fetch,
                read: settings.keep_files.then(Default::default),
            },
        };
        let common = Arc::new(Common {
            library: Library::new(entry, folder, sources, settings.import_map),
            registry: settings.registry,
            shared_arrays: Default::default(),
            described: Default::default(),
            log: settings.log,
            env: settings.env.into_iter().collect(),
            run: OnceLock::new(),
            option_changes: OnceLock::new(),
            setup_data: OnceLock::new(),
        });
        let source = settings.source;
        once::on_own_thread(move || {
            common
                .library
                .add_entry(&source, typescript)
                .map_err(ScriptError::Unreadable)?;
            let ran = once::block_on(first_run(Arc::clone(&common))).map_err(|error| {
                let reason = plimsoll_machine::shortage::explain(&error);
                ScriptError::Unusable(format!("could not start an event loop: {reason}"))
            })?;
            let exports = ran.map_err(|error| match (error, common.library.missing()) {
                // Not the script's own doing, unless it threw something else after all.
                (ScriptError::Exception(text), Some(reason)) if text.contains(reason) => {
                    ScriptError::Unreadable(text)
                }
                (error, _) => error,
            })?;
            common.library.seal();
            Ok(Program {
                common,
                exports: Arc::new(exports),
            })
        })
    }

    /// The files that it loaded and opened besides the script itself, if they were kept.
    pub fn files(&self) -> Packed {
        self.common.library.sources().kept()
    }

    /// The names of the functions that the script exports.
    pub fn functions(&self) -> &[String] {
        &self.exports.functions
    }

    /// Its exported `options`; null if there are none.
    pub fn options(&self) -> &Json {
        &self.exports.options
    }

    /// Tells the program what holds for the run. Only the first call counts.
    pub fn set_run(&self, options: RunOptions) {
        let all: Json = serde_json::from_str(&options.script_options).unwrap_or_default();
        let _ = self
            .common
            .option_changes
            .set(changes_to(self.options(), &all));
        let _ = self.common.run.set(Arc::new(options));
    }

    /// What set-up returned, as JSON; none if it returned nothing.
    pub fn setup_data(&self) -> Option<Json> {
        let text = self.common.setup_data.get()?.as_deref()?;
        serde_json::from_str(text).ok()
    }

    /// Whether the script exports something of that name that is no function.
    pub(crate) fn has_other(&self, name: &str) -> bool {
        self.exports.others.iter().any(|other| other == name)
    }

    /// Whether the script exports a function of that name.
    pub fn has(&self, function: &str) -> bool {
        self.exports.functions.iter().any(|name| name == function)
    }
}

/// Where the script is, and what relative paths of files that it opens are relative to.
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

/// The consolidated options that differ from what the script has, each as JSON. What nobody set is not among them.
fn changes_to(own: &Json, all: &Json) -> Vec<(String, String)> {
    let all = all.as_object().into_iter().flatten();
    let changed =
        all.filter(|(key, value)| !value.is_null() && own.get(key.as_str()) != Some(value));
    changed
        .map(|(key, value)| (key.clone(), value.to_string()))
        .collect()
}

/// Runs the init code for the first time, and looks at what it exports.
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
                    "the exported {name:?} is no function: export function {name}() {{ … }}, or leave it out"
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
                ScriptError::Exception(format!("the exported options are no JSON: {error}"))
            })?,
            Err(NoJson::Thrown(fault)) => return Err(thrown(fault)),
            Err(NoJson::Holds(what)) => {
                return Err(ScriptError::Unusable(format!(
                    "the exported options hold {what}, which options cannot"
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
