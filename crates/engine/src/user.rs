//! The traits that connect the engine to a kind of user: a user, and the factory that creates it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_samples::{BaseTags, Recorder, Share, TagMap};
use plimsoll_units::Moment;

use crate::{AbortReason, RunState, ScenarioState, Stop, UserId, UserMemory};

/// Creates virtual users, and runs the steps that happen once before and after the scenarios.
#[allow(async_fn_in_trait)] // Users never leave their worker's thread.
pub trait UserFactory: Send + Sync + 'static {
    type User: VirtualUser;

    /// Creates one user: runs its init code. Called on the worker's own thread.
    ///
    /// # Errors
    /// If the init code fails; the run then does not start.
    async fn create(&self, id: UserId, worker: &Worker) -> Result<Self::User, InitError>;

    /// Number of consecutive users that are placed on the same worker, so they can share data that
    /// never leaves a thread.
    fn together(&self) -> u32 {
        1
    }

    /// Whether its users have their own steps before their first and after their last iteration.
    fn has_user_steps(&self) -> bool {
        false
    }

    /// Called once on each worker, when its planned users exist and before anything is measured.
    async fn ready(&self, worker: &Worker) {
        let _ = worker;
    }

    /// The memory of a worker's users. Called once on each worker, when everything is measured and before users are freed.
    fn memory(&self, users: &mut dyn Iterator<Item = &Self::User>) -> Option<UserMemory> {
        let _ = users;
        None
    }

    /// Called once, on one worker, when all planned users exist and before any scenario starts.
    ///
    /// # Errors
    /// The reason why the run is aborted.
    async fn set_up(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        let _ = (worker, stop);
        Ok(())
    }

    /// Called once, on one worker, when all scenarios have ended, even if the run was aborted. Not
    /// called if setup failed.
    ///
    /// # Errors
    /// The reason why the run counts as aborted.
    async fn tear_down(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        let _ = (worker, stop);
        Ok(())
    }

    /// Called on request, on one worker, in addition to the calls above.
    ///
    /// # Errors
    /// Why the step failed. The run continues.
    async fn call(&self, step: Step, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        let _ = (step, worker, stop);
        Ok(())
    }
}

/// A step that a run performs before or after its scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    SetUp,
    TearDown,
}

/// One simulated client: a sequence of iterations that never leaves its worker's thread.
#[allow(async_fn_in_trait)]
pub trait VirtualUser: 'static {
    /// Assigns this user to a scenario. Its next iterations belong to that scenario.
    fn activate(&mut self, scenario: &Rc<ScenarioContext>);

    /// Runs one iteration. Resolves when everything that it started is done, or soon after
    /// `iteration.stop` fired. The user records `iterations` and `iteration_duration` itself, because
    /// it knows the tags.
    async fn iterate(&mut self, iteration: &Iteration) -> Ending;

    /// Called before this user's first iteration: for planned users after setup and before any scenario starts.
    ///
    /// # Errors
    /// The reason why the run is aborted.
    async fn begin(&mut self, stop: &Stop) -> Result<(), AbortReason> {
        let _ = stop;
        Ok(())
    }

    /// Called after this user's last iteration, when all scenarios have ended and before teardown.
    ///
    /// # Errors
    /// The reason why the run counts as aborted.
    async fn finish(&mut self, stop: &Stop) -> Result<(), AbortReason> {
        let _ = stop;
        Ok(())
    }
}

/// The parts of a worker that its users may access.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The worker's index, from 0.
    pub index: usize,
    /// The recorder of this worker's users.
    pub recorder: Rc<Recorder>,
    /// The whole run's counters.
    pub run: Arc<RunState>,
}

/// The scenario of a user.
#[derive(Debug)]
pub struct ScenarioContext {
    /// Its index in the plan.
    pub index: usize,
    /// Its definition and shared counters.
    pub state: Arc<ScenarioState>,
    /// The tags of all samples of the scenario, on this worker.
    pub tags: BaseTags,
    /// The same tags, for users that change theirs.
    pub tag_map: TagMap,
    /// This worker's share of the scenario's fixed amount of work.
    pub(crate) share: RefCell<Share>,
}

/// The numbers, times and stop signal of one iteration.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// The number of this iteration among all iterations of its user, counted from 0.
    pub in_user: u64,
    /// The number of this iteration among those of its user in this scenario, counted from 0.
    pub in_scenario: u64,
    /// The number of this iteration among those of the scenario in this process, counted from 0.
    pub in_instance: u64,
    /// The number of this iteration among those of the scenario in the whole run, counted from 0.
    pub in_test: u64,
    /// The scheduled start in an open model; `None` in a closed model.
    pub scheduled: Option<Moment>,
    /// The actual start.
    pub started: Moment,
    pub stop: Stop,
}

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It ended normally.
    Completed,
    /// A script threw an exception. Schedules and metrics count this iteration as complete.
    Threw,
    /// It was interrupted by its stop signal.
    Interrupted,
    /// It requests the end of the whole run.
    Abort(AbortReason),
}

/// A user's init code failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitError(pub AbortReason);
