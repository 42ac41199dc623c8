//! The state of one virtual user, as host functions find it.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indexmap::IndexMap;
use plimsoll_engine::{AbortReason, Iteration, RunState, ScenarioContext, Stop, Tally, UserId};
use plimsoll_samples::{BaseTags, Recorder, Registry};
use plimsoll_units::Moment;
use rustc_hash::FxBuildHasher;

use crate::event_loop::EventLoop;
use crate::modules::data::SharedArrays;
use crate::modules::http::{HttpOptions, HttpState};
use crate::program::Library;
use crate::pure::gorand::GoRand;
use crate::pure::logline::Level;
use crate::quickjs::{Context, Persistent, Thrown};
use crate::tags::Tags;

/// What a script of this user is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The code outside of functions; it may open files and declare metrics, and may not make requests.
    Init,
    Setup,
    Iteration,
    Teardown,
    Summary,
}

/// Takes the lines that scripts, and Plimsoll about them, log: level, message, and further facts such as
/// `("source", "console")`.
pub type Log = Arc<dyn Fn(Level, &str, &[(&str, &str)]) + Send + Sync>;

/// What all users of a program have in common.
pub struct Common {
    pub library: Library,
    pub registry: Arc<Registry>,
    pub shared_arrays: SharedArrays,
    /// What `k6/net/grpc` was told of services: read once for all users.
    pub described: crate::modules::grpc::Described,
    pub log: Log,
    /// What scripts see as `__ENV`.
    pub env: IndexMap<String, String, FxBuildHasher>,
    /// What holds for the run; none while it is not known yet.
    pub run: OnceLock<Arc<RunOptions>>,
    /// The options that differ from what the script exports, each as JSON.
    pub option_changes: OnceLock<Vec<(String, String)>>,
    /// What `setup` returned, as JSON; none within if it returned nothing.
    pub setup_data: OnceLock<Option<Arc<str>>>,
}

/// What the consolidated options say to users.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// What `exec.test.options` shows, as JSON.
    pub options: String,
    /// What becomes of the script's own `options`, as JSON: all that is set.
    pub script_options: String,
    /// On requests.
    pub http: HttpOptions,
    /// Settings of the users' clients.
    pub client: Arc<plimsoll_http::Settings>,
    /// Tags of every sample.
    pub tags: plimsoll_samples::TagMap,
    /// Cookies stay from one iteration to the next.
    pub keep_cookies: bool,
    /// Connections end with their iteration.
    pub fresh_connections: bool,
    /// `setup` is not run.
    pub no_setup: bool,
    /// `teardown` is not run.
    pub no_teardown: bool,
    /// How long `setup` may take.
    pub setup_timeout: Duration,
    /// How long `teardown` may take.
    pub teardown_timeout: Duration,
    /// How long `handleSummary` may take.
    pub summary_timeout: Duration,
    /// Samples carry the user's number.
    pub tag_user: bool,
    /// Samples carry the iteration's number.
    pub tag_iteration: bool,
    /// Samples carry their group.
    pub tag_group: bool,
    /// Samples carry the server's address, which costs a text per round trip.
    pub tag_ip: bool,
}

/// What a user works with once it is part of a run. The init code has none of it.
pub struct Work {
    pub recorder: Rc<Recorder>,
    pub run: Arc<RunState>,
    pub client: plimsoll_http::Client,
}

/// The state of one virtual user, as host functions find it: `user(context)`.
pub struct User {
    /// From 1; 0 where no virtual user is meant, as in set-up.
    pub id: UserId,
    pub common: Arc<Common>,
    phase: Cell<Phase>,
    work: Option<Work>,
    pub event_loop: EventLoop,
    /// Changes to `__ENV` over what all users share; `None` for what was deleted.
    pub env_changes: RefCell<BTreeMap<String, Option<String>>>,
    /// Exports made or computed once for this user, by module name.
    pub modules: Made,
    pub tags: Tags,
    pub scenario: RefCell<Option<Rc<ScenarioContext>>>,
    pub iteration: RefCell<Option<Iteration>>,
    /// What counts towards the scenario's work, where its amount is fixed.
    pub tally: Rc<RefCell<Tally>>,
    /// Asks for the end of what runs now.
    pub stop: RefCell<Option<Stop>>,
    /// What `setup` returned, once this user has read it.
    pub setup_value: OnceCell<Persistent>,
    /// What runs now goes on after an abort of the run: tear-down, with its init code.
    pub outlives_abort: bool,
    /// Asks for the end of what runs now from another thread.
    pub interrupted: Option<crate::summary::Interrupted>,
    /// Why the script wants the whole run to end.
    pub abort: RefCell<Option<AbortReason>>,
    pub cookies: Rc<plimsoll_http::CookieJar>,
    pub http: HttpState,
    /// What holds for the run; none in the first run of the init code.
    pub run: Option<Arc<RunOptions>>,
    /// The generator behind `Math.random`, once the script has seeded it.
    pub random: RefCell<Option<GoRand>>,
}

/// Values made once for a user, by name.
#[derive(Default)]
pub struct Made(RefCell<HashMap<String, Rc<Persistent>>>);

impl Made {
    pub fn get(&self, name: &str) -> Option<Rc<Persistent>> {
        self.0.borrow().get(name).cloned()
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
            modules: Made::default(),
            tags,
            scenario: RefCell::default(),
            iteration: RefCell::default(),
            tally: Rc::default(),
            stop: RefCell::default(),
            setup_value: OnceCell::new(),
            outlives_abort: false,
            interrupted: None,
            abort: RefCell::default(),
            cookies: Rc::new(plimsoll_http::CookieJar::new()),
            http: HttpState::default(),
            run,
            random: RefCell::default(),
        }
    }

    pub fn library(&self) -> &Library {
        &self.common.library
    }

    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    pub fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// What the user works with, once its init code is over.
    #[inline]
    pub fn work(&self) -> Option<&Work> {
        match self.phase() {
            Phase::Init | Phase::Summary => None,
            _ => self.work.as_ref(),
        }
    }

    /// What the user works with.
    ///
    /// # Errors
    /// In the init code: an exception that says `what` cannot be done there.
    #[inline]
    pub fn working(&self, context: &Context, what: &str) -> Result<&Work, Thrown> {
        self.work().ok_or_else(|| {
            context.throw_plain(format!("{what} in the init context is not supported"))
        })
    }

    /// The tags that samples of this user have now. `None` in the init code.
    pub fn base_tags(&self) -> Option<BaseTags> {
        self.tags.base()
    }

    /// The run's options on requests.
    #[inline]
    pub fn http_options(&self) -> HttpOptions {
        self.run.as_ref().map(|run| run.http).unwrap_or_default()
    }

    /// Counts a call by its payload each way, in bytes; `None` if it failed.
    pub fn count_call(&self, payload: Option<(u64, u64)>) {
        self.tally.borrow_mut().call(payload);
    }

    /// Whether what runs now should have ended.
    pub fn is_overdue(&self, now: Moment) -> bool {
        let stop = self.stop.borrow();
        let stopped = stop.as_ref().is_some_and(|stop| stop.is_overdue(now));
        stopped
            || self.interrupted.as_ref().is_some_and(|asked| asked())
            || (!self.outlives_abort
                && self
                    .work
                    .as_ref()
                    .is_some_and(|work| work.run.aborted().is_some()))
    }

    /// How late the present iteration started, in an open model.
    pub fn lateness(&self) -> Option<Duration> {
        let iteration = self.iteration.borrow();
        let iteration = iteration.as_ref()?;
        iteration
            .scheduled
            .map(|scheduled| iteration.started.since(scheduled))
    }

    /// Logs a line that is Plimsoll's own, such as a warning about a parameter.
    pub fn log(&self, level: Level, text: &str) {
        (self.common.log)(level, text, &[]);
    }

    /// Logs a line with further facts.
    pub fn log_with(&self, level: Level, text: &str, fields: &[(&str, &str)]) {
        (self.common.log)(level, text, fields);
    }

    /// Runs `body` with what `__ENV[name]` is.
    pub fn with_env<R>(&self, name: &str, body: impl FnOnce(Option<&str>) -> R) -> R {
        match self.env_changes.borrow().get(name) {
            Some(changed) => body(changed.as_deref()),
            None => body(self.common.env.get(name).map(String::as_str)),
        }
    }
}
