//! Runs scripts as a real run does, on one worker, and returns the outcome.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_engine::{AbortReason, Calls, Event, RunState, Setting, UserMemory};
use plimsoll_k6::http_state::HttpOptions;
use plimsoll_k6::user::RunOptions;
use plimsoll_plan::{Exports, Layers, Options, Plan};
use plimsoll_samples::{Registry, SampleRecord, Summary, TagMap, Totals, Watch, WatchSettings};
use plimsoll_script::{ImportMap, LoadSettings, Program, ScriptError, ScriptUsers};

/// The outcome of a run.
#[allow(dead_code)] // Not every test file uses every item.
pub struct Run {
    /// The log, with lines of the form `level text key=value…`.
    pub log: Vec<String>,
    pub aborted: Option<AbortReason>,
    pub marked_failed: bool,
    pub summary: Summary,
    pub records: Vec<SampleRecord>,
    /// The memory of the users at the end.
    pub memory: UserMemory,
    pub program: Program,
    registry: Arc<Registry>,
}

impl Run {
    /// The metric with that name.
    #[allow(dead_code)]
    pub fn metric(&self, name: &str) -> Option<plimsoll_samples::MetricId> {
        self.registry.find(name)
    }

    /// The number of samples of a metric.
    #[allow(dead_code)]
    pub fn count(&self, metric: &str) -> usize {
        self.records
            .iter()
            .filter(|record| self.registry.find(metric) == Some(record.metric))
            .count()
    }

    /// The messages logged by `console`.
    #[allow(dead_code)]
    pub fn console(&self) -> Vec<String> {
        let lines = self
            .log
            .iter()
            .filter_map(|line| line.strip_suffix(" source=console"));
        lines
            .filter_map(|line| line.split_once(' '))
            .map(|(_, text)| text.to_owned())
            .collect()
    }
}

/// A script with the settings that tests change.
pub struct Script {
    path: PathBuf,
    source: Vec<u8>,
    env: BTreeMap<String, String>,
    stop_after: Option<Duration>,
    meanwhile: Option<Meanwhile>,
    import_map: ImportMap,
    with_image: Option<bool>,
    keeps_metric_context: bool,
}

/// The action of another thread during the run.
type Meanwhile = Box<dyn FnOnce(&Calls, &Program, &RunState) + Send>;

impl Script {
    #[allow(dead_code)]
    pub fn text(text: &str) -> Self {
        Self::new(PathBuf::from("/nowhere/-"), text.as_bytes().to_vec())
    }

    #[allow(dead_code)] // Not every test file has scripts in files.
    pub fn file(path: PathBuf) -> Self {
        let source = std::fs::read(&path).unwrap();
        Self::new(path, source)
    }

    fn new(path: PathBuf, source: Vec<u8>) -> Self {
        let env = BTreeMap::from([("SET".to_owned(), "outside".to_owned())]);
        Script {
            path,
            source,
            env,
            stop_after: None,
            meanwhile: None,
            import_map: ImportMap::default(),
            with_image: None,
            keeps_metric_context: false,
        }
    }

    /// Turns the feature `async-metric-context` on.
    #[allow(dead_code)]
    pub fn with_metric_context(mut self) -> Self {
        self.keeps_metric_context = true;
        self
    }

    /// A script in a file that need not exist.
    #[allow(dead_code)]
    pub fn text_at(path: PathBuf, text: &str) -> Self {
        Self::new(path, text.as_bytes().to_vec())
    }

    /// Lets users start from an image of the heap where possible.
    #[allow(dead_code)]
    pub fn with_image(mut self) -> Self {
        self.with_image = Some(true);
        self
    }

    /// Each user has its own runtime.
    #[allow(dead_code)]
    pub fn without_image(mut self) -> Self {
        self.with_image = Some(false);
        self
    }

    /// Aborts the run after this time.
    #[allow(dead_code)]
    pub fn stopped_after(mut self, span: Duration) -> Self {
        self.stop_after = Some(span);
        self
    }

    /// Does something on another thread during the run.
    #[allow(dead_code)]
    pub fn meanwhile(
        mut self,
        work: impl FnOnce(&Calls, &Program, &RunState) + Send + 'static,
    ) -> Self {
        self.meanwhile = Some(Box::new(work));
        self
    }

    #[allow(dead_code)]
    pub fn import_map(mut self, map: ImportMap) -> Self {
        self.import_map = map;
        self
    }

    /// Loads the script, without running more than its init code.
    #[allow(dead_code)]
    pub fn load(self) -> (Result<Program, ScriptError>, Vec<String>) {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (program, _) = self.load_with(&log);
        let lines = log.lock().unwrap().clone();
        (program, lines)
    }

    fn load_with(
        self,
        log: &Arc<Mutex<Vec<String>>>,
    ) -> (Result<Program, ScriptError>, Arc<Registry>) {
        let registry = Arc::new(Registry::new());
        let lines = Arc::clone(log);
        let with_image = self.with_image;
        let settings = LoadSettings {
            may_be_typescript: self.path.ends_with("-"),
            path: self.path,
            source: self.source,
            env: self.env,
            freezes_env: false,
            keeps_metric_context: self.keeps_metric_context,
            registry: Arc::clone(&registry),
            log: Arc::new(move |level, text, fields| {
                // Most tests do not care whether there is an image.
                let is_of_image = text.starts_with("users of a worker begin")
                    || text.starts_with("each virtual user has its own");
                if with_image != Some(true) && level == log::Level::Debug && is_of_image {
                    return;
                }
                let mut line = format!("{} {text}", level.as_str().to_lowercase());
                for (key, value) in fields {
                    line.push_str(&format!(" {key}={value}"));
                }
                lines.lock().unwrap().push(line);
            }),
            fetch: None,
            import_map: self.import_map,
            archive: None,
            keep_files: false,
            secrets: Default::default(),
        };
        (Program::load(settings), registry)
    }

    /// Runs the script to its end.
    pub fn run(mut self) -> Run {
        let log = Arc::new(Mutex::new(Vec::new()));
        let stop_after = self.stop_after;
        let meanwhile = self.meanwhile.take();
        let with_image = self.with_image;
        let (program, registry) = self.load_with(&log);
        let program = program.unwrap_or_else(|error| panic!("{error}\n{:?}", log.lock().unwrap()));
        let exported = match program.options() {
            serde_json::Value::Null => Options::default(),
            json => Options::from_json(json.clone()).unwrap().0,
        };
        let (options, _) = plimsoll_plan::consolidate(Layers {
            script: exported,
            ..Layers::default()
        })
        .unwrap();
        let plan = Plan::build(
            &options,
            &Exports {
                functions: program.functions().to_vec(),
            },
        )
        .unwrap();
        let tags: TagMap = plan
            .options
            .tags
            .clone()
            .unwrap_or_default()
            .into_iter()
            .collect();
        program.set_run(run_options(&plan.options, &tags));
        let settings = WatchSettings {
            outputs: true,
            run_tags: tags.clone(),
            ..WatchSettings::default()
        };
        let watch = Arc::new(Watch::new(&registry, settings).unwrap());
        let mut totals = Totals::new(Arc::clone(&registry), Arc::clone(&watch));
        let running = plimsoll_engine::start(Setting {
            plan: Arc::new(plan),
            factory: Arc::new(match with_image {
                Some(with_image) => ScriptUsers::new(program.clone()).with_image(with_image),
                None => ScriptUsers::new(program.clone()),
            }),
            registry: Arc::clone(&registry),
            watch,
            run_tags: tags,
            min_iteration: Duration::ZERO,
            workers: 1,
            waits_for_start: false,
        });
        if let Some(after) = stop_after {
            let state = Arc::clone(&running.state);
            std::thread::spawn(move || {
                std::thread::sleep(after);
                state.abort(AbortReason::Signal);
            });
        }
        let other = meanwhile.map(|work| {
            let (state, program) = (Arc::clone(&running.state), program.clone());
            let calls = running.calls.clone().expect("the workers are here");
            std::thread::spawn(move || work(&calls, &program, &state))
        });
        let mut records = Vec::new();
        let mut memory = UserMemory::default();
        for event in running.events.iter() {
            match event {
                Event::Window { window, .. } => {
                    totals.merge(window);
                    records.extend(totals.take_records().into_iter().flatten());
                }
                Event::Memory(of_worker) => memory += of_worker,
                Event::Finished => break,
                _ => {}
            }
        }
        if let Some(other) = other {
            other.join().expect("the other thread succeeds");
        }
        let log = std::mem::take(&mut *log.lock().unwrap());
        Run {
            log,
            aborted: running.state.aborted().cloned(),
            marked_failed: running.state.marked_failed(),
            summary: totals.summary(Duration::from_secs(1)),
            records,
            memory,
            program,
            registry,
        }
    }
}

fn run_options(options: &Options, tags: &TagMap) -> RunOptions {
    let minute = Duration::from_secs(60);
    RunOptions {
        options: options.to_json().to_string(),
        script_options: options.to_script_json().to_string(),
        http: HttpOptions {
            throw: options.throw.unwrap_or(false),
            discard_bodies: options.discard_response_bodies.unwrap_or(false),
            max_redirects: options.max_redirects.map(|n| n as u32),
            ..HttpOptions::default()
        },
        client: Arc::new(plimsoll_http::Settings::default()),
        tags: tags.clone(),
        keep_cookies: options.no_cookies_reset.unwrap_or(false),
        fresh_connections: options.no_vu_connection_reuse.unwrap_or(false),
        no_setup: options.no_setup.unwrap_or(false),
        no_teardown: options.no_teardown.unwrap_or(false),
        user_steps: options.user_steps.unwrap_or(false),
        setup_timeout: options.setup_timeout.unwrap_or(minute),
        teardown_timeout: options.teardown_timeout.unwrap_or(minute),
        summary_timeout: options.handle_summary_timeout.unwrap_or(minute),
        rows: plimsoll_k6::feeders::RowShare::default(),
        tag_user: false,
        tag_iteration: false,
        tag_group: true,
        tag_ip: false,
        traced: None,
    }
}
