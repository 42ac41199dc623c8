use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use engine::UserId;
use samples::Registry;
use serde_json::Value as Json;

use crate::failure::ScriptError;
use crate::instance::Instance;
use crate::program::{Fetch, ImportMap, Library, Location};
use crate::user::{Common, Log, RunOptions, User};

/// What a script is loaded with.
pub struct LoadSettings {
    /// The script's file; for one that was piped in, a file in the working
    /// directory that need not exist.
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
}

/// A script, compiled, whose init code has run once. Users are made of it on
/// any thread.
#[derive(Clone)]
pub struct Program {
    pub(crate) common: Arc<Common>,
    exports: Arc<Exports>,
}

#[derive(Debug)]
struct Exports {
    functions: Vec<String>,
    options: Json,
}

impl Program {
    /// Compiles the script and all it imports, and runs its init code.
    ///
    /// # Errors
    /// What cannot be read or compiled, or what the init code threw.
    pub fn load(settings: LoadSettings) -> Result<Program, ScriptError> {
        let folder = settings.path.parent().map(PathBuf::from).unwrap_or_default();
        let typescript = settings.may_be_typescript
            || settings.path.extension().is_some_and(|ext| ["ts", "mts", "cts"].iter().any(|ts| ext == *ts));
        let entry = Location::File(settings.path);
        let library = Library::new(entry, folder, settings.fetch, settings.import_map);
        library.add_entry(&settings.source, typescript).map_err(ScriptError::Exception)?;
        let common = Arc::new(Common {
            library,
            registry: settings.registry,
            shared_arrays: Default::default(),
            log: settings.log,
            env: settings.env,
            run: Default::default(),
            setup_data: Default::default(),
        });
        let exports = crate::once::block_on(first_init(Arc::clone(&common)))
            .map_err(|error| ScriptError::Exception(format!("cannot start an event loop: {error}")))??;
        common.library.seal();
        Ok(Program { common, exports: Arc::new(exports) })
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
        let _ = self.common.run.set(options);
    }

    /// What set-up returned, as JSON; null if it returned nothing.
    pub fn setup_data(&self) -> Option<Json> {
        let text = self.common.setup_data.get()?.as_deref()?;
        serde_json::from_str(text).ok()
    }

    /// Whether the script exports a function of that name.
    pub fn has(&self, function: &str) -> bool {
        self.exports.functions.iter().any(|name| name == function)
    }
}

async fn first_init(common: Arc<Common>) -> Result<Exports, ScriptError> {
    let user = Rc::new(User::new(UserId(0), common, None));
    let instance = Instance::start(user).await?;
    let namespace = instance.namespace();
    let read = instance.runtime.enter(move |context| {
        let namespace = namespace.restore(context);
        let mut functions = Vec::new();
        let mut options = Json::Null;
        let read = || -> Result<(), crate::quickjs::Thrown> {
            for (name, value) in namespace.entries()? {
                if value.is_function() {
                    functions.push(name);
                } else if name == "default" && value.is_object() {
                    // A CommonJS script's exports.
                    continue;
                }
            }
            let exported = namespace.get("options")?;
            if let Some(text) = exported.to_json()? {
                options = serde_json::from_str(&text).unwrap_or(Json::Null);
            }
            Ok(())
        };
        let outcome = { let mut read = read; read() };
        outcome.map_err(|thrown| {
            ScriptError::Exception(crate::failure::describe(&context.take_exception(thrown)))
        })?;
        Ok::<_, ScriptError>(Exports { functions, options })
    });
    read
}
