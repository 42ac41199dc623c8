//! The state of one virtual user, as host functions find it.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indexmap::IndexMap;
use log::Level;
use plimsoll_engine::{AbortReason, Iteration, RunState, ScenarioContext, Stop, Tally, UserId};
use plimsoll_quickjs::{Context, Persistent, Thrown};
use plimsoll_samples::{BaseTags, Recorder, Registry};
use plimsoll_units::Moment;
use rustc_hash::FxBuildHasher;

use crate::event_loop::EventLoop;
use crate::feeders::{Feeders, RowShare};
use crate::files::Files;
use crate::http_state::{HttpOptions, HttpState};
use crate::pure::gorand::GoRand;
use crate::service_descriptions::ServiceDescriptions;
use crate::setup_data::SetupData;
use crate::shared_arrays::SharedArrays;
use crate::tags::Tags;

/// The current activity of this user's script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Running the code outside of functions, which may open files and declare metrics, but not make
    /// requests.
    Init,
    Setup,
    Iteration,
    Teardown,
    Summary,
}

/// Receives the log lines of scripts, and Plimsoll's lines about them: level, message, and additional
/// fields such as `("source", "console")`.
pub type Log = Arc<dyn Fn(Level, &str, &[(&str, &str)]) + Send + Sync>;

/// Returns whether the script should stop. Called from time to time while the script runs.
pub type Interrupted = Arc<dyn Fn() -> bool + Send + Sync>;

/// State that all users of a program share.
pub struct Common {
    /// The files that scripts may open.
    pub files: Arc<dyn Files>,
    pub registry: Arc<Registry>,
    pub shared_arrays: SharedArrays,
    pub feeders: Feeders,
    /// The service descriptions of `k6/net/grpc`: read once for all users.
    pub described: ServiceDescriptions,
    /// The Chromium of `k6/browser`: started when a script first uses it.
    pub browser: plimsoll_browser::Shared,
    pub log: Log,
    pub secrets: Arc<crate::secrets::Secrets>,
    /// The variables in `__ENV`.
    pub env: IndexMap<String, String, FxBuildHasher>,
    /// Scripts cannot change `__ENV`.
    pub freezes_env: bool,
    /// Callbacks run with the tags and metadata with which they were registered.
    pub keeps_metric_context: bool,
    /// The run's options; empty while they are not known yet.
    pub run: OnceLock<Arc<RunOptions>>,
    /// The options that differ from what the script exports, each as JSON.
    pub option_changes: OnceLock<Vec<(String, String)>>,
    pub setup_data: SetupData,
}

/// The consolidated options that concern users.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The value of `exec.test.options`, as JSON.
    pub options: String,
    /// The final value of the script's own `options`, as JSON.
    pub script_options: String,
    /// Options for requests.
    pub http: HttpOptions,
    /// Settings of the users' clients.
    pub client: Arc<plimsoll_http::Settings>,
    /// Tags of every sample.
    pub tags: plimsoll_samples::TagMap,
    /// Keep cookies from one iteration to the next.
    pub keep_cookies: bool,
    /// Close connections at the end of each iteration.
    pub fresh_connections: bool,
    /// Do not run `setup`.
    pub no_setup: bool,
    /// Do not run `teardown`.
    pub no_teardown: bool,
    /// Users call `setupVU` and `teardownVU`.
    pub user_steps: bool,
    /// How long `setup` may take.
    pub setup_timeout: Duration,
    /// How long `teardown` may take.
    pub teardown_timeout: Duration,
    /// How long `handleSummary` may take.
    pub summary_timeout: Duration,
    /// The rows of feeders that belong to this machine.
    pub rows: RowShare,
    /// Tag samples with the user's number.
    pub tag_user: bool,
    /// Tag samples with the iteration's number.
    pub tag_iteration: bool,
    /// Tag samples with their group.
    pub tag_group: bool,
    /// Tag samples with the server's address, which allocates a string per exchange.
    pub tag_ip: bool,
    /// Requests get a trace context, and this share of them is recorded (0 to 1).
    pub traced: Option<f64>,
}

/// A user's tools during a run. Init code has none of them.
pub struct Work {
    pub recorder: Rc<Recorder>,
    pub run: Arc<RunState>,
    pub client: plimsoll_http::Client,
}

/// The state of one virtual user, as host functions find it: `user(context)`.
pub struct User {
    /// From 1; 0 outside of virtual users, as in setup.
    pub id: UserId,
    pub common: Arc<Common>,
    phase: Cell<Phase>,
    work: Option<Work>,
    pub event_loop: EventLoop,
    /// This user's changes to the shared `__ENV`; `None` for deleted variables.
    pub env_changes: RefCell<BTreeMap<String, Option<String>>>,
    /// Exports made or computed once for this user, by module name.
    pub modules: LoadedModules,
    pub tags: Tags,
    pub scenario: RefCell<Option<Rc<ScenarioContext>>>,
    pub iteration: RefCell<Option<Iteration>>,
    /// Counts towards the scenario's work, if its amount is fixed.
    pub tally: RefCell<Tally>,
    /// Stops the current activity.
    pub stop: RefCell<Option<Stop>>,
    /// The value that `setup` returned, once this user has read it.
    pub setup_value: OnceCell<Persistent>,
    /// Whether the current activity continues after the run was aborted: teardown, including its init
    /// code.
    pub outlives_abort: Cell<bool>,
    /// Stops the current activity from another thread.
    pub interrupted: Option<Interrupted>,
    /// Why the script asked to end the whole run.
    pub abort: RefCell<Option<AbortReason>>,
    pub cookies: Rc<plimsoll_http::CookieJar>,
    pub http: HttpState,
    /// The run's options; `None` in the first run of the init code.
    pub run: Option<Arc<RunOptions>>,
    /// The generator behind `Math.random`, once the script has seeded it.
    pub random: RefCell<Option<GoRand>>,
    /// The log of the init code, if this user runs it on behalf of all other users of its worker. Each of them logs the
    /// same lines again.
    on_behalf: Option<RefCell<Vec<LogLine>>>,
    /// How many of the script's imports, in the order of evaluation, left no pending work and did nothing that differs
    /// between users.
    pub common_imports: Cell<usize>,
}

/// A line of the log, with its additional fields.
struct LogLine {
    level: Level,
    text: String,
    fields: Vec<(String, String)>,
}

/// Values created once per user, by name.
#[derive(Default)]
pub struct LoadedModules(RefCell<HashMap<String, Rc<Persistent>>>);

impl LoadedModules {
    pub fn get(&self, name: &str) -> Option<Rc<Persistent>> {
        self.0.borrow().get(name).cloned()
    }

    /// The same values.
    fn copy(&self) -> Self {
        LoadedModules(self.0.clone())
    }

    pub fn insert(&self, name: String, value: Persistent) {
        self.0.borrow_mut().insert(name, Rc::new(value));
    }

    pub fn remove(&self, name: &str) {
        self.0.borrow_mut().remove(name);
    }
}

/// The virtual user whose script is running.
#[inline]
pub fn user(context: &Context) -> &User {
    context.host()
}

impl User {
    /// The share of requests that traces record, if there are traces.
    pub fn traced_share(&self) -> Option<f64> {
        self.run.as_ref().and_then(|run| run.traced)
    }

    pub fn new(id: UserId, common: Arc<Common>, work: Option<Work>) -> Self {
        let run = common.run.get().cloned();
        let recorder = work.as_ref().map(|work| Rc::clone(&work.recorder));
        let tags = Tags::new(recorder, run.as_ref().is_none_or(|run| run.tag_group));
        Self {
            id,
            common,
            phase: Cell::new(Phase::Init),
            work,
            event_loop: EventLoop::default(),
            env_changes: RefCell::default(),
            modules: LoadedModules::default(),
            tags,
            scenario: RefCell::default(),
            iteration: RefCell::default(),
            tally: RefCell::default(),
            stop: RefCell::default(),
            setup_value: OnceCell::new(),
            outlives_abort: Cell::new(false),
            interrupted: None,
            abort: RefCell::default(),
            cookies: Rc::new(plimsoll_http::CookieJar::new()),
            http: HttpState::default(),
            run,
            random: RefCell::default(),
            on_behalf: None,
            common_imports: Cell::new(0),
        }
    }

    /// The user that runs the init code on behalf of all others of its worker. It logs nothing.
    pub fn on_behalf_of_others(common: Arc<Common>) -> Self {
        User {
            on_behalf: Some(RefCell::default()),
            ..Self::new(UserId(0), common, None)
        }
    }

    /// Copies the effects that the init code had outside of the script's heap. `origin` ran it on this user's behalf.
    pub fn follow(&mut self, origin: &User) {
        self.modules = origin.modules.copy();
        self.env_changes = origin.env_changes.clone();
        self.cookies = Rc::new((*origin.cookies).clone());
        self.random = origin.random.clone();
        self.http.callback = origin.http.callback.clone();
        self.event_loop.continue_after(&origin.event_loop);
        if let Some(lines) = &origin.on_behalf {
            for LogLine {
                level,
                text,
                fields,
            } in &*lines.borrow()
            {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(key, value)| (&**key, &**value))
                    .collect();
                (self.common.log)(*level, text, &fields);
            }
        }
    }

    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    #[inline]
    pub fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// The user's tools; `None` in init code.
    #[inline]
    pub fn work(&self) -> Option<&Work> {
        match self.phase() {
            Phase::Init => None,
            _ => self.work.as_ref(),
        }
    }

    /// The user's client, in init code as well.
    pub fn client(&self) -> Option<&plimsoll_http::Client> {
        self.work.as_ref().map(|work| &work.client)
    }

    /// Whether this user exists to run setup.
    pub fn is_for_setup(&self) -> bool {
        self.id.0 == 0 && self.work.is_some() && !self.outlives_abort.get()
    }

    /// The user's tools.
    ///
    /// # Errors
    /// In the init code: an exception that says that `what` is not possible there.
    #[inline]
    pub fn working(&self, context: &Context, what: &str) -> Result<&Work, Thrown> {
        self.work().ok_or_else(|| {
            context.throw_plain(format!("{what} in the init context is not supported"))
        })
    }

    /// The current tags of this user's samples. `None` in the init code.
    #[inline]
    pub fn base_tags(&self) -> Option<BaseTags> {
        self.tags.base()
    }

    /// The run's options for requests.
    #[inline]
    pub fn http_options(&self) -> HttpOptions {
        self.run.as_ref().map(|run| run.http).unwrap_or_default()
    }

    /// Counts a call with its payload in both directions, in bytes; `None` if it failed.
    pub fn count_call(&self, payload: Option<(u64, u64)>) {
        self.tally.borrow().call(payload);
    }

    /// Whether the current activity should have ended.
    #[inline]
    pub fn is_overdue(&self, now: Moment) -> bool {
        let stop = self.stop.borrow();
        let stopped = stop.as_ref().is_some_and(|stop| stop.is_overdue(now));
        stopped
            || self
                .interrupted
                .as_ref()
                .is_some_and(|is_interrupted| is_interrupted())
            || (!self.outlives_abort.get()
                && self
                    .work
                    .as_ref()
                    .is_some_and(|work| work.run.aborted().is_some()))
    }

    /// How late the current iteration started, in an open model.
    pub fn lateness(&self) -> Option<Duration> {
        let iteration = self.iteration.borrow();
        let iteration = iteration.as_ref()?;
        iteration
            .scheduled
            .map(|scheduled| iteration.started.since(scheduled))
    }

    /// Logs a line of Plimsoll's own, such as a warning about a parameter.
    pub fn log(&self, level: Level, text: &str) {
        self.log_with(level, text, &[]);
    }

    /// Logs a line with additional fields.
    pub fn log_with(&self, level: Level, text: &str, fields: &[(&str, &str)]) {
        match &self.on_behalf {
            None => (self.common.log)(level, text, fields),
            Some(lines) => lines.borrow_mut().push(LogLine {
                level,
                text: text.to_owned(),
                fields: fields
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                    .collect(),
            }),
        }
    }

    /// Runs `body` with the value of `__ENV[name]`.
    pub fn with_env<R>(&self, name: &str, body: impl FnOnce(Option<&str>) -> R) -> R {
        match self.env_changes.borrow().get(name) {
            Some(changed) => body(changed.as_deref()),
            None => body(self.common.env.get(name).map(String::as_str)),
        }
    }
}
