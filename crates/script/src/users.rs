//! Creates virtual users from a program, for the engine.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use log::Level;
use plimsoll_engine::{
    AbortReason, Ending, InitError, Iteration, ScenarioContext, Step, Stop, Tally, UserFactory,
    UserId, UserMemory, VirtualUser, Worker,
};
use plimsoll_k6::user::{Phase, RunOptions, User, Work};
use plimsoll_quickjs::{Persistent, Thrown, Value};

use crate::exported::{self, NoJson};
use crate::failure::ScriptError;
use crate::image;
use crate::instance::{Argument, Instance, Outcome};
use crate::loaded::Program;

/// Creates a program's virtual users, and runs its setup and teardown.
pub struct ScriptUsers {
    program: Program,
    /// Whether the init code runs once for all users of a worker, where possible.
    begins_with_image: bool,
}

thread_local! {
    /// The HTTP state that this worker's users share, with the settings that it was created for.
    static HTTP: RefCell<Option<(Arc<plimsoll_http::Settings>, Rc<plimsoll_http::Shared>)>> = const { RefCell::new(None) };
}

/// The HTTP state that this worker's users share.
fn shared_http(settings: &Arc<plimsoll_http::Settings>) -> Rc<plimsoll_http::Shared> {
    HTTP.with_borrow_mut(|known| match known {
        Some((same, shared)) if Arc::ptr_eq(same, settings) => Rc::clone(shared),
        _ => {
            let shared = plimsoll_http::Shared::new(Arc::clone(settings));
            *known = Some((Arc::clone(settings), Rc::clone(&shared)));
            shared
        }
    })
}

impl ScriptUsers {
    /// Users of `program`. Call [`Program::set_run`] first.
    pub fn new(program: Program) -> Self {
        ScriptUsers {
            program,
            begins_with_image: image::is_on(),
        }
    }

    /// Whether the init code runs once for all users of a worker where it can, whatever the default is.
    pub fn with_image(mut self, begins_with_image: bool) -> Self {
        self.begins_with_image = begins_with_image;
        self
    }

    fn run(&self) -> Result<&Arc<RunOptions>, AbortReason> {
        let run = self.program.common.run.get();
        run.ok_or_else(|| {
            AbortReason::Machine("users were created before the run was known".to_owned())
        })
    }

    /// Runs the init code of a user. Outside of iterations, `once` contains the signal that stops it.
    async fn start(
        &self,
        id: UserId,
        worker: &Worker,
        once: Option<(Phase, &Stop)>,
    ) -> Result<Instance, AbortReason> {
        let work = Work {
            recorder: Rc::clone(&worker.recorder),
            run: Arc::clone(&worker.run),
            client: plimsoll_http::Client::new(
                shared_http(&self.run()?.client),
                u64::from(id.0.max(1)),
            ),
        };
        let user = User::new(id, Arc::clone(&self.program.common), Some(work));
        let outlives_abort = matches!(once, Some((Phase::Teardown, _)));
        user.outlives_abort.set(outlives_abort);
        let origin = match self.begins_with_image && once.is_none() {
            true => image::of(&self.program, &worker.run).await,
            false => None,
        };
        let started = match origin {
            Some(origin) => origin.start(user).await,
            None => Instance::start(user, once.map(|(_, stop)| stop)).await,
        };
        started.map_err(|error| match error {
            ScriptError::Unreadable(text) | ScriptError::Exception(text) => {
                AbortReason::ScriptException(text)
            }
            ScriptError::Unusable(text) => AbortReason::Failed(text),
            ScriptError::Aborted(reason) => reason,
        })
    }

    /// Runs `setup`, if the script exports it, and keeps its result.
    async fn run_setup(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        if !self.program.has("setup") {
            return Ok(());
        }
        let setup = (Phase::Setup, "setup", self.run()?.setup_timeout);
        match self.run_once(setup, worker, stop, read_setup).await? {
            Some(Ok(data)) => self.program.common.setup_data.set(data.map(Arc::from)),
            Some(Err(reason)) => return Err(AbortReason::Failed(reason)),
            None => {}
        }
        Ok(())
    }

    /// Runs `teardown`, if the script exports it.
    async fn run_teardown(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        if !self.program.has("teardown") {
            return Ok(());
        }
        let teardown = (Phase::Teardown, "teardown", self.run()?.teardown_timeout);
        self.run_once(teardown, worker, stop, |_| Ok(())).await?;
        Ok(())
    }

    /// Runs `setup` or `teardown` with its own user. `None` if it was interrupted.
    async fn run_once<T: 'static>(
        &self,
        (phase, name, limit): (Phase, &str, Duration),
        worker: &Worker,
        stop: &Stop,
        read: impl for<'c> FnOnce(Value<'c>) -> Result<T, Thrown> + 'static,
    ) -> Result<Option<T>, AbortReason> {
        let instance = self.start(UserId(0), worker, Some((phase, stop))).await?;
        let Some(function) = instance.function(name) else {
            instance.free().await;
            return Ok(None);
        };
        let argument = match (phase, self.program.common.setup_data.text()) {
            (Phase::Teardown, Some(data)) => Argument::Json(data),
            _ => Argument::Undefined,
        };
        let run = self.run()?;
        let call = (phase, name, limit);
        let ended = instance
            .call_outside(call, function, argument, run, stop, read)
            .await;
        instance.free().await;
        ended
    }
}

/// Waits for `work`, but no longer than `limit`, then drops it.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut alarm = pin!(plimsoll_engine::timer::sleep(limit));
    poll_fn(|task| match work.as_mut().poll(task) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => alarm.as_mut().poll(task).map(|()| None),
    })
    .await
}

impl UserFactory for ScriptUsers {
    type User = ScriptUser;

    async fn create(&self, id: UserId, worker: &Worker) -> Result<ScriptUser, InitError> {
        let instance = self.start(id, worker, None).await.map_err(|reason| {
            InitError(match reason {
                AbortReason::ScriptException(text) => AbortReason::UserException(id, text),
                other => other,
            })
        })?;
        Ok(ScriptUser {
            instance,
            function: None,
        })
    }

    fn memory(&self, users: &mut dyn Iterator<Item = &ScriptUser>) -> Option<UserMemory> {
        let mut memory = UserMemory {
            images: image::size(&self.program),
            stacks: plimsoll_quickjs::resident_stacks() as u64,
            ..UserMemory::default()
        };
        for user in users {
            memory += user.instance.memory();
        }
        Some(memory)
    }

    async fn set_up(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        match self.run()?.no_setup {
            true => Ok(()),
            false => self.run_setup(worker, stop).await,
        }
    }

    fn has_user_steps(&self) -> bool {
        self.run().is_ok_and(|run| run.user_steps)
            && [BEGIN, FINISH].iter().any(|name| self.program.has(name))
    }

    async fn tear_down(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        match self.run()?.no_teardown {
            true => Ok(()),
            false => self.run_teardown(worker, stop).await,
        }
    }

    async fn call(&self, step: Step, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        match step {
            Step::SetUp => self.run_setup(worker, stop).await?,
            Step::TearDown => self.run_teardown(worker, stop).await?,
        }
        match stop.is_stopped() {
            true => Err(AbortReason::Failed("the run ended before that".to_owned())),
            false => Ok(()),
        }
    }
}

/// The result of `setup` as JSON. `None` if it returned nothing.
fn read_setup(value: Value<'_>) -> Result<Result<Option<String>, String>, Thrown> {
    if value.is_undefined() {
        return Ok(Ok(None));
    }
    match exported::to_json(&value) {
        Ok(json) => Ok(Ok(Some(json))),
        Err(NoJson::Thrown(thrown)) => Err(thrown),
        Err(NoJson::Holds(what)) => Ok(Err(format!(
            "setup() returned {what}, which cannot be converted to JSON"
        ))),
    }
}

/// The function that each user calls before its first iteration.
const BEGIN: &str = "setupVU";
/// The function that each user calls after its last iteration.
const FINISH: &str = "teardownVU";

/// A virtual user that runs a script.
pub struct ScriptUser {
    instance: Instance,
    /// The function of the current scenario.
    function: Option<Rc<Persistent>>,
}

impl ScriptUser {
    /// Calls one of these two functions, if the script exports it.
    async fn step(&self, phase: Phase, name: &str, stop: &Stop) -> Result<(), AbortReason> {
        let user = &self.instance.user;
        let (Some(function), Some(run)) = (self.instance.function(name), user.run.clone()) else {
            return Ok(());
        };
        let (limit, is_left_out) = match phase {
            Phase::Teardown => (run.teardown_timeout, run.no_teardown),
            _ => (run.setup_timeout, run.no_setup),
        };
        if is_left_out {
            return Ok(());
        }
        let call = (phase, name, limit);
        let called =
            self.instance
                .call_outside(call, function, Argument::Setup, &run, stop, |_| Ok(()));
        called.await.map(|_| ())
    }
}

impl VirtualUser for ScriptUser {
    async fn begin(&mut self, stop: &Stop) -> Result<(), AbortReason> {
        self.step(Phase::Setup, BEGIN, stop).await
    }

    async fn finish(&mut self, stop: &Stop) -> Result<(), AbortReason> {
        *self.instance.user.scenario.borrow_mut() = None;
        self.instance.user.outlives_abort.set(true);
        self.step(Phase::Teardown, FINISH, stop).await
    }

    fn activate(&mut self, scenario: &Rc<ScenarioContext>) {
        let user = &self.instance.user;
        let definition = &scenario.state.scenario;
        user.tags.reset(&scenario.tag_map);
        *user.env_changes.borrow_mut() = definition
            .env
            .iter()
            .map(|(name, value)| (name.clone(), Some(value.clone())))
            .collect();
        *user.scenario.borrow_mut() = Some(Rc::clone(scenario));
        *user.tally.borrow_mut() = Tally::of(scenario);
        self.function = self.instance.function(&definition.exec);
    }

    async fn iterate(&mut self, iteration: &Iteration) -> Ending {
        // The plan has checked that the script exports every scenario's function.
        let Some(function) = self.function.clone() else {
            return Ending::Abort(AbortReason::ScriptException(
                "the scenario's function is not exported".to_owned(),
            ));
        };
        let user = &self.instance.user;
        *user.iteration.borrow_mut() = Some(iteration.clone());
        user.tags.leave_all_groups();
        let Some(run) = user.run.clone() else {
            return Ending::Abort(AbortReason::Machine(
                "a user runs before the run is known".to_owned(),
            ));
        };
        if !run.keep_cookies {
            user.cookies.reset();
        }
        if run.tag_user {
            user.tags.set_metadata("vu", user.id.to_string());
        }
        if run.tag_iteration {
            user.tags
                .set_metadata("iter", iteration.in_user.to_string());
        }
        self.instance.free_left_over().await;
        self.instance.set_iteration(iteration.in_user);
        let call = self.instance.call(
            Phase::Iteration,
            function,
            Argument::Setup,
            Some(&iteration.stop),
            |_| Ok(()),
        );
        let outcome = call.await;
        user.tags.leave_all_groups();
        let ended = self.instance.record_traffic();
        user.tally.borrow().iteration(iteration.started, ended);
        if run.fresh_connections
            && let Some(work) = user.work()
        {
            work.client.close_idle();
        }
        let mut ending = Ending::Completed;
        match outcome {
            Outcome::Interrupted => return Ending::Interrupted,
            // An iteration that aborts the run still counts as completed.
            Outcome::Aborted(reason) => ending = Ending::Abort(reason),
            Outcome::Threw(text) => {
                log_exception(&self.instance, &text, &[("source", "stacktrace")]);
                ending = Ending::Threw;
            }
            Outcome::Rejected(text) => {
                log_exception(&self.instance, &text, &[]);
                ending = Ending::Threw;
            }
            Outcome::Returned(()) => {}
        }
        if let (Some(work), Some(tags)) = (user.work(), user.base_tags()) {
            work.recorder.iteration(
                ended.since(iteration.started),
                iteration.scheduled,
                &tags,
                ended,
            );
        }
        ending
    }
}

impl Instance {
    /// Calls an exported function outside of iterations, with its phase, its name and a time limit. `None` if the run
    /// was stopped meanwhile.
    async fn call_outside<T: 'static>(
        &self,
        (phase, name, limit): (Phase, &str, Duration),
        function: Rc<Persistent>,
        argument: Argument,
        run: &RunOptions,
        stop: &Stop,
        read: impl for<'c> FnOnce(Value<'c>) -> Result<T, Thrown> + 'static,
    ) -> Result<Option<T>, AbortReason> {
        self.user.tags.reset(&run.tags);
        self.user.tags.set_group(&format!("::{name}"));
        stop.set_deadline(plimsoll_clock::now() + limit);
        let call = self.call(phase, function, argument, Some(stop), read);
        let outcome = within(limit, call).await;
        self.record_traffic();
        let took_too_long = || {
            let limit = plimsoll_units::duration::format(limit);
            let text = format!("{name}() execution timed out after {limit}");
            if phase == Phase::Setup {
                AbortReason::SetupTimeout(text)
            } else {
                AbortReason::TeardownTimeout(text)
            }
        };
        match outcome {
            Some(Outcome::Returned(value)) => Ok(Some(value)),
            Some(Outcome::Threw(text)) => Err(AbortReason::ScriptException(text)),
            Some(Outcome::Rejected(text)) => Err(AbortReason::Failed(text)),
            Some(Outcome::Aborted(reason)) => Err(reason),
            Some(Outcome::Interrupted) if stop.is_stopped() => Ok(None),
            Some(Outcome::Interrupted) | None => Err(took_too_long()),
        }
    }

    /// Records the bytes that the user's sockets have transferred since the last call. Returns the current time.
    fn record_traffic(&self) -> plimsoll_units::Moment {
        let now = plimsoll_clock::now();
        if let (Some(work), Some(tags)) = (self.user.work(), self.user.base_tags()) {
            let traffic = work.client.traffic();
            work.recorder
                .traffic(traffic.sent, traffic.received, &tags, now, now);
        }
        now
    }
}

/// Logs an exception that ended an iteration, with its scenario.
fn log_exception(instance: &Instance, text: &str, more: &[(&str, &str)]) {
    let scenario = instance.user.scenario.borrow();
    let definition = scenario.as_ref().map(|scenario| &scenario.state.scenario);
    let executor = definition.map_or("", |scenario| scenario.executor.kind().name());
    let scenario = definition.map_or("", |scenario| scenario.name.as_str());
    let mut fields = vec![("executor", executor), ("scenario", scenario)];
    fields.extend(more);
    instance.user.log_with(Level::Error, text, &fields);
}
