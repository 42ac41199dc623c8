//! Prepares a run from a script and its options.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use log::Level;
use plimsoll_k6::feeders::RowShare;
use plimsoll_k6::http_state::{HttpDebug, HttpOptions};
use plimsoll_k6::secrets::Secrets;
use plimsoll_k6::user::{Log, RunOptions};
use plimsoll_machine::read_text_file;
use plimsoll_output::header::{Header, HeaderScenario};
use plimsoll_plan::{
    Division, Exports, Layers, Options, Plan, Segment, SegmentSequence, SourceNames, Warning,
    consolidate,
};
use plimsoll_samples::{Mask, Registry, SystemTags, TagMap};
use plimsoll_script::{Archive, ImportMap, LoadSettings, Program};

use crate::features::Features;
use crate::load_options::read_trace_file;
use crate::output_choice::OutputChoice;
use crate::progress_view::Extent;
use crate::rate_override::{self, RateOverride};
use crate::script_input::{ArchivedOptions, ScriptInput, SourceKind};
use crate::settings::IoMode;
use crate::tls_files::TlsFiles;
use crate::{Refusal, modules, settings};

/// A function that receives a script's log lines.
pub type ScriptLog = Log;

/// A loaded script, and the plan built from its options.
pub struct PreparedScript {
    pub program: Program,
    pub plan: Plan,
    /// The options of the script itself, or of the archive, without the other layers.
    pub own_options: Options,
    /// All layers of options combined, without defaults.
    pub options: Options,
    pub registry: Arc<Registry>,
    pub system_tags: SystemTags,
    pub run_tags: TagMap,
    /// The secrets that the script has read, if it has sources of secrets.
    pub mask: Option<Arc<Mask>>,
    pub source: Vec<u8>,
    pub path: PathBuf,
    /// The script's `__ENV`.
    pub env: BTreeMap<String, String>,
    /// The names of the variables that were set only for the script.
    pub given_env: Vec<String>,
    pub import_map: ImportMap,
}

impl PreparedScript {
    /// The maximum duration and number of users of a run.
    pub fn extent(&self) -> Extent {
        let needs = self.plan.requirements();
        Extent {
            longest: needs.duration_with_graceful_stop.unwrap_or_default(),
            users: needs.max_users,
        }
    }

    /// The plan for a segment of the run.
    ///
    /// # Errors
    /// If the segment is not in the sequence.
    pub fn plan_in(&self, segment: Segment, sequence: SegmentSequence) -> Result<Plan, Refusal> {
        let mut options = self.options.clone();
        options.execution_segment = Some(segment);
        options.execution_segment_sequence = Some(sequence);
        let exports = Exports {
            functions: self.program.functions().to_vec(),
        };
        Plan::build(&options, &exports).map_err(Refusal::config)
    }

    /// The header of a run of `script` with these outputs.
    pub fn header(&self, script: &str, outputs: &[OutputChoice]) -> Header {
        let extent = self.extent();
        let scenarios = self.plan.scenarios.iter();
        Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            script: script.to_owned(),
            outputs: outputs.iter().map(OutputChoice::describe).collect(),
            share: self.plan.segment.length(),
            users_max: extent.users,
            longest: extent.longest,
            scenarios: scenarios
                .map(|scenario| HeaderScenario {
                    name: scenario.name.clone(),
                    start_time: scenario.start_time,
                    description: scenario.description(),
                })
                .collect(),
        }
    }
}

/// A script, and everything that determines how it runs.
pub struct ScriptRequest {
    /// A file, an `https://` address, or `-` for stdin.
    pub script: String,
    pub kind: SourceKind,
    /// Options from the config file.
    pub config: Options,
    /// Problems with options in the config file that do not prevent the run.
    pub config_warnings: Vec<Warning>,
    /// Options from environment variables.
    pub variables: Options,
    pub flags: Options,
    /// A rate that replaces the script's scenario.
    pub rate: Option<RateOverride>,
    /// The default seed of random arrivals.
    pub arrivals_seed: Option<u64>,
    /// The environment of the process, if the script may see it.
    pub system_env: BTreeMap<String, String>,
    /// Variables that only the script sees.
    pub given_env: Vec<(String, String)>,
    pub import_map: Option<PathBuf>,
    /// Load modules only from the cache.
    pub is_offline: bool,
    /// Keep all files that the script loads.
    pub keep_files: bool,
    /// Accept options that cannot run, because the script is only read.
    pub is_only_read: bool,
    pub features: Features,
    /// Sources of secrets, in the form of `--secret-source`.
    pub secret_sources: Vec<String>,
    pub io: IoMode,
    /// Certificates for TLS, in addition to those in the script's options.
    pub tls: TlsFiles,
    /// The share of HTTP requests that traces record, if the run has traces.
    pub traced: Option<f64>,
}

impl ScriptRequest {
    /// A request for a script with only its own options.
    pub fn of(script: &str) -> ScriptRequest {
        ScriptRequest {
            script: script.to_owned(),
            kind: SourceKind::default(),
            config: Options::default(),
            config_warnings: Vec::new(),
            variables: Options::default(),
            flags: Options::default(),
            rate: None,
            arrivals_seed: None,
            system_env: BTreeMap::new(),
            given_env: Vec::new(),
            import_map: None,
            is_offline: false,
            keep_files: false,
            is_only_read: false,
            features: Features::default(),
            secret_sources: Vec::new(),
            io: IoMode::default(),
            traced: None,
            tls: TlsFiles::default(),
        }
    }
}

/// A log that masks the secrets that a script has read.
fn masking(log: &Log, mask: Option<&Arc<Mask>>) -> Log {
    let Some(mask) = mask else {
        return Arc::clone(log);
    };
    let (log, mask) = (Arc::clone(log), Arc::clone(mask));
    Arc::new(move |level, message, fields| {
        let shown: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, mask.apply(value)))
            .collect();
        let shown: Vec<_> = shown
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        log(level, &mask.apply(message), &shown);
    })
}

/// Loads the script, merges its layers of options and builds a plan. `log` receives warnings, and later the script's
/// log lines.
///
/// # Errors
/// Why the run cannot start.
pub fn prepare(request: ScriptRequest, log: &Log) -> Result<PreparedScript, Refusal> {
    let secrets =
        Secrets::open(&request.secret_sources, &read_text_file).map_err(Refusal::other)?;
    let mask = secrets.mask().cloned();
    let log = &masking(log, mask.as_ref());
    let prepared = load(request, secrets, mask.clone(), log);
    prepared.map_err(|refusal| refusal.masked(mask.as_deref()))
}

fn load(
    request: ScriptRequest,
    secrets: Secrets,
    mask: Option<Arc<Mask>>,
    log: &Log,
) -> Result<PreparedScript, Refusal> {
    let authorities = request.tls.authorities().map_err(Refusal::config)?;
    let fetch = modules::script_fetcher(request.is_offline, authorities.clone());
    let mut input =
        ScriptInput::read(&request.script, request.kind, &fetch).map_err(Refusal::other)?;
    let (mut env, archived_options) = match &mut input {
        ScriptInput::Archive(archive) => (
            archive.env.take().unwrap_or_default(),
            Some(ArchivedOptions::take(archive)),
        ),
        ScriptInput::Script { .. } => (BTreeMap::new(), None),
    };
    env.extend(request.system_env);
    env.extend(request.given_env.iter().cloned());
    let registry = Arc::new(Registry::new());
    let mut settings = LoadSettings {
        path: PathBuf::new(),
        source: Vec::new(),
        may_be_typescript: false,
        env: env.clone(),
        freezes_env: request.features.freezes_env,
        keeps_metric_context: request.features.keeps_metric_context,
        registry: Arc::clone(&registry),
        log: Arc::clone(log),
        fetch: Some(modules::fetcher(request.is_offline, authorities)),
        import_map: import_map(request.import_map.as_deref())?,
        archive: None,
        keep_files: request.keep_files,
        secrets: Arc::new(secrets),
    };
    take(input, &mut settings);
    let (path, source) = (settings.path.clone(), settings.source.clone());
    let import_map = settings.import_map.clone();
    let program = Program::load(settings)?;
    let own_options = match archived_options {
        Some(archived) => archived.completed(program.options()),
        None => program.options().clone(),
    };
    let (script_options, script_warnings) =
        Options::from_json(own_options).map_err(Refusal::config)?;
    let mut flags = request.flags;
    let has_trace = request.rate.as_ref().is_some_and(RateOverride::has_trace);
    if let Some(at) = request.rate {
        let scenarios = script_options.scenarios.as_ref();
        rate_override::shape(&mut flags, at, scenarios).map_err(Refusal::config)?;
    }
    // Warnings about these options are reported later in this function.
    let (own_options, _) = consolidate(Layers {
        script: script_options.clone(),
        flags: flags.clone(),
        merges_tags: request.features.merges_tags,
        ..Layers::default()
    })
    .map_err(Refusal::config)?;
    let layers = Layers {
        config: request.config,
        script: script_options,
        env: request.variables,
        flags,
        merges_tags: request.features.merges_tags,
    };
    let names = SourceNames::of(&layers);
    let named = |mut errors| {
        names.apply(&mut errors);
        errors
    };
    let (mut options, warnings) = consolidate(layers).map_err(Refusal::config)?;
    for scenario in options.scenarios.iter_mut().flat_map(BTreeMap::values_mut) {
        if let Some(arrivals) = &mut scenario.arrivals {
            *arrivals = std::mem::take(arrivals).seeded(request.arrivals_seed);
            arrivals
                .read_trace(|file| match program.read_text(file) {
                    // A trace that a flag names is not in an archive.
                    Err(_) if has_trace => read_trace_file(file),
                    read => read,
                })
                .map_err(Refusal::config)?;
        }
    }
    let mut exports = Exports {
        functions: program.functions().to_vec(),
    };
    if request.is_only_read {
        let scenarios = options.scenarios.iter().flatten();
        let named = scenarios.filter_map(|(_, scenario)| scenario.exec.clone());
        exports.functions.push("default".to_owned());
        exports.functions.extend(named);
    }
    let (plan, plan_warnings) = match Plan::build(&options, &exports) {
        Ok(plan) if request.is_only_read => (plan, Vec::new()),
        Ok(plan) => {
            let warnings = plan.warnings.clone();
            (plan, warnings)
        }
        // As in k6, options that cannot run can still be inspected.
        Err(errors) if request.is_only_read => {
            let faults = named(errors).0.into_iter();
            let warnings = faults.map(|fault| Warning::new(format!("cannot run: {fault}")));
            let plan = Plan::build(&Options::default(), &exports).map_err(Refusal::config)?;
            (plan, warnings.collect())
        }
        Err(errors) => return Err(Refusal::config(named(errors))),
    };
    for warning in [
        request.config_warnings,
        script_warnings,
        warnings,
        plan_warnings,
    ]
    .concat()
    {
        log_warning(log, &warning);
    }
    let system_tags = system_tags(&plan.options);
    let run_tags: TagMap = plan
        .options
        .tags
        .clone()
        .unwrap_or_default()
        .into_iter()
        .collect();
    let of_users = run_options(&plan, &system_tags, &run_tags, request.io, &request.tls);
    program.set_run(RunOptions {
        traced: request.traced,
        ..of_users.map_err(Refusal::config)?
    });
    Ok(PreparedScript {
        program,
        plan,
        own_options,
        options,
        registry,
        system_tags,
        run_tags,
        mask,
        source,
        path,
        env,
        given_env: request
            .given_env
            .into_iter()
            .map(|(name, _)| name)
            .collect(),
        import_map,
    })
}

/// Adds the named script where the loader looks for it.
pub(crate) fn take(input: ScriptInput, settings: &mut LoadSettings) {
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
            // A script from stdin has no file name that shows its language.
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

pub(crate) fn import_map(file: Option<&Path>) -> Result<ImportMap, Refusal> {
    let Some(file) = file else {
        return Ok(ImportMap::default());
    };
    let text = read_text_file(file)
        .map_err(|error| Refusal::config(format!("--import-map {}: {error}", file.display())))?;
    let file = std::path::absolute(file).map_err(Refusal::config)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    ImportMap::parse(&text, folder).map_err(Refusal::config)
}

fn log_warning(log: &Log, warning: &Warning) {
    let fields = warning
        .fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    log(Level::Warn, &warning.message, &fields.collect::<Vec<_>>());
}

fn system_tags(options: &Options) -> SystemTags {
    match &options.system_tags {
        None => SystemTags::default(),
        // Both names refer to the same tags.
        Some(tags) => tags
            .0
            .iter()
            .filter_map(|tag| plimsoll_samples::SystemTag::from_key(tag.name()))
            .collect(),
    }
}

/// The share of the feeders' rows that belongs to this process.
fn row_share(options: &Options) -> Result<RowShare, String> {
    let segment = options.execution_segment.unwrap_or_default();
    let sequence = options.execution_segment_sequence.clone();
    let division = Division::of(segment, &sequence.unwrap_or_default());
    let stripe = division.map_err(|fault| fault.to_string())?.stripe();
    Ok(RowShare::new(move |number| stripe.place(number)))
}

fn run_options(
    plan: &Plan,
    system_tags: &SystemTags,
    run_tags: &TagMap,
    io: IoMode,
    tls: &TlsFiles,
) -> Result<RunOptions, String> {
    let options = &plan.options;
    let agent = format!("plimsoll/{} (k6 compatible)", env!("CARGO_PKG_VERSION"));
    let client = settings::settings(plan, &agent, io, tls)?;
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
            debug: match options.http_debug {
                None | Some(plimsoll_plan::HttpDebug::Off) => None,
                Some(plimsoll_plan::HttpDebug::Headers) => Some(HttpDebug::Headers),
                Some(plimsoll_plan::HttpDebug::Full) => Some(HttpDebug::Full),
            },
        },
        client: Arc::new(client),
        tags: run_tags.clone(),
        keep_cookies: options.no_cookies_reset.unwrap_or(false),
        fresh_connections: options.no_vu_connection_reuse.unwrap_or(false),
        no_setup: options.no_setup.unwrap_or(false),
        no_teardown: options.no_teardown.unwrap_or(false),
        user_steps: options.user_steps.unwrap_or(false),
        setup_timeout: options.setup_timeout.unwrap_or(minute),
        teardown_timeout: options.teardown_timeout.unwrap_or(minute),
        summary_timeout: options.handle_summary_timeout.unwrap_or(2 * minute),
        rows: row_share(options)?,
        tag_user: system_tags.has(plimsoll_samples::SystemTag::Vu),
        tag_iteration: system_tags.has(plimsoll_samples::SystemTag::Iter),
        tag_group: system_tags.has(plimsoll_samples::SystemTag::Group),
        tag_ip: system_tags.has(plimsoll_samples::SystemTag::Ip),
        traced: None,
    })
}
