//! One worker's share of a scenario, with one file per kind of executor.

mod arrival;
mod closed;
mod external;
mod ramping;

use std::cell::RefCell;
use std::rc::Rc;

use plimsoll_plan::Executor;
use plimsoll_units::Moment;
use tokio::task::JoinHandle;

use crate::seat::{ActiveUser, Seats};
use crate::timer::sleep_until;
use crate::{AbortReason, InitError, Notice, ScenarioContext, Stop, UserFactory};

pub(crate) use arrival::Handovers;

/// The inputs for running one worker's share of one scenario.
pub(crate) struct Share<F: UserFactory> {
    pub seats: Rc<Seats<F>>,
    pub scenario: Rc<ScenarioContext>,
    /// This worker's planned users: each one's index within the scenario and its slot in the plan.
    pub users: Vec<(u32, u32)>,
    /// Number of the scenario's planned users on all workers.
    pub planned: u32,
    /// When the scenario starts.
    pub start: Moment,
    /// Stops the share immediately.
    pub stop: Stop,
    /// Number of workers that have a share.
    pub workers: usize,
    /// The index of this worker among them, from 0.
    pub worker: usize,
    /// Passes iterations to other workers, for open models.
    pub handovers: Handovers,
    /// Reports a notice to the person who watches the run.
    pub notify: Rc<dyn Fn(Notice)>,
}

/// Runs the share until its end, including the graceful stop.
pub(crate) async fn run<F: UserFactory>(share: Rc<Share<F>>) {
    share.stop.adopt_task().await;
    let state = std::sync::Arc::clone(&share.scenario.state);
    if share.stop.race(sleep_until(share.start)).await.is_ok() {
        state.start(share.start);
        let run = std::sync::Arc::clone(&share.seats.worker.run);
        let ended = match &state.scenario.executor {
            Executor::SharedIterations { .. }
            | Executor::PerUserIterations { .. }
            | Executor::ConstantUsers { .. } => closed::run(&share).await,
            Executor::ExternallyControlled { .. } => external::run(&share).await,
            Executor::RampingUsers { .. } => ramping::run(&share).await,
            Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => {
                arrival::run(&share).await
            }
        };
        if let Err(InitError(reason)) = ended {
            run.abort(reason);
        }
        if share.stop.is_stopped() {
            state.mark_interrupted();
        }
    } else {
        state.mark_interrupted();
    }
    // Iterations that did not start because of an abort do not count as dropped.
    if state.finish_share(share.workers)
        && share.seats.worker.run.aborted().is_none()
        && let Some(dropped) = state.not_started()
    {
        state.iterations_dropped(dropped);
        let (now, tags) = (plimsoll_clock::now(), &share.scenario.tags);
        let recorder = &share.seats.worker.recorder;
        recorder.dropped(dropped, tags, now, now);
    }
}

impl<F: UserFactory> Share<F> {
    fn regular_end(&self) -> Moment {
        self.start + self.scenario.state.regular_duration()
    }

    fn hard_end(&self) -> Moment {
        self.regular_end() + self.scenario.state.scenario.graceful_stop
    }

    /// Whether this worker does the tasks that one worker does on behalf of all workers.
    fn leads(&self) -> bool {
        self.worker == 0
    }

    async fn take(&self, slot: u32) -> Result<ActiveUser<F>, InitError> {
        self.seats.take_planned(slot, &self.scenario).await
    }
}

/// The tasks of a share's users, and the signals that stop them.
#[derive(Default)]
struct UserTasks {
    tasks: RefCell<Vec<JoinHandle<()>>>,
    stops: RefCell<Vec<Stop>>,
}

impl UserTasks {
    fn spawn<F: UserFactory>(
        &self,
        user: ActiveUser<F>,
        work: impl AsyncFnOnce(ActiveUser<F>) + 'static,
    ) {
        let stop = user.stop.clone();
        self.stops.borrow_mut().push(stop.clone());
        self.tasks
            .borrow_mut()
            .push(tokio::task::spawn_local(async move {
                stop.adopt_task().await;
                work(user).await;
            }));
    }

    /// Waits until every user has ended. Interrupts the users at `hard_end`, or when `stop` fires.
    async fn finish(&self, hard_end: Moment, stop: &Stop) -> Result<(), InitError> {
        for user in self.stops.borrow().iter() {
            user.set_deadline(hard_end);
        }
        let mut tasks = std::mem::take(&mut *self.tasks.borrow_mut()).into_iter();
        let mut limit = std::pin::pin!(stop.race(sleep_until(hard_end)));
        let mut over = false;
        for task in tasks.by_ref() {
            let mut task = std::pin::pin!(task);
            loop {
                let joined = if over {
                    Some(task.as_mut().await)
                } else {
                    std::future::poll_fn(|context| {
                        use std::future::Future;
                        use std::task::Poll;
                        if let Poll::Ready(joined) = task.as_mut().poll(context) {
                            return Poll::Ready(Some(joined));
                        }
                        limit.as_mut().poll(context).map(|_| None)
                    })
                    .await
                };
                match joined {
                    Some(Ok(())) => break,
                    Some(Err(panicked)) => {
                        return Err(InitError(AbortReason::Machine(format!(
                            "a virtual user's task panicked ({panicked}); please report this bug"
                        ))));
                    }
                    None => {
                        over = true;
                        self.stops.borrow().iter().for_each(Stop::trip);
                    }
                }
            }
        }
        Ok(())
    }
}
