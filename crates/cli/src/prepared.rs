//! From a script and its options to a run that may start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{Exports, Layers, Options, Plan, Warning, consolidate};
use plimsoll_samples::{Registry, SystemTags, TagMap};
use plimsoll_script::logline::Level;
use plimsoll_script::{
    Archive, HttpOptions, ImportMap, LoadSettings, Program, RunOptions, ScriptError,
};

use crate::args::{IoMode, OptionArgs, RuntimeArgs};
use crate::exit::Exit;
use crate::log::Log;
use crate::script_input::{self, ScriptInput};
use crate::{at_rate, modules, option_flags, settings};

/// A script that was loaded, with the plan that its options come to.
pub struct Prepared {
    pub program: Program,
    pub plan: Plan,
    /// What the script itself, or the archive, asks for, before anything else.
    pub own_options: Options,
    /// All layers together, nothing filled in.
    pub options: Options,
    pub registry: Arc<Registry>,
    pub system_tags: SystemTags,
    pub run_tags: TagMap,
    pub source: Vec<u8>,
    /// The script's file.
    pub path: PathBuf,
    /// The script's `__ENV`.
    pub env: BTreeMap<String, String>,
    pub import_map: ImportMap,
}

/// What a command asks of the preparation.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    /// Scripts get the system's variables unless told otherwise.
    pub system_env: bool,
    /// All files that the script loads are kept.
    pub keep_files: bool,
    pub io: IoMode,
}

/// Why a run cannot start: what to say, and the exit status.
pub struct Refusal {
    pub message: String,
    /// What kind of failure it is, or the way out, for a field of its own.
    pub hint: Option<&'static str>,
    pub exit: Exit,
}

/// The hint on what the script threw outside of iterations.
pub const THROWN: &str = "script exception";

impl Refusal {
    pub fn config(message: impl ToString) -> Refusal {
        Refusal {
            message: message.to_string(),
            hint: None,
            exit: Exit::INVALID_CONFIG,
        }
    }

    pub fn generic(message: impl ToString) -> Refusal {
        Refusal {
            message: message.to_string(),
            hint: None,
            exit: Exit::GENERIC,
        }
    }

    /// Says it in the log.
    pub fn tell(&self, log: &Log) -> Exit {
        log.failure(&self.message, "hint", self.hint);
        self.exit
    }
}

impl From<ScriptError> for Refusal {
    fn from(error: ScriptError) -> Refusal {
        let (hint, exit) = match &error {
            ScriptError::Unreadable(_) => (None, Exit::SCRIPT_EXCEPTION),
            ScriptError::Exception(_) => (Some(THROWN), Exit::SCRIPT_EXCEPTION),
            ScriptError::Unusable(_) => (None, Exit::GENERIC),
            ScriptError::Aborted(_) => (None, Exit::ABORTED_BY_SCRIPT),
        };
        Refusal {
            message: error.to_string(),
            hint,
            exit,
        }
    }
}

/// Loads the script and makes a plan of it.
///
/// # Errors
/// All that keeps the run from starting.
pub fn prepare(
    script: &str,
    runtime: &RuntimeArgs,
    flags: &OptionArgs,
    log: &Arc<Log>,
    purpose: Purpose,
) -> Result<Prepared, Refusal> {
    let (rate, max_users) = (flags.rate, flags.max_users);
    let mut flags = option_flags::read(flags).map_err(Refusal::generic)?;
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let variables = Options::from_env(&variables).map_err(Refusal::config)?;
    let config = script_input::config(runtime.config.as_deref()).map_err(Refusal::config)?;
    let (config, config_warnings) =
        Options::from_config(config.unwrap_or_default()).map_err(Refusal::config)?;

    check_dialect(runtime, log)?;
    let kind = runtime.kind.as_deref();
    let fetch = modules::script_fetcher(runtime.offline);
    let mut input = ScriptInput::read(script, kind, &fetch).map_err(Refusal::generic)?;
    let packed = match &mut input {
        ScriptInput::Archive(archive) => archive.env.take().unwrap_or_default(),
        ScriptInput::Script { .. } => BTreeMap::new(),
    };
    let env =
        script_input::environment(runtime, packed, purpose.system_env).map_err(Refusal::generic)?;
    let archived_options = match &mut input {
        ScriptInput::Archive(archive) => Some(archive.options.take()),
        ScriptInput::Script { .. } => None,
    };
    let registry = Arc::new(Registry::new());
    let log_lines = Arc::clone(log);
    let mut settings = LoadSettings {
        path: PathBuf::new(),
        source: Vec::new(),
        may_be_typescript: false,
        env: env.clone(),
        registry: Arc::clone(&registry),
        log: Arc::new(move |level, message, fields| log_lines.line(level, message, fields)),
        fetch: Some(modules::fetcher(runtime.offline)),
        import_map: import_map(runtime)?,
        archive: None,
        keep_files: purpose.keep_files,
    };
    take(input, &mut settings);
    let (path, source) = (settings.path.clone(), settings.source.clone());
    let import_map = settings.import_map.clone();
    let program = Program::load(settings)?;
    let (script_options, script_warnings) =
        Options::from_json(archived_options.unwrap_or_else(|| program.options().clone()))
            .map_err(Refusal::config)?;
    if let Some(rate) = rate {
        let scenarios = script_options.scenarios.as_ref();
        at_rate::shape(&mut flags, rate, max_users, scenarios).map_err(Refusal::config)?;
    }
    // What is said of them is said below.
    let (own_options, _) = consolidate(Layers {
        script: script_options.clone(),
        flags: flags.clone(),
        ..Layers::default()
    })
    .map_err(Refusal::config)?;
    let layers = Layers {
        config,
        script: script_options,
        env: variables,
        flags,
    };
    let (options, warnings) = consolidate(layers).map_err(Refusal::config)?;
    let exports = Exports {
        functions: program.functions().to_vec(),
    };
    let plan = Plan::build(&options, &exports).map_err(Refusal::config)?;
    for warning in [
        config_warnings,
        script_warnings,
        warnings,
        plan.warnings.clone(),
    ]
    .concat()
    {
        tell(log, &warning);
    }
    if plan.options.paused == Some(true) {
        log.warn(
            "`paused` does nothing: there is no control interface yet that could resume the run",
        );
    }
    let system_tags = system_tags(&plan.options);
    let run_tags: TagMap = plan
        .options
        .tags
        .clone()
        .unwrap_or_default()
        .into_iter()
        .collect();
    program
        .set_run(run_options(&plan, &system_tags, &run_tags, purpose.io).map_err(Refusal::config)?);
    Ok(Prepared {
        program,
        plan,
        own_options,
        options,
        registry,
        system_tags,
        run_tags,
        source,
        path,
        env,
        import_map,
    })
}

/// There is one dialect, which is all of k6's.
fn check_dialect(runtime: &RuntimeArgs, log: &Log) -> Result<(), Refusal> {
    match runtime.compatibility_mode.as_deref() {
        None | Some("" | "extended" | "base") => Ok(()),
        Some("experimental_enhanced") => {
            log.warn("--compatibility-mode experimental_enhanced: types are stripped from .ts files in any mode");
            Ok(())
        }
        Some(other) => Err(Refusal::generic(format!(
            "--compatibility-mode {other}: use extended or base"
        ))),
    }
}

/// Puts what was named as the script where the loader looks for it.
fn take(input: ScriptInput, settings: &mut LoadSettings) {
    match input {
        ScriptInput::Script {
            path,
            source,
            piped,
        } => {
            settings.path = path;
            settings.source = source;
            settings.may_be_typescript = piped;
        }
        ScriptInput::Archive(archive) => {
            let Archive {
                path,
                source,
                import_map,
                files,
                ..
            } = *archive;
            // One that was piped in has no name to tell its language by.
            settings.may_be_typescript = path.ends_with("-");
            settings.path = path;
            settings.source = source;
            if settings.import_map == ImportMap::default() {
                settings.import_map = import_map;
            }
            settings.archive = Some(files);
        }
    }
}

fn import_map(runtime: &RuntimeArgs) -> Result<ImportMap, Refusal> {
    let Some(file) = &runtime.import_map else {
        return Ok(ImportMap::default());
    };
    let text = plimsoll_script::read_text_file(file)
        .map_err(|error| Refusal::config(format!("--import-map {}: {error}", file.display())))?;
    let file = std::path::absolute(file).map_err(Refusal::config)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    ImportMap::parse(&text, folder).map_err(Refusal::config)
}

fn tell(log: &Log, warning: &Warning) {
    let fields = warning
        .fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    log.line(
        Level::Warning,
        &warning.message,
        &fields.collect::<Vec<_>>(),
    );
}

fn system_tags(options: &Options) -> SystemTags {
    match &options.system_tags {
        None => SystemTags::default(),
        // Both name the same tags.
        Some(tags) => tags
            .0
            .iter()
            .filter_map(|tag| plimsoll_samples::SystemTag::from_key(tag.name()))
            .collect(),
    }
}

fn run_options(
    plan: &Plan,
    system_tags: &SystemTags,
    run_tags: &TagMap,
    io: IoMode,
) -> Result<RunOptions, String> {
    let options = &plan.options;
    let agent = format!("plimsoll/{} (k6 compatible)", env!("CARGO_PKG_VERSION"));
    let client = settings::settings(plan, &agent, io)?;
    let minute = Duration::from_secs(60);
    let count = |value: Option<i64>, default| {
        value
            .and_then(|v| usize::try_from(v).ok())
            .unwrap_or(default)
    };
    let defaults = HttpOptions::default();
    Ok(RunOptions {
        options: options.to_test_json().to_string(),
        script_options: options.to_script_json().to_string(),
        http: HttpOptions {
            throw: options.throw.unwrap_or(false),
            discard_bodies: options.discard_response_bodies.unwrap_or(false),
            batch: count(options.batch, defaults.batch),
            batch_per_host: count(options.batch_per_host, defaults.batch_per_host),
            max_redirects: options.max_redirects.map(|n| u32::try_from(n).unwrap_or(0)),
        },
        client: Arc::new(client),
        tags: run_tags.clone(),
        keep_cookies: options.no_cookies_reset.unwrap_or(false),
        fresh_connections: options.no_vu_connection_reuse.unwrap_or(false),
        no_setup: options.no_setup.unwrap_or(false),
        no_teardown: options.no_teardown.unwrap_or(false),
        setup_timeout: options.setup_timeout.unwrap_or(minute),
        teardown_timeout: options.teardown_timeout.unwrap_or(minute),
        summary_timeout: options.handle_summary_timeout.unwrap_or(2 * minute),
        tag_user: system_tags.has(plimsoll_samples::SystemTag::Vu),
        tag_iteration: system_tags.has(plimsoll_samples::SystemTag::Iter),
        tag_group: system_tags.has(plimsoll_samples::SystemTag::Group),
        tag_ip: system_tags.has(plimsoll_samples::SystemTag::Ip),
    })
}
