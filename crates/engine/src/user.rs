use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_samples::{BaseTags, Recorder, TagMap};
use plimsoll_units::Moment;

use crate::{AbortReason, RunState, ScenarioState, Stop};

/// Makes virtual users, and does what a run does once before and after them.
#[allow(async_fn_in_trait)] // Users never leave their worker's thread.
pub trait UserFactory: Send + Sync + 'static {
    /// The users it makes.
    type User: VirtualUser;

    /// Makes one user: runs its init code. Called on the worker's own thread.
    ///
    /// # Errors
    /// When the init code fails; the run then does not start.
    async fn create(&self, id: UserId, worker: &Worker) -> Result<Self::User, InitError>;

    /// How many users whose numbers follow each other live on one worker, so
    /// that they can share what never leaves a thread.
    fn together(&self) -> u32 {
        1
    }

    /// Once on each worker, when its planned users are there and before anything is measured.
    async fn ready(&self, worker: &Worker) {
        let _ = worker;
    }

    /// Once, on one worker, when every planned user is there and before any
    /// scenario starts.
    ///
    /// # Errors
    /// The reason for which the run then ends.
    async fn set_up(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        let _ = (worker, stop);
        Ok(())
    }

    /// Once, on one worker, when every scenario is over, also when the run was
    /// aborted; not when set-up failed.
    ///
    /// # Errors
    /// The reason for which the run is called aborted.
    async fn tear_down(&self, worker: &Worker, stop: &Stop) -> Result<(), AbortReason> {
        let _ = (worker, stop);
        Ok(())
    }
}

/// One simulated client: a loop of iterations, one at a time, that never
/// leaves its worker's thread.
#[allow(async_fn_in_trait)]
pub trait VirtualUser: 'static {
    /// A scenario takes this user. Its next iterations are that scenario's.
    fn activate(&mut self, scenario: &Rc<ScenarioContext>);

    /// One iteration. Resolves when all that it set going is done, or soon
    /// after `iteration.stop` was given. Recording `iterations` and
    /// `iteration_duration` is the user's business, for it knows the tags.
    async fn iterate(&mut self, iteration: &Iteration) -> Ending;
}

/// A virtual user's number, from 1, unique in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserId(pub u32);

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a user may know of the worker it lives on.
#[derive(Clone, Debug)]
pub struct Worker {
    /// From 0.
    pub index: usize,
    /// Where this worker's users record what they measured.
    pub recorder: Rc<Recorder>,
    /// The whole run's counters.
    pub run: Arc<RunState>,
}

/// The scenario that a user works for.
#[derive(Debug)]
pub struct ScenarioContext {
    /// Its place in the plan.
    pub index: usize,
    /// Its definition and shared counters.
    pub state: Arc<ScenarioState>,
    /// The tags that every sample of the scenario carries, on this worker.
    pub tags: BaseTags,
    /// The same, for users who change theirs.
    pub tag_map: TagMap,
}

/// One iteration's place in the run.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// Which of this user's iterations it is, over all scenarios, from 0.
    pub in_user: u64,
    /// Which of this user's iterations in this scenario it is, from 0.
    pub in_scenario: u64,
    /// Which iteration of the scenario it is in this process, from 0.
    pub in_instance: u64,
    /// Which iteration of the scenario it is in the whole run, from 0.
    pub in_test: u64,
    /// When an open model's schedule wanted it to start. A closed model has
    /// no such moment.
    pub scheduled: Option<Moment>,
    /// When it did start.
    pub started: Moment,
    /// Asks for its end.
    pub stop: Stop,
}

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It came to its end.
    Completed,
    /// A script threw. For schedules and figures this iteration is complete too.
    Threw,
    /// It was cut off by its stop signal.
    Interrupted,
    /// It asks for the end of the whole run.
    Abort(AbortReason),
}

/// A user's init code failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitError(pub AbortReason);
