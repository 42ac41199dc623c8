//! Virtual users for the engine.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use engine::timer::Sleep;
use engine::{
    AbortReason, Ending, InitError, Iteration, ScenarioContext, Stop, UserFactory, UserId,
    VirtualUser, Worker,
};
use http::Shared;
use samples::TagMap;

use crate::failure::ScriptError;
use crate::instance::{Instance, Outcome, call_to_end, exported, watch_over};
use crate::loaded::Program;
use crate::names;
use crate::pure::logline::Level;
use crate::quickjs::Persistent;
use crate::user::{Common, Phase, User, Work};

/// Makes virtual users of a script.
pub struct ScriptUsers {
    program: Program,
}

/// A user that runs an exported function, over and over.
pub struct ScriptUser {
    /// Set-up's data, parsed once for this user.
    data: Option<Rc<Persistent>>,
    functions: HashMap<String, Rc<Persistent>>,
    function: Option<Rc<Persistent>>,
    instance: Instance,
    scenario: Option<Rc<ScenarioContext>>,
    iterated: Cell<bool>,
}

thread_local! {
    /// What this worker's clients share. A thread is one worker's for its
    /// whole life.
    static SHARED: RefCell<Option<Rc<Shared>>> = const { RefCell::new(None) };
}

impl ScriptUsers {
    /// Users of `program`, which must have been told what holds for the run.
    pub fn new(program: Program) -> Self {
        ScriptUsers { program }
    }

    async fn instance(&self, id: UserId, worker: &Worker) -> Result<Instance, ScriptError> {
        let common = Arc::clone(&self.program.common);
        let Some(run) = common.run.get() else {
            return Err(ScriptError::Exception("users were asked for before the run was known".to_owned()));
        };
        let shared = SHARED.with_borrow_mut(|shared| {
            Rc::clone(shared.get_or_insert_with(|| Shared::new(Arc::clone(&run.client))))
        });
        let work = Work {
            recorder: Rc::clone(&worker.recorder),
            run: Arc::clone(&worker.run),
            client: Rc::new(http::Client::new(shared, u64::from(id.0))),
        };
        let (http, options) = (run.http, run.options.clone());
        let user = Rc::new(User::new(id, common, Some(work)));
        user.http.options.set(http);
        let instance = Instance::start(user).await?;
        watch_over(&instance.runtime, &instance.user);
        write_options_back(&instance, &options);
        Ok(instance)
    }

    /// Runs `setup` or `teardown` in an instance of its own.
    async fn run_once(
        &self,
        function: &'static str,
        phase: Phase,
        limit: std::time::Duration,
        worker: &Worker,
        stop: &Stop,
    ) -> Result<Option<String>, Once> {
        let instance = self.instance(UserId(0), worker).await.map_err(Once::Failed)?;
        let user = Rc::clone(&instance.user);
        let run_tags = user.common.run.get().map(|run| run.tags.clone()).unwrap_or_default();
        user.tags.reset(&run_tags);
        user.tags.set_group(&format!("::{function}"));
        user.set_phase(phase);
        let namespace = instance.namespace();
        let data = match phase {
            Phase::Teardown => user.common.setup_data.get().cloned().flatten(),
            _ => None,
        };
        let work = instance.run(stop, move |context| {
            let function = exported(&namespace.restore(context), function)?;
            let data = match &data {
                Some(text) => context.parse_json(text, "setup data")?,
                None => context.undefined(),
            };
            call_to_end(context, &function, &[&data])?.to_json()
        });
        let outcome = within(engine::timer::sleep(limit), work, stop).await;
        record_traffic(&user);
        match outcome {
            Some(Outcome::Returned(json)) => Ok(json),
            Some(Outcome::Threw(text)) => Err(Once::Failed(ScriptError::Exception(text))),
            Some(Outcome::Aborted(reason)) => Err(Once::Failed(ScriptError::Aborted(reason))),
            Some(Outcome::Interrupted) | None if worker.run.aborted().is_none() => Err(Once::TooLate(
                format!("{function}() execution timed out after {} seconds", limit.as_secs()),
            )),
            Some(Outcome::Interrupted) | None => Ok(None),
        }
    }
}

/// Why set-up or tear-down failed.
enum Once {
    Failed(ScriptError),
    TooLate(String),
}

impl UserFactory for ScriptUsers {
    type User = ScriptUser;

    async fn create(&self, id: UserId, worker: &Worker) -> Result<ScriptUser, InitError> {
        let instance = self.instance(id, worker).await.map_err(|error| {
            InitError(match error {
                ScriptError::Exception(text) => AbortReason::ScriptException(text),
                ScriptError::Aborted(reason) => reason,
            })
        })?;
        Ok(ScriptUser {
            instance,
            data: None,
            functions: HashMap::new(),
            function: None,
            scenario: None,
            iterated: Cell::new(false),
        })
    }

    async fn set_up(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        let common = &self.program.common;
        let Some(run) = common.run.get() else { return Ok(()) };
        let mut data = None;
        if !run.no_setup && self.program.has("setup") {
            data = match self.run_once("setup", Phase::Setup, run.setup_timeout, worker, stop).await {
                Ok(data) => data,
                Err(Once::TooLate(text)) => return Err(AbortReason::SetupTimeout(text)),
                Err(Once::Failed(ScriptError::Exception(text))) => {
                    return Err(AbortReason::ScriptException(text));
                }
                Err(Once::Failed(ScriptError::Aborted(reason))) => return Err(reason),
            };
        }
        let _ = common.setup_data.set(data);
        Ok(())
    }

    async fn tear_down(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        let Some(run) = self.program.common.run.get() else { return Ok(()) };
        if run.no_teardown || !self.program.has("teardown") {
            return Ok(());
        }
        match self.run_once("teardown", Phase::Teardown, run.teardown_timeout, worker, stop).await {
            Ok(_) => Ok(()),
            Err(Once::TooLate(text)) => Err(AbortReason::TeardownTimeout(text)),
            Err(Once::Failed(ScriptError::Exception(text))) => Err(AbortReason::ScriptException(text)),
            Err(Once::Failed(ScriptError::Aborted(reason))) => Err(reason),
        }
    }
}

impl VirtualUser for ScriptUser {
    fn activate(&mut self, scenario: &Rc<ScenarioContext>) {
        let user = &self.instance.user;
        let definition = &scenario.state.scenario;
        user.tags.reset(&scenario.tag_map);
        *user.scenario.borrow_mut() = Some(Rc::clone(scenario));
        for (name, value) in &definition.env {
            user.env_changes.borrow_mut().insert(name.clone(), Some(value.clone()));
        }
        self.scenario = Some(Rc::clone(scenario));
        let exec = definition.exec.as_str();
        self.function = Some(match self.functions.get(exec) {
            Some(function) => Rc::clone(function),
            None => {
                let namespace = self.instance.namespace();
                let function = self.instance.runtime.enter(|context| {
                    exported(&namespace.restore(context), exec).map(|function| Persistent::new(&function)).ok()
                });
                match function {
                    Some(function) => {
                        let function = Rc::new(function);
                        self.functions.insert(exec.to_owned(), Rc::clone(&function));
                        function
                    }
                    None => return,
                }
            }
        });
    }

    async fn iterate(&mut self, iteration: &Iteration) -> Ending {
        let user = Rc::clone(&self.instance.user);
        let Some(function) = self.function.clone() else {
            return Ending::Abort(AbortReason::ScriptException("the scenario's function is not there".to_owned()));
        };
        user.set_phase(Phase::Iteration);
        *user.iteration.borrow_mut() = Some(iteration.clone());
        let run = user.common.run.get();
        if self.iterated.replace(true)
            && let Some(run) = run
        {
            if !run.keep_cookies {
                user.cookies.reset();
            }
            if run.fresh_connections
                && let Some(work) = user.work()
            {
                work.client.close_idle();
            }
        }
        if let Some(run) = run {
            if run.tag_iteration {
                user.tags.set_metadata("iter", iteration.in_user.to_string());
            }
            if run.tag_user {
                user.tags.set_metadata("vu", user.id.to_string());
            }
        }
        let data = self.data();
        let number = iteration.in_user;
        let outcome = self
            .instance
            .run(&iteration.stop, move |context| {
                context.global().set(names::ITER, context.integer(number))?;
                let function = function.restore(context);
                let data = match &data {
                    Some(data) => data.restore(context),
                    None => context.undefined(),
                };
                call_to_end(context, &function, &[&data]).map(drop)
            })
            .await;
        let ending = match outcome {
            Outcome::Returned(()) => Ending::Completed,
            Outcome::Threw(text) => {
                self.log_exception(&text);
                Ending::Completed
            }
            Outcome::Interrupted => Ending::Interrupted,
            Outcome::Aborted(reason) => Ending::Abort(reason),
        };
        user.tags.leave_all_groups();
        record_traffic(&user);
        if ending == Ending::Completed
            && let (Some(work), Some(base)) = (user.work(), user.base_tags())
        {
            let done = clock::now();
            work.recorder.iteration(done.since(iteration.started), &base, done);
        }
        ending
    }
}

impl ScriptUser {
    /// Set-up's data, which this user's iterations share and may change.
    fn data(&mut self) -> Option<Rc<Persistent>> {
        if let Some(data) = &self.data {
            return Some(Rc::clone(data));
        }
        let text = self.instance.user.common.setup_data.get()?.as_deref()?;
        let data = self.instance.runtime.enter(|context| {
            context.parse_json(text, "setup data").map(|data| Persistent::new(&data)).ok()
        })?;
        let data = Rc::new(data);
        self.data = Some(Rc::clone(&data));
        Some(data)
    }

    fn log_exception(&self, text: &str) {
        let scenario = self.scenario.as_ref().map(|scenario| &scenario.state.scenario);
        let (name, executor) = match scenario {
            Some(scenario) => (scenario.name.as_str(), scenario.executor.kind().name()),
            None => ("", ""),
        };
        self.instance.user.log_with(
            Level::Error,
            text,
            &[("executor", executor), ("scenario", name), ("source", "stacktrace")],
        );
    }
}

/// Bytes that went over sockets since the last time, as samples.
fn record_traffic(user: &User) {
    if let (Some(work), Some(base)) = (user.work(), user.base_tags()) {
        let traffic = work.client.traffic();
        work.recorder.traffic(traffic.sent, traffic.received, &base, clock::now());
    }
}

/// The consolidated options take the place of the exported ones' keys.
fn write_options_back(instance: &Instance, options: &str) {
    let namespace = instance.namespace();
    instance.runtime.enter(|context| {
        let write = || -> Result<(), crate::quickjs::Thrown> {
            let exported = exported(&namespace.restore(context), "options")?;
            if !exported.is_object() {
                return Ok(());
            }
            let consolidated = context.parse_json(options, "options")?;
            for (name, value) in consolidated.entries()? {
                exported.set(name.as_str(), value)?;
            }
            Ok(())
        };
        if let Err(thrown) = write() {
            // Frozen options stay as they are.
            drop(context.take_exception(thrown));
        }
    });
}

/// Waits for `work`, but no longer than `limit`; then it is ended by force.
pub(crate) async fn within<T>(limit: Sleep, work: impl Future<Output = T>, stop: &Stop) -> Option<T> {
    let (mut limit, mut work) = (pin!(limit), pin!(work));
    poll_fn(|task| {
        if let Poll::Ready(value) = work.as_mut().poll(task) {
            return Poll::Ready(Some(value));
        }
        if limit.as_mut().poll(task).is_ready() {
            stop.trip();
            return match work.as_mut().poll(task) {
                Poll::Ready(_) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            };
        }
        Poll::Pending
    })
    .await
}
