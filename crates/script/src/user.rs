//! The state of one virtual user, as host functions find it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use engine::{AbortReason, Iteration, RunState, ScenarioContext, UserId};
use samples::{BaseTags, Recorder, Registry};

use crate::event_loop::EventLoop;
use crate::modules::data::SharedArrays;
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
    pub log: Log,
    /// What scripts see as `__ENV`.
    pub env: BTreeMap<String, String>,
    /// What holds for the run; none while it is not known yet.
    pub run: std::sync::OnceLock<RunOptions>,
    /// What set-up returned, as JSON; none if it returned nothing.
    pub setup_data: std::sync::OnceLock<Option<String>>,
}

/// What the consolidated options say to users.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// All options, as JSON.
    pub options: String,
    /// On requests.
    pub http: crate::modules::http::HttpOptions,
    /// Settings of the users' clients.
    pub client: Arc<http::Settings>,
    /// Tags of every sample.
    pub tags: samples::TagMap,
    /// Cookies stay from one iteration to the next.
    pub keep_cookies: bool,
    /// Connections end with their iteration.
    pub fresh_connections: bool,
    /// `setup` is not run.
    pub no_setup: bool,
    /// `teardown` is not run.
    pub no_teardown: bool,
    /// How long `setup` may take.
    pub setup_timeout: std::time::Duration,
    /// How long `teardown` may take.
    pub teardown_timeout: std::time::Duration,
    /// How long `handleSummary` may take.
    pub summary_timeout: std::time::Duration,
    /// Samples carry the user's number.
    pub tag_user: bool,
    /// Samples carry the iteration's number.
    pub tag_iteration: bool,
}

/// What a user works with once it is part of a run. The init code has none of it.
pub struct Work {
    pub recorder: Rc<Recorder>,
    pub run: Arc<RunState>,
    pub client: Rc<http::Client>,
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
    /// Why the script wants the whole run to end.
    pub abort: RefCell<Option<AbortReason>>,
    pub cookies: Rc<http::CookieJar>,
    pub http: crate::modules::http::HttpState,
    /// The sequence that `randomSeed` started, if it did.
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
        let tags = Tags::new(work.as_ref().map(|work| Rc::clone(&work.recorder)));
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
            abort: RefCell::default(),
            cookies: Rc::new(http::CookieJar::new()),
            http: Default::default(),
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
        self.work()
            .ok_or_else(|| context.throw_plain(format!("{what} in the init context is not supported")))
    }

    /// # Errors
    /// Outside of the init code: an exception that says `what` can be done there only.
    pub fn require_init(&self, context: &Context, what: &str) -> Result<(), Thrown> {
        match self.phase() {
            Phase::Init => Ok(()),
            _ => Err(context.throw_plain(format!("{what} in the init context only"))),
        }
    }

    /// Whether the whole run is being ended.
    pub fn run_is_aborted(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.run.aborted().is_some())
    }

    /// The tags that samples of this user have now. `None` in the init code.
    pub fn base_tags(&self) -> Option<BaseTags> {
        self.tags.base()
    }

    /// Logs a line that is Plimsoll's own, such as a warning about a parameter.
    pub fn log(&self, level: Level, text: &str) {
        (self.common.log)(level, text, &[]);
    }

    /// Logs a line with further facts.
    pub fn log_with(&self, level: Level, text: &str, fields: &[(&str, &str)]) {
        (self.common.log)(level, text, fields);
    }

    /// What `__ENV[name]` is.
    pub fn env(&self, name: &str) -> Option<String> {
        match self.env_changes.borrow().get(name) {
            Some(changed) => changed.clone(),
            None => self.common.env.get(name).cloned(),
        }
    }
}
