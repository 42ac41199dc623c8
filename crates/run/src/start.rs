//! Starts a run: opens its outputs, and starts the engine.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::{Setting, UserFactory};
use plimsoll_machine::MachineMeter;
#[cfg(feature = "scripts")]
use plimsoll_output::catalog::Catalog;
use plimsoll_plan::{Plan, Scenario};
#[cfg(feature = "scripts")]
use plimsoll_samples::SystemTags;
use plimsoll_samples::{Registry, TagMap, Watch, WatchSettings};
#[cfg(feature = "scripts")]
use plimsoll_script::ScriptUsers;
use plimsoll_scriptless::HttpUsers;
use plimsoll_units::duration;

use crate::attack::TargetErrors;
use crate::control::Control;
use crate::event::{Event, Listener, Listeners};
use crate::output_request::OutputRequest;
#[cfg(feature = "scripts")]
use crate::outputs::Outputs;
use crate::precision_goal::{PrecisionGoal, Watcher};
#[cfg(feature = "scripts")]
use crate::record_of_script;
use crate::recording::{Contents, Recording};
use crate::remote::{RemoteStart, Workers};
#[cfg(feature = "scripts")]
use crate::request::Script;
use crate::request::{Http, Load, RecordRequest, Request};
use crate::supervisor::{Part, Supervisor};
use crate::{Outcome, Refusal};

/// A run that has started. It runs whether or not [`Run::finish`] follows it.
pub struct Run<'a> {
    supervisor: Supervisor<'a>,
    /// Receives errors in the target list of an attack.
    targets: Option<TargetErrors>,
}

impl<'a> Run<'a> {
    /// Starts a run with users in this process.
    ///
    /// # Errors
    /// Why the run cannot start.
    pub fn start(
        request: Request,
        listeners: Vec<Box<dyn Listener + 'a>>,
    ) -> Result<Run<'a>, Refusal> {
        Run::start_on(Workers::Local, request, listeners)
    }

    /// Starts a run whose users are run by `workers`.
    ///
    /// # Errors
    /// Why the run cannot start.
    pub fn start_on(
        workers: Workers,
        request: Request,
        listeners: Vec<Box<dyn Listener + 'a>>,
    ) -> Result<Run<'a>, Refusal> {
        let Request {
            load,
            threads,
            outputs,
            record,
            warm_up,
            until,
        } = request;
        let launch = Launch {
            threads,
            outputs,
            record,
            warm_up,
            until,
            workers,
            listeners: Listeners::new(listeners),
        };
        match load {
            #[cfg(feature = "scripts")]
            Load::Script(script) => launch.script(&script).map(Run::of),
            Load::Http(http) => launch.http(*http).map(Run::of),
            Load::Grpc(grpc) => {
                let (users, messages, scenario) = grpc.users().map_err(Refusal::config)?;
                let files = messages
                    .iter()
                    .map(|message| ("message".to_owned(), message.as_bytes()))
                    .collect();
                let contents = Contents {
                    kind: "grpc",
                    files,
                };
                launch.requests(users, scenario, contents).map(Run::of)
            }
            Load::Attack(attack) => {
                let mut launch = launch;
                let (users, scenario, targets) = attack
                    .users(&mut launch.listeners)
                    .map_err(Refusal::config)?;
                let contents = Contents {
                    kind: "attack",
                    files: Vec::new(),
                };
                Ok(Run {
                    supervisor: launch.requests(users, scenario, contents)?,
                    targets: Some(targets),
                })
            }
        }
    }

    fn of(supervisor: Supervisor<'a>) -> Run<'a> {
        Run {
            supervisor,
            targets: None,
        }
    }

    /// Returns a handle that controls the run from any thread.
    pub fn control(&self) -> Control {
        let supervisor = &self.supervisor;
        Control::of(
            supervisor.state(),
            supervisor.scenarios(),
            supervisor.calls(),
        )
    }

    /// Follows the run to its end, on the calling thread.
    pub fn finish(self) -> Outcome {
        let mut outcome = self.supervisor.follow();
        if let Some(targets) = self.targets {
            outcome.input_error = targets.error(outcome.aborted.as_ref());
            if targets.is_at_end() {
                outcome.aborted = None;
            }
        }
        outcome
    }
}

/// The parts that all kinds of loads share.
struct Launch<'a> {
    threads: usize,
    outputs: OutputRequest,
    record: Option<RecordRequest>,
    warm_up: Duration,
    until: Option<PrecisionGoal>,
    workers: Workers,
    listeners: Listeners<'a>,
}

impl<'a> Launch<'a> {
    #[cfg(feature = "scripts")]
    fn script(mut self, script: &Script) -> Result<Supervisor<'a>, Refusal> {
        let prepared = &script.prepared;
        self.check_warm_up(&prepared.plan.scenarios)?;
        let (thresholds, watched) = if script.thresholds {
            let plan = &prepared.plan;
            (plan.thresholds.clone(), plan.watched.clone())
        } else {
            Default::default()
        };
        let settings = WatchSettings {
            thresholds,
            watched,
            system_tags: prepared.system_tags,
            run_tags: prepared.run_tags.clone(),
            outputs: self.outputs.has_any() || self.listeners.need_samples(),
            output_extra: false,
            breakdown: script.breakdown,
            by_name: self.record.is_some() || self.listeners.need_names(),
            by_second: self.record.is_some() || self.listeners.need_seconds(),
            mask: prepared.mask.clone(),
        };
        let watch = Watch::new(&prepared.registry, settings)
            .map_err(|errors| Refusal::config(errors).masked(prepared.mask.as_deref()))?;
        let watch = Arc::new(watch);
        // Outputs receive thresholds even if these are not judged.
        let plan = &prepared.plan;
        let registry = Arc::clone(&prepared.registry);
        let catalog =
            Catalog::new(registry, &plan.thresholds, &plan.watched).masked(prepared.mask.clone());
        let warnings = self.open_outputs(catalog, prepared.system_tags)?;
        self.listeners.notify(Event::Starting);
        for warning in &warnings {
            self.listeners.notify(Event::Warning(warning));
        }
        let recording = self
            .record
            .take()
            .map(|record| record_of_script::begin(record, prepared, &watch))
            .transpose()
            .map_err(Refusal::other)?;
        let setting = Setting {
            plan: Arc::new(prepared.plan.clone()),
            factory: Arc::new(ScriptUsers::new(prepared.program.clone())),
            registry: Arc::clone(&prepared.registry),
            watch,
            run_tags: prepared.run_tags.clone(),
            min_iteration: prepared
                .plan
                .options
                .min_iteration_duration
                .unwrap_or(Duration::ZERO),
            workers: self.threads,
            waits_for_start: matches!(self.workers, Workers::Part { .. }),
        };
        Ok(self.engine(setting, recording, false))
    }

    fn http(self, http: Http) -> Result<Supervisor<'a>, Refusal> {
        // A single body is identified by its own contents, several by the contents of their file.
        let body = http.request.bodies.join(&b'\n');
        let users = HttpUsers::new(http.request, Arc::new(http.settings))
            .map_err(Refusal::config)?
            .sharing(http.users_per_connection)
            .opening_ahead(http.connects_before_start);
        let contents = Contents {
            kind: "http",
            files: vec![("body".to_owned(), &*body)],
        };
        self.requests(users, http.scenario, contents)
    }

    /// Starts users whose iterations are single requests.
    fn requests<F: UserFactory>(
        mut self,
        users: F,
        scenario: Scenario,
        contents: Contents<'_>,
    ) -> Result<Supervisor<'a>, Refusal> {
        let plan = Plan::single(scenario, Vec::new());
        self.check_warm_up(&plan.scenarios)?;
        let registry = Arc::new(Registry::new());
        let settings = WatchSettings {
            outputs: self.outputs.has_any() || self.listeners.need_samples(),
            // Without the response time, a stall of the service would be invisible in outputs.
            output_extra: true,
            by_name: self.record.is_some() || self.listeners.need_names(),
            by_second: self.record.is_some() || self.listeners.need_seconds(),
            ..WatchSettings::default()
        };
        #[cfg(feature = "scripts")]
        let warnings = {
            let catalog = Catalog::new(Arc::clone(&registry), &plan.thresholds, &plan.watched);
            self.open_outputs(catalog, settings.system_tags)?
        };
        let watch = Watch::new(&registry, settings).map_err(Refusal::config)?;
        let watch = Arc::new(watch);
        let recording = self
            .record
            .take()
            .map(|record| Recording::begin(record, contents, &plan, &registry, &watch))
            .transpose()
            .map_err(Refusal::config)?;
        self.listeners.notify(Event::Starting);
        #[cfg(feature = "scripts")]
        for warning in &warnings {
            self.listeners.notify(Event::Warning(warning));
        }
        let setting = Setting {
            plan: Arc::new(plan),
            factory: Arc::new(users),
            registry,
            watch,
            run_tags: TagMap::new(),
            min_iteration: Duration::ZERO,
            workers: self.threads,
            waits_for_start: matches!(self.workers, Workers::Part { .. }),
        };
        Ok(self.engine(setting, recording, true))
    }

    /// Opens the outputs. Also returns warnings about receivers that cannot be reached.
    #[cfg(feature = "scripts")]
    fn open_outputs(
        &mut self,
        catalog: Catalog,
        system_tags: SystemTags,
    ) -> Result<Vec<String>, Refusal> {
        if !self.outputs.has_any() {
            return Ok(Vec::new());
        }
        let opened = Outputs::open(&self.outputs, catalog, system_tags);
        let (outputs, warnings) = opened.map_err(Refusal::other)?;
        self.listeners.add(Box::new(outputs));
        Ok(warnings)
    }

    /// Refuses a warm-up that leaves nothing of the run for the verdict.
    fn check_warm_up(&self, scenarios: &[Scenario]) -> Result<(), Refusal> {
        let end = |scenario: &Scenario| {
            let duration = scenario.duration()?;
            Some(scenario.start_time.saturating_add(duration))
        };
        let ends: Option<Vec<Duration>> = scenarios.iter().map(end).collect();
        let end = ends.and_then(|ends| ends.into_iter().max());
        match end.filter(|end| !self.warm_up.is_zero() && self.warm_up >= *end) {
            Some(end) => Err(Refusal::config(format!(
                "--warm-up {} must be shorter than the run, which takes at most {}",
                duration::format(self.warm_up),
                duration::format(end)
            ))),
            None => Ok(()),
        }
    }

    fn engine<F: UserFactory>(
        mut self,
        setting: Setting<F>,
        recording: Option<Recording>,
        is_request_load: bool,
    ) -> Supervisor<'a> {
        let (registry, watch) = (Arc::clone(&setting.registry), Arc::clone(&setting.watch));
        self.listeners.metrics(&registry, &watch);
        let part = match self.workers {
            Workers::Part { shares_machine } => Some(Part { shares_machine }),
            Workers::Local | Workers::Remote(_) => None,
        };
        let meter = MachineMeter::open();
        let (running, remote) = match self.workers {
            Workers::Local | Workers::Part { .. } => (plimsoll_engine::start(setting), None),
            Workers::Remote(mut remote) => {
                let running = remote.start(RemoteStart {
                    plan: setting.plan,
                    registry: Arc::clone(&registry),
                    watch: Arc::clone(&watch),
                });
                (running, Some(remote))
            }
        };
        if let Some(until) = self.until {
            let scenarios = running.scenarios.iter().map(|scenario| &**scenario);
            let limit = plimsoll_engine::load_duration(scenarios);
            self.listeners
                .add(Box::new(Watcher::new(until, self.warm_up, limit)));
        }
        if let Some(mut recording) = recording {
            let scenarios = running.scenarios.iter().map(|scenario| &**scenario);
            recording.set_load(plimsoll_engine::load_duration(scenarios));
            self.listeners.add(Box::new(recording));
        }
        Supervisor::new(
            running,
            meter,
            &registry,
            &watch,
            self.warm_up,
            is_request_load,
            self.listeners,
        )
        .with(part, remote)
    }
}
