//! From a script and its options to a run that may start.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plan::{Exports, Layers, Options, Plan, Warning, consolidate};
use samples::{Registry, SystemTags, TagMap};
use script::logline::Level;
use script::{HttpOptions, ImportMap, LoadSettings, Program, RunOptions, ScriptError};

use crate::args::{OptionArgs, RuntimeArgs};
use crate::exit::Exit;
use crate::log::Log;
use crate::script_input::{self, ScriptInput};
use crate::{modules, option_flags, settings};

/// A script that was loaded, with the plan that its options come to.
pub struct Prepared {
    pub program: Program,
    pub plan: Plan,
    pub registry: Arc<Registry>,
    pub system_tags: SystemTags,
    pub run_tags: TagMap,
    pub source: String,
}

/// Why a run cannot start: what to say, and the exit status.
pub struct Refusal {
    pub message: String,
    pub exit: Exit,
}

impl Refusal {
    pub fn config(message: impl ToString) -> Refusal {
        Refusal {
            message: message.to_string(),
            exit: Exit::INVALID_CONFIG,
        }
    }

    pub fn generic(message: impl ToString) -> Refusal {
        Refusal {
            message: message.to_string(),
            exit: Exit::GENERIC,
        }
    }
}

impl From<ScriptError> for Refusal {
    fn from(error: ScriptError) -> Refusal {
        let exit = match &error {
            ScriptError::Exception(_) => Exit::SCRIPT_EXCEPTION,
            ScriptError::Unusable(_) => Exit::GENERIC,
            ScriptError::Aborted(_) => Exit::ABORTED_BY_SCRIPT,
        };
        Refusal {
            message: error.to_string(),
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
    include_system_env: bool,
) -> Result<Prepared, Refusal> {
    let flags = option_flags::read(flags).map_err(Refusal::generic)?;
    let env = script_input::environment(runtime, include_system_env).map_err(Refusal::config)?;
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let variables = Options::from_env(&variables).map_err(Refusal::config)?;
    let config = script_input::config(runtime.config.as_deref()).map_err(Refusal::config)?;
    let (config, config_warnings) =
        Options::from_config(config.unwrap_or_default()).map_err(Refusal::config)?;

    let input = ScriptInput::read(script).map_err(Refusal::generic)?;
    let source = String::from_utf8_lossy(&input.source).into_owned();
    let registry = Arc::new(Registry::new());
    let program = load(input, env, runtime, &registry, log)?;
    if program.functions().is_empty() {
        return Err(Refusal::generic(
            "the script exports no function: export a default one, or those its scenarios name in exec",
        ));
    }

    let (script_options, script_warnings) =
        Options::from_json(program.options().clone()).map_err(Refusal::config)?;
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
    let system_tags = system_tags(&plan.options);
    let run_tags: TagMap = plan
        .options
        .tags
        .clone()
        .unwrap_or_default()
        .into_iter()
        .collect();
    program.set_run(run_options(&plan, &system_tags, &run_tags).map_err(Refusal::config)?);
    Ok(Prepared {
        program,
        plan,
        registry,
        system_tags,
        run_tags,
        source,
    })
}

fn load(
    input: ScriptInput,
    env: BTreeMap<String, String>,
    runtime: &RuntimeArgs,
    registry: &Arc<Registry>,
    log: &Arc<Log>,
) -> Result<Program, Refusal> {
    let piped = input.path.as_os_str() == "-";
    let path = if piped {
        std::env::current_dir()
            .unwrap_or_else(|_| PathBuf::from("/"))
            .join("-")
    } else {
        input.path
    };
    let import_map = match &runtime.import_map {
        None => ImportMap::default(),
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Refusal::config(format!("--import-map {}: {error}", file.display()))
            })?;
            let file = std::path::absolute(file).map_err(Refusal::config)?;
            let folder = file.parent().unwrap_or(std::path::Path::new("/"));
            ImportMap::parse(&text, folder).map_err(Refusal::config)?
        }
    };
    let lines = Arc::clone(log);
    Ok(Program::load(LoadSettings {
        path,
        source: input.source,
        may_be_typescript: piped,
        env,
        registry: Arc::clone(registry),
        log: Arc::new(move |level, message, fields| lines.line(level, message, fields)),
        fetch: Some(modules::fetcher(runtime.offline)),
        import_map,
    })?)
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
            .filter_map(|tag| samples::SystemTag::from_key(tag.name()))
            .collect(),
    }
}

fn run_options(
    plan: &Plan,
    system_tags: &SystemTags,
    run_tags: &TagMap,
) -> Result<RunOptions, String> {
    let options = &plan.options;
    let agent = format!("plimsoll/{} (k6 compatible)", env!("CARGO_PKG_VERSION"));
    let client = settings::settings(options, &agent)?;
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
        tag_user: system_tags.has(samples::SystemTag::Vu),
        tag_iteration: system_tags.has(samples::SystemTag::Iter),
        tag_group: system_tags.has(samples::SystemTag::Group),
        tag_ip: system_tags.has(samples::SystemTag::Ip),
    })
}
